#pragma once

#include "semel/call/caller.hpp"
#include "semel/command/command.hpp"
#include "semel/command/lease.hpp"
#include "semel/command/leased_failure.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace semel {

/// How one operation with effects outside the database is executed.
struct LeasedOptions {
    Duration retention = std::chrono::hours(24);  ///< How long its replies are kept.
    /// How long an executor may be silent before someone else takes the command over. Each step renews it, and a call
    /// extends it until it must be over.
    Duration lease = std::chrono::seconds(30);
    AskPolicy ask{};                 ///< How an outcome that is not known is sought.
    std::int64_t attempts_max = 10;  ///< Runs of the handler; then it fails, or a person decides.
    PolicySpec backoff{.base = std::chrono::seconds(1), .cap = std::chrono::minutes(5)};  ///< Between runs.
    InProgress in_progress = InProgress::refuse;
    Duration in_progress_wait = std::chrono::milliseconds(300);
    TransactionOptions transaction{};  ///< Of the last transaction.
    std::size_t payload_max = std::size_t{1} << 20U;
    /// What the caller is told when the handler failed for good with an Error instead of a Reply. None, or one that
    /// throws: `default_refusal`. An Error of the store's (a violated constraint, a database that was away to the end)
    /// comes here too: its words are not for clients.
    std::function<Reply(const Error&, const Command&)> refuse{};
};

/// How a leased command ends: in one transaction under the fence, with business writes, events and reply. It may run
/// several times; only one is kept.
class Finish {
public:
    /// A handler that takes a Work& and returns a Result<Reply> or a Result<CommandDecision>.
    template <class F>
        requires std::invocable<F&, Work&>
    Finish(F decide)  // NOLINT(google-explicit-constructor): a handler just returns its last part.
        : decide_([decide = std::move(decide)](Work& work) mutable -> Result<CommandDecision> {
              return CommandDecision(SEMEL_TRY(decide(work)));
          }) {}
    /// Nothing more to write.
    Finish(Reply reply)  // NOLINT(google-explicit-constructor)
        : decide_([reply = std::move(reply)](Work&) -> Result<CommandDecision> { return CommandDecision(reply); }) {}
    /// Refused for good. A leased command's refusal is always stored: a repeat gets the same.
    Finish(Rejection rejection)  // NOLINT(google-explicit-constructor)
        : decide_([rejection = std::move(rejection)](Work&) -> Result<CommandDecision> {
              return CommandDecision(rejection);
          }) {}

    [[nodiscard]] const Handler& decide() const noexcept { return decide_; }

private:
    Handler decide_;
};

/// What a leased handler works with. Every step is remembered by its name: a rerun of the handler, in this process or
/// another, gets what the step gave before instead of taking it again. So a handler does everything through steps,
/// decides by what they return, and may be begun anew at any time. One thread.
class LeasedWork {
public:
    LeasedWork(Database& database, const LeaseStatements& statements, const Lease& lease, const Command& command,
               BytesView payload, std::int64_t attempt, const LeasedOptions& options);

    /// Calls another system. See CallMaker::call for its Errors; an `unknown` one must be returned as it is.
    [[nodiscard]] Result<CallResponse> call(const Integration& integration, const CallSpec& spec);
    [[nodiscard]] Result<CallResponse> call(std::string_view name, const Integration& integration,
                                            std::string_view business_key, std::string_view request);

    /// An intermediate write, committed at once and once, under the fence. What it returns is kept as its result.
    [[nodiscard]] Result<std::string> transact(std::string_view name,
                                               const std::function<Result<std::string>(Transaction&)>& body);

    /// For a handler that computes for long between two steps: keeps the lease, or tells that it was lost (SM007).
    [[nodiscard]] Status renew();

    [[nodiscard]] const Command& command() const noexcept { return *command_; }
    [[nodiscard]] BytesView payload() const noexcept { return payload_; }
    [[nodiscard]] std::string_view payload_text() const noexcept;
    /// Which run of the handler this is.
    [[nodiscard]] std::int64_t attempt() const noexcept { return attempt_; }
    [[nodiscard]] const Lease& lease() const noexcept { return lease_; }
    /// What the store said of the steps that it did not commit.
    [[nodiscard]] const StoreFailure& store_failure() const noexcept { return store_failure_; }

private:
    [[nodiscard]] Outcome<> run_fenced(Deadline deadline, Duration keep,
                                       const std::function<Status(Transaction&)>& body);

    Database* database_;
    const LeaseStatements* statements_;
    Lease lease_;
    const Command* command_;
    BytesView payload_;
    std::int64_t attempt_;
    const LeasedOptions* options_;
    StoreFailure store_failure_;
};

/// An Error ends this run: `conflict`, `unavailable` and `throttled` lead to another one later; `rejected` refuses
/// for good; `unknown` leaves it to the sweeper to find out; `broken`, and an exception, are for a person. An Error of
/// the store's that a handler passes on is no refusal unless a constraint was violated: see `judged`. Nobody is
/// told that a command failed without effect after a call of it was confirmed: then a person decides too.
using LeasedHandler = std::function<Result<Finish>(LeasedWork&)>;

}  // namespace semel
