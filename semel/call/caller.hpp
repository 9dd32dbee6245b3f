#pragma once

#include "semel/base/outcome.hpp"
#include "semel/call/journal.hpp"
#include "semel/call/verdict.hpp"

#include <functional>

namespace semel {

/// Runs a body in a transaction of its own that begins with the command's fence, until it commits. A body may run again
/// after an earlier COMMIT of it was lost: it reads before it writes.
using Fenced = std::function<Outcome<>(Deadline, const std::function<Status(Transaction&)>&)>;

struct CallerOptions {
    AskPolicy ask{};
    /// How long storing a result may take, even when the command's own time is over: what is known must not be lost.
    Duration store_within = std::chrono::seconds(10);
    /// When a call that was not done may be tried again, unless the other side says more.
    Duration retry_in = std::chrono::seconds(1);
};

/// Makes the calls of one command to other systems: intent durable, call, result durable. What was done before is
/// answered from the journal; what may have been done is made sure of first. One thread.
class CallMaker {
public:
    CallMaker(const CallStatements& statements, CallOwner owner, Clock& clock, Fenced fenced,
              const CallerOptions& options)
        : journal_(statements),
          owner_(std::move(owner)),
          clock_(&clock),
          fenced_(std::move(fenced)),
          options_(options) {}

    /// The response, now or from before. An Error: `rejected`, it was refused for good (a rerun gets the same);
    /// `unavailable`, `throttled`, `conflict`, it was not done; `unknown`, it may have been done, and the command must
    /// end with this Error so that it is found out later. Code SM007: someone else took the command over.
    ///
    /// Once it may have been done, only a response ends the doubt: whatever Error a repeat or a question gets, it stays
    /// `unknown`, and after `asks_max` of them a person is asked.
    [[nodiscard]] Result<CallResponse> call(const CallSpec& spec, const Integration& integration, Deadline deadline);

private:
    /// What is left to do after the journal was read, and an intent stored where one was needed.
    struct Plan {
        CallStep step = CallStep::perform;
        Call call;            ///< As it stands now.
        Instant measured_at;  ///< Before the database set the times of the intent.

        /// Whether an attempt before this one may have done it.
        [[nodiscard]] bool in_doubt() const noexcept { return step == CallStep::repeat; }
    };
    [[nodiscard]] Result<Plan> plan(const CallSpec& spec, const Integration& integration, Deadline deadline);
    [[nodiscard]] Status plan_in(Transaction& tx, const CallSpec& spec, const Integration& integration,
                                 std::optional<std::int64_t>& intended, Plan& plan) const;
    [[nodiscard]] Call first_of(const CallSpec& spec, const Integration& integration) const;
    [[nodiscard]] Result<CallResponse> perform(const Plan& plan, const Integration& integration, Deadline deadline);
    [[nodiscard]] Result<CallResponse> query(const Plan& plan, const Integration& integration, Deadline deadline);
    /// Stores what is known of an attempt now.
    [[nodiscard]] Status store(const Call& call, const std::function<void(Transaction&)>& write);

    Journal journal_;
    CallOwner owner_;
    Clock* clock_;
    Fenced fenced_;
    CallerOptions options_;
};

}  // namespace semel
