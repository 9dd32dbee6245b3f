#include "semel/http/command_route.hpp"

#include "semel/base/log.hpp"
#include "semel/base/media_type.hpp"
#include "semel/http/idempotency_header.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace semel::http {
namespace {

constexpr Duration retry_soon = std::chrono::seconds(1);
/// On the event loop only what is done at once: a longer body takes too long to read through.
constexpr std::size_t at_once_max = std::size_t{32} << 10U;

std::vector<NamedValue> named(const std::vector<Parameter>& parameters) {
    std::vector<NamedValue> values;
    values.reserve(parameters.size());
    for (const auto& [name, value] : parameters) values.push_back({.name = name, .value = value});
    return values;
}

tl::expected<Identity, Problem> identity_of(const Request& request, std::string_view operation) {
    auto key = idempotency_key(request.headers);
    if (!key) return tl::unexpected(Problem(problems::invalid_idempotency_key, key.error().message));
    if (!*key)
        return tl::unexpected(Problem(problems::missing_idempotency_key,
                                      "Send an Idempotency-Key that is new for each thing you want done, and the same "
                                      "for each repeat of it. Nothing was done."));
    auto identity = Identity::of(request.who.tenant, request.who.caller, operation, **key);
    if (!identity) return tl::unexpected(Problem(problems::invalid_idempotency_key, identity.error().message));
    return *std::move(identity);
}

tl::expected<Identity, Problem> identity_of(const Request& request, const CommandRoute& route) {
    if (!route.identify) return identity_of(request, route.operation);
    const auto asker = route.identify(request);
    if (!asker) return tl::unexpected(asker.error());
    auto identity = Identity::of(asker->tenant, asker->caller, route.operation, asker->key);
    if (!identity) return tl::unexpected(Problem(problems::malformed_request, identity.error().message));
    return *std::move(identity);
}

tl::expected<Fingerprint, Problem> fingerprint_of(const Request& request, std::string_view operation) {
    const std::string_view type = request.headers.find("Content-Type").value_or("");
    if (!request.body.empty() && !is_json(media_type_essence(type)))
        return tl::unexpected(Problem(problems::unsupported_media_type, "Send application/json. Nothing was done."));
    const auto path = named(request.variables);
    const auto query = named(request.query);
    auto made = fingerprint({.operation = operation,
                             .path = path,
                             .query = query,
                             .media_type = request.body.empty() ? std::string_view() : type,
                             .body = request.body});
    if (!made) return tl::unexpected(Problem(problems::malformed_body, made.error().message + ". Nothing was done."));
    return *made;
}

Command command_from(const Request& request, Identity identity, const Fingerprint& fingerprint) {
    return {.identity = std::move(identity),
            .fingerprint = fingerprint,
            .deadline = request.retry.deadline,
            .attempt = request.retry.attempt,
            .owner = request.retry.owner.empty() ? RetryOwner::here : RetryOwner::outer,
            .correlation_id = request.correlation_id};
}

Problem of_verdict(ClaimVerdict verdict, Profile profile) {
    switch (verdict) {
        case ClaimVerdict::execute:
        case ClaimVerdict::replay: break;
        case ClaimVerdict::in_progress:
            return Problem(problems::request_already_in_progress,
                           "A request with the same Idempotency-Key is being executed. This one did nothing; repeat it "
                           "with the same key to get the reply.")
                .with_retry_after(retry_soon);
        case ClaimVerdict::mismatch:
            return Problem(problems::idempotency_key_conflict,
                           "The Idempotency-Key was used before with another request. This one did nothing; use a new "
                           "key for a new request, or repeat the old one as it was.")
                .with_status(profile == Profile::ietf ? 422 : problems::idempotency_key_conflict.status);
        case ClaimVerdict::expired:
            return {problems::idempotency_key_expired,
                    "The Idempotency-Key was used before, too long ago for its reply to be kept. This request did "
                    "nothing; look at the resource to see what was done, and use a new key to do something new."};
        case ClaimVerdict::needs_reconciliation:
            return {problems::needs_reconciliation,
                    "The command was begun and a person has to find out what it did outside. This request did "
                    "nothing; repeating it with another key could do it twice."};
    }
    SEMEL_ASSERT(false && "a verdict that is no refusal");
}

/// Whether the store refused a value, and not the statement: PostgreSQL's classes 22 and 23, SQLite's CONSTRAINT and
/// MISMATCH.
bool is_about_a_value(const Cause& cause) noexcept {
    if (cause.code.size() == 5) return cause.code.starts_with("22") || cause.code.starts_with("23");
    int code = 0;
    std::from_chars(cause.code.data(), cause.code.data() + cause.code.size(), code);
    return (code & 0xff) == 19 || (code & 0xff) == 20;
}

bool is_unique_violation(const Cause& cause) noexcept {
    // PostgreSQL's unique and exclusion violations, SQLite's primary key and unique.
    constexpr std::array<std::string_view, 4> codes{"23505", "23P01", "1555", "2067"};
    return std::ranges::find(codes, cause.code) != codes.end();
}

/// Both drivers' word for a guarded statement (Transaction::post_expecting) that found something else than was read.
constexpr std::string_view row_count_code = "SM006";

Problem of_error(const Error& error) {
    const Timeout timeout = error.cause.timeout;
    if (timeout == Timeout::total || error.cause.stop == Stop::deadline)
        return Problem(problems::deadline_exceeded,
                       "The deadline passed before it was done. This request changed nothing; if it repeats an earlier "
                       "one, repeat it once more with the same Idempotency-Key to learn what became of that.");
    if (is_unique_violation(error.cause))
        return Problem(problems::duplicate_business_command,
                       "Something that may exist only once exists already. Nothing was changed.")
            .with("constraint", error.cause.constraint);
    switch (error.fault) {
        case Fault::rejected:
            if (timeout != Timeout::none) break;
            if (error.cause.code.empty())
                return {problems::validation_failed, error.message + ". Nothing was changed."};
            if (is_about_a_value(error.cause))
                return {problems::validation_failed, "The store does not accept a value. Nothing was changed."};
            // The statement is wrong for the schema, or not permitted: that is ours to mend.
            return {problems::internal_error, "The server failed to handle this. Nothing was changed."};
        case Fault::broken: return {problems::internal_error, "The server failed to handle this. Nothing was changed."};
        case Fault::unknown:
            // Only a handler comes to this, about what it asked someone else for: a lost COMMIT is another outcome.
            return {problems::external_outcome_unknown,
                    "The other side did not say whether it did its part, so that may or may not have happened. Nothing "
                    "was changed here; repeat it with the same Idempotency-Key, for another one could do it twice."};
        case Fault::conflict:
            if (error.cause.code != row_count_code) break;
            return {
                problems::version_conflict,
                "Someone else changed the resource while this was being decided. Nothing was changed; read it again "
                "and decide again, or repeat this with the same Idempotency-Key to have it decided anew."};
        case Fault::unavailable:
        case Fault::throttled: break;
    }
    return Problem(problems::transient_persistence_failure,
                   "The store did not take it in time. This request changed nothing; repeat it with the same "
                   "Idempotency-Key.")
        .with_retry_after(error.cause.retry_after.value_or(retry_soon));
}

/// The options of one execution; the request outlives it.
CommandOptions options_for(const CommandRoute& route, const Request& request) {
    CommandOptions options = route.options;
    for (const RouteNaturalKey& key : route.natural_keys)
        options.natural_keys.push_back(
            {.constraint = key.constraint,
             .decide = [&key, &request](Work& work) -> Result<CommandDecision> { return key.decide(request, work); }});
    return options;
}

Response status_of(const NamedRecord& found, const std::string& id) {
    const Record& record = found.record;
    const CommandState state = record.expired ? CommandState::expired : record.state;
    nlohmann::ordered_json body{
        {"commandId", id}, {"operation", found.operation}, {"status", name(state)}, {"attempts", found.attempts}};
    if (finished(state)) body["replyStatus"] = record.reply.status;
    for (const ReplyHeader& header : record.reply.headers)
        if (same_name(header.name, "Location")) body["resource"] = header.value;
    Response response{.status = 200, .body = body.dump()};
    response.headers.set("Content-Type", "application/json");
    return response;
}

}  // namespace

