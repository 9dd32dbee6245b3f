#include "apps/orders/http/async.hpp"

#include "apps/orders/http/answer.hpp"
#include "semel/command/accept.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;
using semel::Outcome;

constexpr std::string_view respond_async = "respond-async";

/// Prefer is a list; what we do not know in it is ignored, as RFC 7240 has it.
bool prefers_async(const Request& request) {
    for (std::string_view field : request.headers.all("Prefer")) {
        while (!field.empty()) {
            std::string_view item = field.substr(0, field.find(','));
            field.remove_prefix(std::min(field.size(), item.size() + 1));
            item = item.substr(0, item.find(';'));
            const auto first = item.find_first_not_of(" \t");
            if (first == std::string_view::npos) continue;
            if (semel::http::same_name(item.substr(first, item.find_last_not_of(" \t") - first + 1), respond_async))
                return true;
        }
    }
    return false;
}

Response accepted(const semel::Accepted& command) {
    const std::string status_url = "/api/v1/commands/" + command.command_id;
    Response response{.status = 202,
                      .body = nlohmann::ordered_json{{"commandId", command.command_id},
                                                     {"status", semel::name(command.state)},
                                                     {"statusUrl", status_url}}
                                  .dump()};
    response.headers.set("Content-Type", "application/json");
    response.headers.set("Location", status_url);
    response.headers.set("Preference-Applied", std::string(respond_async));
    response.headers.set("Retry-After", "1");
    return response;
}

Response hand_in(const Request& request, std::string_view operation, const AsyncContext& async,
                 const semel::http::CommandRoutes& commands) {
    const auto command = semel::http::command_of(request, operation);
    if (!command) return problem_response(command.error(), request);
    const auto outcome = semel::accept(async.executor, *command, semel::bytes_of(request.body));
    if (!outcome.committed()) {
        const Outcome<semel::Answer> refused = outcome.unknown()
                                                   ? Outcome<semel::Answer>(semel::Unknown{outcome.error()})
                                                   : Outcome<semel::Answer>(semel::NotCommitted{outcome.error()});
        return problem_response(commands.problem_of(refused), request);
    }
    const semel::Accepted& done = outcome.value();
    if (semel::finished(done.state)) {
        commands.replayed(command->identity);
        return semel::http::response_of(done.reply, true);
    }
    if (!done.duplicate) async.worker.notify();
    return accepted(done);
}

}  // namespace

semel::http::Route with_async(semel::http::Route route, std::string_view operation, CheckRequest check,
                              const AsyncContext& async, const semel::http::CommandRoutes& commands) {
    route.handle = [waiting = std::move(route.handle), operation = std::string(operation), check = std::move(check),
                    async, commands](Request& request) -> Response {
        if (!prefers_async(request)) return waiting(request);
        if (const auto problem = check(request)) return problem_response(*problem, request);
        return hand_in(request, operation, async, commands);
    };
    return route;
}

}  // namespace orders
