#pragma once

#include "semel/base/time.hpp"
#include "tests/simulation/fiber.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace semel::simulation {

/// What wakes one who has nothing to do.
enum class Bell : std::uint8_t {
    none,
    outbox,  ///< Something was committed that has to leave.
    broker,  ///< The broker took something.
    work,    ///< A command was handed in.
};

/// One of the things that go on at once.
struct Task {
    std::string name;
    Fiber fiber;
    Instant wake;
    bool in_store = false;  ///< Waits for the store, and may be woken before its time.
    bool poked = false;
    Bell waits_for = Bell::none;
    bool asleep = false;  ///< Waits for its next task, whatever it may hear.
};

/// Time, and who goes on next: always whoever's time comes first. A wait of anyone is a switch to the scheduler.
class Scheduler {
public:
    Scheduler() = default;
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void spawn(std::string name, Instant at, std::function<void()> body);
    /// Moves the clock to whoever is next and lets it go on; false if nobody is left.
    [[nodiscard]] bool step();

    // From within a task.
    void park(Instant until);
    /// As `park`, but whoever rings that bell ends it.
    void park_idle(Instant until, Bell bell);
    /// Those who have nothing to do look again, soon.
    void ring(Bell bell) noexcept;
    /// As `park`, but `wake_all` ends it.
    void park_asleep(Instant until);
    void wake_all() noexcept;
    /// True if it was poked before `until`.
    [[nodiscard]] bool park_in_store(Instant until);
    /// Whoever waits for the store looks again.
    void poke() noexcept;

    [[nodiscard]] Instant now() const noexcept { return now_; }
    /// Since the beginning.
    [[nodiscard]] Duration elapsed() const noexcept { return now_ - start; }
    [[nodiscard]] Timestamp wall() const noexcept;
    [[nodiscard]] const Task* current() const noexcept { return current_; }

    static constexpr Instant start{Duration(std::chrono::hours(1))};

private:
    std::vector<std::unique_ptr<Task>> tasks_;
    Task* current_ = nullptr;
    Instant now_ = start;
};

/// The database server's clock; its waits are waits for the store.
class StoreClock final : public Clock {
public:
    /// `progress` says how much the store has done: whoever waits next may have handed its turn on.
    void serve(Scheduler* scheduler, std::function<std::uint64_t()> progress) {
        scheduler_ = scheduler;
        progress_ = std::move(progress);
    }
    [[nodiscard]] Instant now() const noexcept override;
    [[nodiscard]] Timestamp wall() const noexcept override;
    Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
              std::stop_token stop) override;

private:
    Scheduler* scheduler_ = nullptr;
    std::function<std::uint64_t()> progress_;
    std::uint64_t seen_ = 0;
};

}  // namespace semel::simulation
