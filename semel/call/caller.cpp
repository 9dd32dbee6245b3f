#include "semel/call/caller.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/db/own_code.hpp"

#include <algorithm>
#include <exception>

namespace semel {
namespace {

constexpr std::size_t name_max = 128;  // As long as an operation's name may be.
constexpr std::size_t business_key_max = 256;
/// An intent that was stored too late to act on is stored anew; a database that is late this often is not fit for it.
constexpr int late_max = 3;

/// Not done, and it is known.
bool not_done(const Error& error) noexcept {
    return error.fault == Fault::rejected || error.fault == Fault::unavailable || error.fault == Fault::throttled ||
           error.fault == Fault::conflict;
}

Error in_doubt(const Call& call, std::string_view why) {
    Error error;
    error.fault = Fault::unknown;
    error.message = "the call " + call.name + " to " + call.integration + " may have happened: " + std::string(why);
    return error;
}

/// The Error of an Outcome that did not commit, as a call's caller must see it. Nothing was made yet, or it is in the
/// journal that it may have been: whether this COMMIT arrived changes nothing for the other side.
Error not_stored(const Outcome<>& outcome, std::string_view what) {
    Error error = outcome.error();
    if (outcome.unknown() && error.cause.code != "SM007") error.fault = Fault::unknown;
    return std::move(error).within(what);
}

bool in_bounds(Duration limit) noexcept { return limit >= Duration::zero() && limit <= limit_max; }

Status fits(const CallSpec& spec, const Integration& integration, const AskPolicy& ask) {
    if (spec.name.empty() || spec.name.size() > name_max)
        return fail(Fault::broken, "a call's name has 1 to 128 characters");
    if (spec.business_key.size() > business_key_max)
        return fail(Fault::broken, "a call's business key has at most 256 characters");
    if (integration.name.empty() || !integration.perform)
        return fail(Fault::broken, "an integration has a name and can be called");
    if (integration.capability == Capability::queryable && !integration.query)
        return fail(Fault::broken, "the integration " + integration.name + " says it can be asked and has no query");
    if (!in_bounds(integration.start_within) || integration.start_within == Duration::zero() ||
        !in_bounds(integration.duration_max))
        return fail(Fault::broken, "the integration " + integration.name +
                                       " must have some time to be begun and to be done, at most 30 days each");
    if (!in_bounds(ask.grace)) return fail(Fault::broken, "the grace after a call is from zero to 30 days");
    return {};
}

template <class F>
auto guarded(const Call& call, F&& act) -> decltype(act()) {
    try {
        return act();
    } catch (const std::exception& exception) {
        Error error = in_doubt(call, "the integration threw an exception");
        error.native = exception.what();
        return fail(std::move(error));
    } catch (...) {
        return fail(in_doubt(call, "the integration threw something that is no std::exception"));
    }
}

}  // namespace

Result<CallResponse> CallMaker::call(const CallSpec& spec, const Integration& integration, Deadline deadline) {
    SEMEL_TRY(fits(spec, integration, options_.ask));
    for (int late = 0; late < late_max; ++late) {
        const Plan next = SEMEL_TRY(plan(spec, integration, deadline));
        switch (next.step) {
            case CallStep::answer: {
                if (next.call.status == CallStatus::confirmed) return next.call.response;
                Error refused;
                refused.fault = Fault::rejected;
                refused.message = next.call.last_error;
                refused.cause.code = next.call.error_code;
                return fail(std::move(refused));
            }
            case CallStep::too_early: {
                Error error = in_doubt(next.call, "it may still be under way");
                error.cause.retry_after = next.call.ends_in + options_.ask.grace;
                return fail(std::move(error));
            }
            case CallStep::person: return fail(in_doubt(next.call, "only a person can find out"));
            case CallStep::query: return query(next, integration, deadline);
            case CallStep::perform:
            case CallStep::repeat: break;
        }
        // Whoever takes over counts on this: past that moment the call is not begun any more.
        if (clock_->now() < next.measured_at + integration.start_within) return perform(next, integration, deadline);
        Error error;
        error.message = "its intent was stored too late to begin it";
        SEMEL_TRY(store(next.call, [&](Transaction& tx) {
            SEMEL_FAILPOINT("call.not_begun");
            if (next.in_doubt())
                journal_.doubt(tx, next.call, error.message, false);
            else
                journal_.fail(tx, next.call, error, Duration::zero());
        }));
        if (next.in_doubt()) return fail(in_doubt(next.call, "a repeat was stored too late to begin it"));
    }
    return fail(Fault::unavailable,
                "the call " + spec.name + " was not made: the database is too slow to store intents");
}

Result<CallMaker::Plan> CallMaker::plan(const CallSpec& spec, const Integration& integration, Deadline deadline) {
    Plan made;
    std::optional<std::int64_t> intended;  // The attempt whose intent an earlier try of ours may have committed.
    const Outcome<> outcome =
        fenced_(deadline, [&](Transaction& tx) { return plan_in(tx, spec, integration, intended, made); });
    if (!outcome.committed()) return fail(not_stored(outcome, "store the intent of the call " + spec.name));
    SEMEL_FAILPOINT("call.after_intent");
    return made;
}

Status CallMaker::plan_in(Transaction& tx, const CallSpec& spec, const Integration& integration,
                          std::optional<std::int64_t>& intended, Plan& plan) const {
    auto found = SEMEL_TRY(journal_.look(tx, call_id(owner_.command, spec.name)));
    const bool ours = found && intended && found->status == CallStatus::intended && found->attempt == *intended &&
                      found->epoch == owner_.epoch && found->owner == owner_.owner;
    if (ours) {  // Its COMMIT had arrived after all; its times were set after `measured_at`.
        plan.call = *std::move(found);
        return {};
    }
    if (found && (found->integration != integration.name || found->business_key != spec.business_key))
        return fail(Fault::broken, "the call " + spec.name +
                                       " was begun with another integration or business key: "
                                       "a handler that runs again must ask for the same");
    plan.step = next_step(found, options_.ask);
    plan.measured_at = clock_->now();
    const bool makes = plan.step == CallStep::perform || plan.step == CallStep::repeat;
    if (makes) {
        if (found)
            journal_.intend_again(tx, owner_, *found, integration);
        else
            journal_.intend(tx, owner_, spec, integration);
        intended = found ? found->attempt + 1 : 1;
        SEMEL_FAILPOINT("call.before_intent");
    }
    plan.call = found ? *std::move(found) : first_of(spec, integration);
    if (makes) plan.call.attempt = *intended;
    return {};
}

Call CallMaker::first_of(const CallSpec& spec, const Integration& integration) const {
    Call call;
    call.call_id = call_id(owner_.command, spec.name);
    call.name = spec.name;
    call.integration = integration.name;
    call.operation = spec.operation.empty() ? spec.name : spec.operation;
    call.business_key = spec.business_key;
    call.external_request_id = external_request_id(owner_.command, spec.name);
    call.request = spec.request;
    return call;
}

Result<CallResponse> CallMaker::perform(const Plan& plan, const Integration& integration, Deadline deadline) {
    const Call& call = plan.call;
    const CallRequest request{.operation = call.operation,
                              .business_key = call.business_key,
                              .external_request_id = call.external_request_id,
                              .body = call.request,
                              .attempt = call.attempt};
    const Deadline until =
        deadline.sooner(Deadline::at(plan.measured_at + integration.start_within + integration.duration_max));
    auto answer = guarded(call, [&] { return integration.perform(request, until); });
    SEMEL_FAILPOINT("call.after_perform");
    Error error;
    if (!answer) {
        error = answer.error();
        // What is said of a repeat is said of that attempt alone. Not even a refusal proves that the one before was not
        // done: credentials, limits and checks are looked at before a key is.
        const bool doubted = plan.in_doubt() && !SEMEL_MUTANT("refusal_of_a_repeat_believed");
        if (doubted || !not_done(error)) {
            error.fault = Fault::unknown;
            error = std::move(error).within("the call " + call.name + " to " + call.integration + " may have happened");
        }
    }
    const Status stored = store(call, [&](Transaction& tx) {
        SEMEL_FAILPOINT("call.before_result");
        if (answer)
            journal_.confirm(tx, call, *answer);
        else if (error.fault == Fault::rejected)
            journal_.fail(tx, call, error, std::nullopt);
        else if (error.fault == Fault::unknown)
            journal_.doubt(tx, call, error.message, false);
        else
            journal_.fail(tx, call, error,
                          std::clamp(error.cause.retry_after.value_or(Duration()),
                                     std::min(options_.retry_in, limit_max), limit_max));
    });
    SEMEL_FAILPOINT("call.after_result");
    if (!stored) {
        // What we know is lost: as far as anyone else can tell it may have happened.
        Error lost = stored.error();
        if (lost.cause.code != "SM007") lost.fault = Fault::unknown;
        return fail(std::move(lost));
    }
    if (!answer) return fail(std::move(error));
    return answer;
}

Result<CallResponse> CallMaker::query(const Plan& plan, const Integration& integration, Deadline deadline) {
    const Call& call = plan.call;
    const CallQuestion question{.operation = call.operation,
                                .business_key = call.business_key,
                                .external_request_id = call.external_request_id};
    const Deadline until = deadline.within(clock_->now(), integration.duration_max);
    SEMEL_FAILPOINT("call.before_query");
    const auto answer = guarded(call, [&] { return integration.query(question, until); });
    SEMEL_FAILPOINT("call.after_query");
    if (answer && *answer) {
        SEMEL_TRY(store(call, [&](Transaction& tx) { journal_.confirm(tx, call, **answer); }));
        return **answer;
    }
    if (answer && SEMEL_MUTANT("not_found_is_licence")) return perform(plan, integration, deadline);
    const std::string why = answer ? "the other side knows nothing of it, which is no proof that it never will"
                                   : "the other side could not be asked: " + answer.error().message;
    SEMEL_TRY(store(call, [&](Transaction& tx) { journal_.doubt(tx, call, why, true); }));
    return fail(in_doubt(call, why));
}

Status CallMaker::store(const Call& call, const std::function<void(Transaction&)>& write) {
    std::optional<Call> before;
    const Deadline until = Deadline::after(clock_->now(), options_.store_within);
    const Outcome<> outcome = fenced_(until, [&](Transaction& tx) -> Status {
        auto found = SEMEL_TRY(journal_.look(tx, call.call_id));
        if (!found) return fail(Fault::broken, "the intent of the call " + call.name + " is gone");
        // The COMMIT of an earlier try was lost. Every write changes the status or the number of asks, and under the
        // fence nobody else writes: if either differs, it had arrived.
        if (before && (before->status != found->status || before->asks != found->asks)) return {};
        before = *std::move(found);
        write(tx);
        return {};
    });
    if (outcome.committed()) return {};
    return fail(not_stored(outcome, "store the result of the call " + call.name));
}

}  // namespace semel
