#include "semel/command/leased_executor.hpp"

#include "semel/command/leased_claim.hpp"
#include "semel/command/leased_run.hpp"

namespace semel {

Result<std::unique_ptr<LeasedExecutor>> LeasedExecutor::create(Executor& executor, const Operations& operations) {
    const LeaseStatements statements = SEMEL_TRY(LeaseStatements::from(executor.database().catalogue()));
    return std::unique_ptr<LeasedExecutor>(new LeasedExecutor(executor, operations, statements));
}

Result<const LeasedOperation*> LeasedExecutor::operation_for(const Command& command, BytesView payload) const {
    const LeasedOperation* operation = operations_->find(command.identity.operation());
    if (operation == nullptr)
        return fail(Fault::broken, "no handler is registered for the operation " + command.identity.operation());
    if (payload.size() > operation->options.payload_max)
        return fail(Fault::rejected, "the request is larger than " + std::to_string(operation->options.payload_max) +
                                         " bytes, the limit of its operation");
    return operation;
}

Outcome<Answer> LeasedExecutor::execute(const Command& command, BytesView payload) {
    const auto operation = operation_for(command, payload);
    if (!operation) return NotCommitted{operation.error()};
    if (const auto cached = executor_->cached(command)) return Committed<Answer>{{*cached, Standing::replayed}};
    return detail::LeasedClaim(*this, **operation, command, payload).run();
}

Outcome<Answer> LeasedExecutor::go_on(const TakenCommand& taken) {
    const auto operation = operation_for(taken.command, {});
    if (!operation) return NotCommitted{operation.error()};
    return detail::LeasedRun(*this, **operation, taken.command, taken.payload, taken.lease, taken.attempts).run();
}

Outcome<Answer> LeasedExecutor::give_up(const TakenCommand& taken, Error error) {
    const auto operation = operation_for(taken.command, {});
    if (!operation) return NotCommitted{operation.error()};
    return detail::LeasedRun(*this, **operation, taken.command, taken.payload, taken.lease, taken.attempts)
        .give_up(std::move(error));
}

Result<TakenCommand> taken_from(const Row& row, const Uuid& owner) {
    const auto tenant = SEMEL_TRY(row.get<std::string_view>(1));
    const auto caller = SEMEL_TRY(row.get<std::string_view>(2));
    const auto operation = SEMEL_TRY(row.get<std::string_view>(3));
    const auto key = SEMEL_TRY(row.get<std::string_view>(4));
    const auto fingerprint = SEMEL_TRY(row.get<Bytes>(5));
    auto identity = SEMEL_TRY(Identity::of(tenant, caller, operation, key));
    const Digest digest = identity.digest();
    return TakenCommand{.command = {.identity = std::move(identity),
                                    .fingerprint = fingerprint_from(fingerprint),
                                    .correlation_id = SEMEL_TRY(row.get<std::string>(9))},
                        .payload = SEMEL_TRY(row.get<std::optional<Bytes>>(6)).value_or(Bytes()),
                        .lease = {.identity = digest, .epoch = SEMEL_TRY(row.get<std::int64_t>(7)), .owner = owner},
                        .attempts = SEMEL_TRY(row.get<std::int64_t>(8))};
}

}  // namespace semel
