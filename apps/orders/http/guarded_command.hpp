#pragma once

#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/etag.hpp"
#include "apps/orders/http/fields.hpp"
#include "semel/http/command_route.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

namespace orders {

/// What a command is about, and what its caller has seen of it.
struct Target {
    semel::Uuid id;
    std::int64_t version = 0;
};

/// A command on something that has versions, from request to reply. `asked(fields, target)` reads the body,
/// `handle(asked, work)` decides and comes to a Handled thing, `reply(thing)` tells of it. The kind is the one that
/// If-Match names, as in `"order-version-7"`.
template <class Asked, class Handle, class Tell>
[[nodiscard]] semel::http::CommandHandler guarded_command(std::string_view kind, Asked asked, Handle handle,
                                                          Tell reply) {
    return [kind, asked = std::move(asked), handle = std::move(handle), reply = std::move(reply)](
               const semel::http::Request& request, semel::Work& work) -> semel::Result<semel::CommandDecision> {
        const auto id = id_in(request, "id");
        if (!id) return reject(id.error(), request);
        // Only now: a repeat of what was done has been answered already, whatever version its If-Match names.
        const auto version = required_version(request, kind);
        if (!version) return reject(version.error(), request);
        Fields fields(request.body);
        const auto command = asked(fields, Target{.id = *id, .version = *version});
        if (const auto problem = fields.problem()) return reject(*problem, request);
        const auto handled = SEMEL_TRY(handle(command, work));
        if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal, kind), request);
        return reply(std::get<0>(handled));
    };
}

}  // namespace orders
