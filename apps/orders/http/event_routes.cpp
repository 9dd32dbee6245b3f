#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/routes.hpp"
#include "semel/base/log.hpp"
#include "semel/webhook/source.hpp"

#include <array>

namespace orders {
namespace {

using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;
namespace problems = semel::http::problems;

/// Senders of webhooks give up after a few seconds, and one that is told in time when to come again does so sooner.
constexpr semel::Duration take_limit = std::chrono::seconds(4);
constexpr semel::Duration send_again_after = std::chrono::seconds(1);

/// Several of them could be read in several ways.
constexpr std::array once_only{semel::webhook::id_header, semel::webhook::timestamp_header,
                               semel::webhook::signature_header};

std::optional<Problem> fault_of_fields(const Request& request) {
    for (const std::string_view name : once_only)
        if (request.headers.count(name) != 1)
            return Problem(problems::malformed_request,
                           "The field " + std::string(name) + " is needed, once. Nothing was done.");
    return std::nullopt;
}

Problem unsigned_problem(const semel::Error& error) {
    Problem problem(problems::unauthenticated, error.message + ". Nothing was done.");
    problem.title = "A valid signature is required";
    return problem;
}

Problem problem_of_taking(const semel::Error& error) {
    const auto kind = [&] {
        switch (error.fault) {
            case semel::Fault::throttled: return problems::overloaded;
            case semel::Fault::unknown: return problems::outcome_unknown;
            default: return problems::not_ready;
        }
    };
    return Problem(kind(), error.message + ".").with_retry_after(error.cause.retry_after.value_or(send_again_after));
}

semel::Result<semel::ReceivedMessage> message_in(const Request& request, const EventInlet& inlet,
                                                 semel::Timestamp now) {
    std::vector<semel::CloudEventAttribute> headers;
    headers.reserve(request.headers.size());
    for (const auto& field : request.headers) headers.push_back({field.name, field.value});
    return semel::webhook::received_from({.headers = headers, .body = request.body}, inlet.secrets, now);
}

Response take_event(const Request& request, const EventInlet& inlet, semel::Clock& clock) {
    if (const auto fault = fault_of_fields(request)) return problem_response(*fault, request);
    const auto message = message_in(request, inlet, clock.wall());
    if (!message) return problem_response(unsigned_problem(message.error()), request);
    const auto taken = inlet.take(*message, request.retry.deadline.within(clock.now(), take_limit));
    if (taken) return {.status = 204};
    semel::log(semel::LogLevel::info, "event " + message->id + " is to be sent again: " + taken.error().describe());
    return problem_response(problem_of_taking(taken.error()), request);
}

}  // namespace

void add_event_routes(Api& api, const RouteContext& context) {
    semel::http::Route route{.open = true};
    route.handle = [inlet = context.inlet, &clock = context.database.clock()](Request& request) -> Response {
        if (inlet) return take_event(request, *inlet, clock);
        return problem_response(Problem(problems::not_found, "No messages are taken here. Nothing was done."), request);
    };
    api.add(std::move(route),
            MessageEntry{
                .path = "/api/v1/events",
                .operation = "event.receive",
                .summary = "A message for those who consume them here, usually a CloudEvent: signed, and done once",
                .headers = {{semel::webhook::id_header, "The id of the message, the same at every delivery", true},
                            {semel::webhook::timestamp_header, "Seconds since 1970, of this delivery", true},
                            {semel::webhook::signature_header,
                             "v1, and base64 of HMAC-SHA256 over id.timestamp.body; several are separated by spaces",
                             true}},
                .refusals = {problems::not_found, problems::not_ready, problems::outcome_unknown}});
}

}  // namespace orders