tl::expected<Command, Problem> command_of(const Request& request, std::string_view operation) {
    auto identity = identity_of(request, operation);
    if (!identity) return tl::unexpected(std::move(identity).error());
    auto made = fingerprint_of(request, operation);
    if (!made) return tl::unexpected(std::move(made).error());
    return command_from(request, *std::move(identity), *made);
}

Response response_of(const Reply& reply, bool replayed) {
    Response response{.status = static_cast<unsigned>(reply.status), .body = reply.body};
    for (const ReplyHeader& header : reply.headers)
        if (replayable_header(header.name)) response.headers.add(header.name, header.value);
    if (replayed) response.headers.add(std::string(replayed_header), "true");
    return response;
}

Reply reply_of(const Problem& problem, std::string_view correlation_id) {
    const Response response = problem.to_response(correlation_id);
    Reply reply{.status = static_cast<int>(response.status), .body = std::string(response.content())};
    for (const auto& field : response.headers)
        if (replayable_header(field.name)) reply.headers.push_back({field.name, field.value});
    return reply;
}

Problem CommandRoutes::problem_of(const Outcome<Answer>& outcome) const {
    if (outcome.unknown())
        return Problem(problems::outcome_unknown,
                       "The answer of the store was lost, so it may or may not have been done. Repeat it with the same "
                       "Idempotency-Key: it is done at most once, and you will be told.")
            .with_retry_after(retry_soon);
    if (const auto verdict = verdict_of(outcome.error())) return of_verdict(*verdict, profile_);
    return of_error(outcome.error());
}

