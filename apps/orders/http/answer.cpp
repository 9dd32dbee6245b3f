#include "apps/orders/http/answer.hpp"

#include "apps/orders/http/etag.hpp"
#include "semel/base/log.hpp"
#include "semel/http/command_route.hpp"

namespace orders {
namespace {

using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;
namespace problems = semel::http::problems;

constexpr std::string_view json_type = "application/json";

Problem of(const NoSuch& refusal) {
    return {problems::not_found, "There is no such " + refusal.kind + ". Nothing was done."};
}

Problem of(const Stale& refusal) {
    return Problem(problems::precondition_failed,
                   "It was changed since you saw it. Nothing was done; read it again, decide again, and send the new "
                   "ETag with a new Idempotency-Key.")
        .with("currentETag", etag_of(refusal.kind, refusal.version))
        .with("currentVersion", refusal.version)
        .with_header("ETag", etag_of(refusal.kind, refusal.version));
}

Problem of(const WrongState& refusal) {
    return Problem(problems::invalid_state_transition, "The " + refusal.kind + " is " + refusal.state +
                                                           " and would have to be " + refusal.needed +
                                                           ". Nothing was done.")
        .with("currentState", refusal.state)
        .with("currentVersion", refusal.version)
        .with_header("ETag", etag_of(refusal.kind, refusal.version));
}

Problem of(const Duplicate& refusal) {
    return Problem(problems::duplicate_business_command, refusal.detail + " Nothing was done.")
        .with("existingId", refusal.existing);
}

Problem of(const Full& refusal) {
    return {problems::invalid_state_transition, "There may be " + std::to_string(refusal.max) + " " + refusal.kind +
                                                    " at most, and there are that many. Nothing was done."};
}

Problem of(const Unacceptable& refusal) {
    return Problem(unacceptable, refusal.detail + " Nothing was done.").with("field", refusal.field);
}

}  // namespace

semel::Reply done(std::string body, std::string etag) {
    return {.status = 200,
            .body = std::move(body),
            .headers = {{"Content-Type", std::string(json_type)}, {"ETag", std::move(etag)}}};
}

semel::Reply created(std::string body, std::string location, std::string etag) {
    semel::Reply reply{.status = 201,
                       .body = std::move(body),
                       .headers = {{"Content-Type", std::string(json_type)}, {"Location", std::move(location)}}};
    if (!etag.empty()) reply.headers.push_back({"ETag", std::move(etag)});
    return reply;
}

semel::Reply existing(std::string body, std::string location) {
    return {.status = 200,
            .body = std::move(body),
            .headers = {{"Content-Type", std::string(json_type)}, {"Content-Location", std::move(location)}}};
}

semel::Rejection reject(const Problem& problem, const Request& request) {
    return {.reply = semel::http::reply_of(problem, request.correlation_id), .replay = semel::Replay::no};
}

Problem problem_of(const Refusal& refusal) {
    return std::visit([](const auto& why) { return of(why); }, refusal);
}

Problem problem_of(const Refusal& refusal, std::string_view kind) {
    Problem problem = problem_of(refusal);
    const auto* wrong = std::get_if<WrongState>(&refusal);
    if (wrong != nullptr && wrong->kind != kind) problem.headers.remove("ETag");
    return problem;
}

tl::expected<semel::Uuid, Problem> id_in(const Request& request, std::string_view variable) {
    auto id = semel::Uuid::parse(request.variable(variable));
    if (!id)
        return tl::unexpected(Problem(problems::validation_failed,
                                      "The id in the path is no UUID, as in 0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12.")
                                  .with("field", std::string(variable)));
    return *id;
}

Response found(std::string body) {
    Response response{.status = 200, .body = std::move(body)};
    response.headers.set("Content-Type", std::string(json_type));
    return response;
}

Response problem_response(const Problem& problem, const Request& request) {
    return problem.to_response(request.correlation_id);
}

Response no_such(std::string_view kind, const Request& request) {
    return problem_response(Problem(problems::not_found, "There is no such " + std::string(kind) + "."), request);
}

Response unreadable(const semel::Error& error, const Request& request) {
    // A statement that the store refuses is a mistake of ours: asking again will not help.
    const bool broken = error.fault == semel::Fault::broken ||
                        (error.fault == semel::Fault::rejected && error.cause.timeout == semel::Timeout::none);
    semel::log(broken ? semel::LogLevel::error : semel::LogLevel::warning,
               request.method + " " + request.path + " " + request.correlation_id + ": " + error.describe());
    if (broken) return problem_response(Problem(problems::internal_error, "This cannot be read."), request);
    return problem_response(Problem(problems::transient_persistence_failure, "The store did not answer; ask again.")
                                .with_retry_after(error.cause.retry_after.value_or(std::chrono::seconds(1))),
                            request);
}

}  // namespace orders
