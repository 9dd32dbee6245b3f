#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace semel::testing {

/// What code can ask of a database.
enum class Step : std::uint8_t { connect, begin, post, look, execute, flush, script, commit, rollback, resolve, reset };
[[nodiscard]] std::string_view name(Step) noexcept;

/// How one step fails.
struct StepFailure {
    enum class When : std::uint8_t {
        before,  ///< The database never saw the step.
        after,   ///< The database did it, and could not say so.
    };
    When when = When::before;
    /// An empty message is replaced by one that names the step.
    Error error = default_error();
    /// The connection is lost with it, and with the connection an open transaction.
    bool closes = true;
    /// For a commit that fails before: the caller is told NotCommitted. Otherwise it is told
    /// Unknown, which after a commit is the only truth.
    bool definite = false;

    [[nodiscard]] static Error default_error() {
        Error error;
        error.fault = Fault::unavailable;
        return error;
    }
};

/// Which steps fail. Shared by all faulty sessions of a run and counting their steps, in the order
/// in which they happen, so that a test can run once to count and then once for each step to fail
/// it. Thread-safe.
class FaultPlan {
public:
    /// Fails the nth step of the run, whatever it is; the first is 1.
    void fail_step(std::uint64_t n, StepFailure failure);
    /// Fails the nth step of one kind.
    void fail_nth(Step step, std::uint64_t n, StepFailure failure);
    /// Fails every step of one kind, until the plan is restarted.
    void fail_every(Step step, StepFailure failure);
    /// Counts from zero again and forgets all failures.
    void restart();

    /// What has been done since the start.
    [[nodiscard]] std::uint64_t steps() const;
    [[nodiscard]] std::uint64_t steps(Step step) const;
    [[nodiscard]] std::vector<Step> history() const;
    /// How many of them failed by this plan.
    [[nodiscard]] std::uint64_t failures() const;

    /// Counts a step about to be taken, and says how it is to fail. For the fakes.
    [[nodiscard]] std::optional<StepFailure> take(Step step);

private:
    mutable std::mutex mutex_;
    std::vector<Step> history_;
    std::map<std::uint64_t, StepFailure> by_number_;
    std::map<std::pair<Step, std::uint64_t>, StepFailure> by_kind_;
    std::map<Step, StepFailure> every_;
    std::uint64_t failures_ = 0;
};

}  // namespace semel::testing
