#pragma once

#include "semel/command/leased_executor.hpp"
#include "semel/command/sweeper_decision.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace semel {

struct SweeperOptions {
    Duration poll = std::chrono::seconds(1);  ///< Between two looks when there was nothing to do.
    std::size_t batch = 100;                  ///< Commands in one sweep.
};

struct SweepReport {
    std::int64_t finished = 0;    ///< Run to an end.
    std::int64_t unfinished = 0;  ///< Run, and left for later.
    std::int64_t waiting = 0;     ///< A call of theirs may still be under way.
    std::int64_t failed = 0;      ///< Out of attempts, without effect.
    std::int64_t reconcile = 0;   ///< Handed to a person.
    [[nodiscard]] std::int64_t total() const noexcept { return finished + unfinished + waiting + failed + reconcile; }
};

/// Takes commands whose lease ran out, finds out what happened, and brings them to an end or before a person. Any
/// number may run, in any number of processes.
class Sweeper {
public:
    Sweeper(LeasedExecutor& executor, const SweeperOptions& options = {});
    ~Sweeper() { stop(); }
    Sweeper(const Sweeper&) = delete;
    Sweeper& operator=(const Sweeper&) = delete;

    void start();
    void stop();

    /// Everything that is to be swept now, at most one batch, on the calling thread.
    [[nodiscard]] Result<SweepReport> sweep(const std::stop_token& stop = {});

private:
    struct Swept {
        TakenCommand taken;
        SweepDecision decision;
    };
    [[nodiscard]] Result<std::optional<Swept>> take();
    [[nodiscard]] Result<std::optional<Swept>> take_in(Transaction& tx, const Uuid& owner) const;
    void run(const std::stop_token& stop);

    LeasedExecutor* executor_;
    SweeperOptions options_;
    std::mutex mutex_;
    std::condition_variable_any condition_;
    std::jthread thread_;
};

}  // namespace semel
