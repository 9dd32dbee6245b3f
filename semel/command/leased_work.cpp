#include "semel/command/leased.hpp"

#include "semel/base/failpoint.hpp"

namespace semel {
namespace {

constexpr std::size_t step_name_max = 128;  // As long as an operation's name may be.

Error not_kept(const Outcome<>& outcome, std::string_view what) {
    Error error = outcome.error();
    // It may have been committed: whoever runs the handler next finds out by the step's name.
    if (outcome.unknown() && !fence_lost(error)) error.fault = Fault::unknown;
    return std::move(error).within(what);
}

}  // namespace

LeasedWork::LeasedWork(Database& database, const LeaseStatements& statements, const Lease& lease,
                       const Command& command, BytesView payload, std::int64_t attempt, const LeasedOptions& options)
    : database_(&database),
      statements_(&statements),
      lease_(lease),
      command_(&command),
      payload_(payload),
      attempt_(attempt),
      options_(&options) {}

std::string_view LeasedWork::payload_text() const noexcept {
    return {reinterpret_cast<const char*>(payload_.data()), payload_.size()};
}

Outcome<> LeasedWork::run_fenced(Deadline deadline, Duration keep, const std::function<Status(Transaction&)>& body) {
    Outcome<> outcome = fenced(*database_, *statements_, lease_, deadline, [&](Transaction& tx) -> Status {
        Status done = body(tx);
        store_failure_.on_body(tx, !done);
        if (!done) return done;
        tx.post_expecting(1, statements_->renew, BytesView(lease_.identity), lease_.epoch, lease_.owner,
                          milliseconds(keep));
        return {};
    });
    store_failure_.on_outcome(outcome);
    return outcome;
}

Result<CallResponse> LeasedWork::call(const Integration& integration, const CallSpec& spec) {
    // Nobody is to take over while the call may be under way and its result is being stored.
    const Duration keep = integration.over_within() + options_->lease;
    CallMaker maker(statements_->call,
                    {.command = lease_.identity,
                     .tenant = command_->identity.tenant(),
                     .epoch = lease_.epoch,
                     .owner = lease_.owner},
                    database_->clock(),
                    [this, keep](Deadline deadline, const std::function<Status(Transaction&)>& body) {
                        return run_fenced(deadline, keep, body);
                    },
                    {.ask = options_->ask, .retry_in = options_->backoff.base});
    return maker.call(spec, integration, command_->deadline);
}

Result<CallResponse> LeasedWork::call(std::string_view name, const Integration& integration,
                                      std::string_view business_key, std::string_view request) {
    return call(
        integration,
        {.name = std::string(name), .business_key = std::string(business_key), .request = std::string(request)});
}

Result<std::string> LeasedWork::transact(std::string_view name,
                                         const std::function<Result<std::string>(Transaction&)>& body) {
    if (name.empty() || name.size() > step_name_max)
        return fail(Fault::broken, "a step's name has 1 to 128 characters");
    std::string result;
    const Outcome<> outcome = run_fenced(command_->deadline, options_->lease, [&](Transaction& tx) -> Status {
        const Rows rows = SEMEL_TRY(tx.execute(statements_->step_look, BytesView(lease_.identity), name));
        if (!rows.empty()) {
            const auto stored = SEMEL_TRY(rows.scalar<Bytes>());
            result.assign(reinterpret_cast<const char*>(stored.data()), stored.size());
            return {};
        }
        result = SEMEL_TRY(body(tx));
        SEMEL_FAILPOINT("lease.before_step");
        tx.post(statements_->step_store, BytesView(lease_.identity), name, bytes_of(result));
        return {};
    });
    SEMEL_FAILPOINT("lease.after_step");
    if (!outcome.committed()) return fail(not_kept(outcome, "step " + std::string(name)));
    return result;
}

Status LeasedWork::renew() {
    const Outcome<> outcome =
        run_fenced(command_->deadline, options_->lease, [](Transaction&) -> Status { return {}; });
    if (!outcome.committed()) return fail(not_kept(outcome, "renew the lease"));
    return {};
}

}  // namespace semel
