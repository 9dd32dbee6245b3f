#pragma once

#include "semel/retry/breaker.hpp"
#include "semel/retry/budget.hpp"
#include "semel/retry/policy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace semel::storm {

/// A time in which something is otherwise, in seconds from the beginning.
struct Period {
    double from = 0;
    double to = 0;
    [[nodiscard]] bool holds(double at) const noexcept { return at >= from && at < to; }
};

/// A server that gets slower the more it has to do at once, and clients that give up on an answer and ask again. What they
/// gave up on the server goes on doing: that is how a short spike can last for ever.
struct OverloadModel {
    double calls_per_second = 40;
    double spike_calls_per_second = 80;
    Period spike{.from = 20, .to = 25};
    Period outage{};  ///< The server stands still; what it was asked for it does afterwards.
    double seconds = 120;
    Duration latency = std::chrono::seconds(1);             ///< Of a call that is alone …
    Duration latency_each = std::chrono::milliseconds(10);  ///< … and for each one that is there.
    Duration leg = std::chrono::milliseconds(100);          ///< Mean time of one way over the network.
    Duration timeout = std::chrono::seconds(3);
    std::uint32_t attempts = 3;
    std::optional<PolicySpec> policy{};  ///< Delays between attempts; none: at once.
    std::optional<BudgetSpec> budget{};
    std::optional<BreakerSpec> breaker{};
};

/// One second of the run.
struct OverloadSecond {
    std::uint32_t calls = 0;       ///< That somebody wanted.
    std::uint32_t attempts = 0;    ///< That were made for them.
    std::uint32_t successes = 0;   ///< Answered in time.
    std::uint32_t concurrent = 0;  ///< What the server had to do at its end.
};

struct OverloadResult {
    std::vector<OverloadSecond> seconds;
    /// Share of the calls of the last quarter that were answered in time.
    [[nodiscard]] double success_at_the_end() const noexcept;
    /// Less than half of what was wanted is done at the end, long after the cause has gone.
    [[nodiscard]] bool collapsed() const noexcept { return success_at_the_end() < 0.5; }
    /// The first second from `since` on after which every ten seconds see four of five calls answered; none: it never came
    /// back.
    [[nodiscard]] std::optional<std::size_t> recovered_after(double since) const noexcept;
};

[[nodiscard]] OverloadResult run(const OverloadModel& model, std::uint64_t seed);

}  // namespace semel::storm
