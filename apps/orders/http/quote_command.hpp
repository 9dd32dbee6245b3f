#pragma once

#include "apps/orders/handlers/quotes.hpp"
#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/etag.hpp"
#include "apps/orders/http/fields.hpp"
#include "apps/orders/http/quote_json.hpp"
#include "semel/http/command_route.hpp"
#include "semel/http/problem_codes.hpp"

#include <string>
#include <utility>

namespace orders {

[[nodiscard]] inline std::string location_of_quote(const semel::Uuid& id) { return "/api/v1/quotes/" + id.text(); }

/// What most commands on a quote answer: 200 with the quote as it is now.
[[nodiscard]] inline semel::Reply reply_with(const Quote& quote) {
    return done(json_of(quote), etag_of("quote", quote.version));
}

/// A command on a quote, from request to reply. `asked(fields, seen)` reads the body, `handle(asked, work)` decides and
/// comes to a Handled<Quote>, `reply(quote)` tells of it.
template <class Asked, class Handle, class Tell>
[[nodiscard]] semel::http::CommandHandler quote_command(Asked asked, Handle handle, Tell reply) {
    return [asked = std::move(asked), handle = std::move(handle), reply = std::move(reply)](
               const semel::http::Request& request, semel::Work& work) -> semel::Result<semel::CommandDecision> {
        const auto id = id_in(request, "id");
        if (!id) return reject(id.error(), request);
        // Only now: a repeat of what was done has been answered already, whatever version its If-Match names.
        const auto version = required_version(request, "quote");
        if (!version) return reject(version.error(), request);
        Fields fields(request.body);
        const auto command = asked(fields, SeenQuote{.id = *id, .version = *version});
        if (const auto problem = fields.problem()) return reject(*problem, request);
        const auto handled = SEMEL_TRY(handle(command, work));
        if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
        return reply(std::get<Quote>(handled));
    };
}

template <class Asked, class Handle>
[[nodiscard]] semel::http::CommandHandler quote_command(Asked asked, Handle handle) {
    return quote_command(std::move(asked), std::move(handle), reply_with);
}

}  // namespace orders
