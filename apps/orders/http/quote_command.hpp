#pragma once

#include "apps/orders/handlers/quotes.hpp"
#include "apps/orders/http/guarded_command.hpp"
#include "apps/orders/http/quote_json.hpp"
#include "semel/http/command_route.hpp"

#include <string>
#include <utility>

namespace orders {

[[nodiscard]] inline std::string location_of_quote(const semel::Uuid& id) { return "/api/v1/quotes/" + id.text(); }

/// What most commands on a quote answer: 200 with the quote as it is now.
[[nodiscard]] inline semel::Reply reply_with(const Quote& quote) {
    return done(json_of(quote), etag_of("quote", quote.version));
}

/// A command on a quote, from request to reply: see guarded_command.
template <class Asked, class Handle, class Tell>
[[nodiscard]] semel::http::CommandHandler quote_command(Asked asked, Handle handle, Tell reply) {
    const auto asked_of_quote = [asked = std::move(asked)](Fields& fields, const Target& target) {
        return asked(fields, SeenQuote{.id = target.id, .version = target.version});
    };
    return guarded_command("quote", asked_of_quote, std::move(handle), std::move(reply));
}

template <class Asked, class Handle>
[[nodiscard]] semel::http::CommandHandler quote_command(Asked asked, Handle handle) {
    return quote_command(std::move(asked), std::move(handle), reply_with);
}

}  // namespace orders