Route CommandRoutes::route(CommandRoute command) const {
    const auto shared = std::make_shared<const CommandRoute>(std::move(command));
    Route route{.body_max = shared->body_max, .deadline = shared->deadline, .open = shared->identify != nullptr};
    route.at_once = [self = *this, shared](Request& request) -> std::optional<Response> {
        ReplyCache& cache = self.executor_->cache();
        if (request.body.size() > at_once_max) return std::nullopt;
        auto identity = identity_of(request, *shared);
        if (!identity) return identity.error().to_response(request.correlation_id);
        if (!cache.holds(identity->digest())) return std::nullopt;
        const auto made = fingerprint_of(request, shared->operation);
        if (!made) return made.error().to_response(request.correlation_id);
        const auto reply = cache.find(identity->digest(), *made);
        if (!reply) return std::nullopt;
        Response response = response_of(Reply{.status = reply->status, .headers = reply->headers}, true);
        response.shared_body = std::shared_ptr<const std::string>(reply, &reply->body);
        self.replayed(*identity);
        return response;
    };
    route.handle = [self = *this, shared](Request& request) -> Response {
        auto identity = identity_of(request, *shared);
        if (!identity) return identity.error().to_response(request.correlation_id);
        const auto made = fingerprint_of(request, shared->operation);
        if (!made) return made.error().to_response(request.correlation_id);
        const Command asked = command_from(request, *std::move(identity), *made);
        const Outcome<Answer> outcome = self.executor_->execute(
            asked, options_for(*shared, request),
            Handler([&](Work& work) -> Result<CommandDecision> { return shared->handle(request, work); }));
        if (outcome.committed()) {
            const bool again = outcome.value().standing == Standing::replayed;
            if (again) self.replayed(asked.identity);
            return response_of(outcome.value().reply, again);
        }
        const auto verdict = verdict_of(outcome.error());
        if (verdict == ClaimVerdict::expired && shared->when_expired) return shared->when_expired(request);
        if (!verdict)
            log(self.problem_of(outcome).status == problems::internal_error.status ? LogLevel::error
                                                                                   : LogLevel::warning,
                fmt::format("{} {}: {}", shared->operation, request.correlation_id, outcome.error().describe()));
        return self.problem_of(outcome).to_response(request.correlation_id);
    };
    return route;
}

Route CommandRoutes::status_route() const {
    Route route;
    route.handle = [executor = executor_](Request& request) -> Response {
        const std::string& id = request.variable("id");
        const auto found = executor->look_up(id, request.retry.deadline);
        if (!found && found.error().fault == Fault::rejected && found.error().cause.timeout == Timeout::none)
            return Problem(problems::not_found, found.error().message).to_response(request.correlation_id);
        if (!found) return of_error(found.error()).to_response(request.correlation_id);
        // Whether someone else has such a command is nobody's business.
        const bool own = *found && (*found)->tenant == request.who.tenant && (*found)->caller == request.who.caller;
        if (!own)
            return Problem(problems::not_found,
                           "No command of yours has this id: it was not accepted, was rolled back, or is forgotten.")
                .to_response(request.correlation_id);
        return status_of(**found, id);
    };
    return route;
}

}  // namespace semel::http
