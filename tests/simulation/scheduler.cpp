#include "tests/simulation/scheduler.hpp"

#include "semel/base/assert.hpp"

#include <algorithm>
#include <utility>

namespace semel::simulation {

constexpr Timestamp first_day{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

Scheduler::~Scheduler() {
    for (const auto& task : tasks_) SEMEL_ASSERT(task->fiber.done() && "everything ends before its scheduler");
}

void Scheduler::spawn(std::string name, Instant at, std::function<void()> body) {
    tasks_.push_back(std::unique_ptr<Task>(
        new Task{.name = std::move(name), .fiber = Fiber(std::move(body)), .wake = std::max(at, now_)}));
}

bool Scheduler::step() {
    SEMEL_ASSERT(current_ == nullptr);
    // The first of those whose time comes first; tasks are few.
    const auto next = std::ranges::min_element(tasks_, {}, [](const auto& task) { return task->wake; });
    if (next == tasks_.end()) return false;
    Task& task = **next;
    now_ = std::max(now_, task.wake);
    current_ = &task;
    task.fiber.resume();
    current_ = nullptr;
    // A task may have spawned others, so the iterator is of no more use.
    if (task.fiber.done()) std::erase_if(tasks_, [&task](const auto& one) { return one.get() == &task; });
    return true;
}

void Scheduler::park(Instant until) {
    SEMEL_ASSERT(current_ != nullptr && "only a task can wait");
    Task& task = *current_;
    task.wake = std::max(until, now_);
    task.fiber.suspend();
}

void Scheduler::park_idle(Instant until, Bell bell) {
    SEMEL_ASSERT(current_ != nullptr && "only a task can wait");
    Task& task = *current_;
    task.waits_for = bell;
    park(until);
    task.waits_for = Bell::none;
}

void Scheduler::ring(Bell bell) noexcept {
    constexpr Duration soon = std::chrono::milliseconds(5);
    for (const auto& task : tasks_)
        if (task->waits_for == bell) task->wake = std::min(task->wake, now_ + soon);
}

void Scheduler::park_asleep(Instant until) {
    SEMEL_ASSERT(current_ != nullptr && "only a task can wait");
    Task& task = *current_;
    task.asleep = true;
    park(until);
    task.asleep = false;
}

void Scheduler::wake_all() noexcept {
    for (const Bell bell : {Bell::outbox, Bell::broker, Bell::work}) ring(bell);
    for (const auto& task : tasks_)
        if (task->asleep) task->wake = now_;
}

bool Scheduler::park_in_store(Instant until) {
    SEMEL_ASSERT(current_ != nullptr && "only a task can wait");
    Task& task = *current_;
    task.in_store = true;
    task.poked = false;
    park(until);
    task.in_store = false;
    return task.poked;
}

void Scheduler::poke() noexcept {
    for (const auto& task : tasks_) {
        if (!task->in_store || task->poked) continue;
        task->poked = true;
        task->wake = now_;
    }
}

Timestamp Scheduler::wall() const noexcept {
    return first_day + std::chrono::duration_cast<Timestamp::duration>(now_ - start);
}

Instant StoreClock::now() const noexcept { return scheduler_ == nullptr ? Scheduler::start : scheduler_->now(); }

Timestamp StoreClock::wall() const noexcept { return scheduler_ == nullptr ? first_day : scheduler_->wall(); }

Wake StoreClock::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any&, Instant until,
                      std::stop_token) {
    lock.unlock();
    if (const std::uint64_t done = progress_(); std::exchange(seen_, done) != done) scheduler_->poke();
    const bool poked = scheduler_->park_in_store(until);
    lock.lock();
    return poked ? Wake::notified : Wake::timeout;
}

}  // namespace semel::simulation
