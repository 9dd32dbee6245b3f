#include "semel/db/pool.hpp"

#include "semel/base/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace semel {
namespace {

std::string place_text(const PoolMachine::Held& held) {
    const auto seconds = std::chrono::duration<double>(held.since).count();
    return fmt::format("{:.1f} s, borrowed at {}:{} by {}", seconds, held.place.file_name(), held.place.line(),
                       held.place.function_name());
}

/// What this thread borrowed last. Only a hint: the pool may be gone and another stand at its address.
struct LastLoan {
    const Pool* pool = nullptr;
    PoolMachine::Slot slot = 0;
};
thread_local LastLoan last_loan;

Error too_late() {
    Error error;
    error.fault = Fault::unavailable;
    error.cause.timeout = Timeout::total;
    error.message = "pool: the deadline passed while a session was made ready; nothing was sent";
    return error;
}

}  // namespace

Pool::Loan& Pool::Loan::operator=(Loan&& other) noexcept {
    if (this != &other) {
        give_back();
        pool_ = std::exchange(other.pool_, nullptr);
        slot_ = other.slot_;
    }
    return *this;
}

void Pool::Loan::give_back() noexcept {
    if (Pool* pool = std::exchange(pool_, nullptr)) pool->release(slot_);
}

Pool::Pool(Connect connect, const PoolLimits& limits, Clock& clock, Random& random)
    : connect_(std::move(connect)), limits_(limits), clock_(&clock), machine_(limits, random), sessions_(limits.size) {}

Pool::~Pool() {
    const std::lock_guard guard(mutex_);
    if (const auto held = machine_.held_longest(clock_->now()))
        log(LogLevel::error, "a pool was destroyed while a session was on loan: " + place_text(*held));
    SEMEL_ASSERT(machine_.in_use() == 0 && "a session outlived its pool");
}

Result<Pool::Loan> Pool::acquire(Deadline deadline, const std::stop_token& stop, std::source_location place,
                                 Wants wants) {
    auto assignment = SEMEL_TRY(obtain(deadline, stop, place));
    last_loan = {.pool = this, .slot = assignment.slot};
    if (wants == Wants::fresh) assignment.duty = PoolMachine::Duty::connect;
    Loan loan(*this, assignment.slot);
    SEMEL_TRY(make_ready(assignment, deadline));
    if (assignment.duty != PoolMachine::Duty::use && deadline.passed(clock_->now())) return fail(too_late());
    return loan;
}

Result<PoolMachine::Assignment> Pool::obtain(Deadline deadline, const std::stop_token& stop,
                                             std::source_location place) {
    std::unique_lock lock(mutex_);
    const Instant now = clock_->now();
    const auto preferred = last_loan.pool == this ? std::optional(last_loan.slot) : std::nullopt;
    if (const auto at_once = machine_.acquire(now, place, preferred)) return *at_once;
    const Deadline until = deadline.within(now, limits_.acquire_timeout);
    const auto ticket = machine_.enqueue();
    if (!ticket) return fail(exhausted(fmt::format("{} callers already wait for a session", limits_.queue)));

    Waiter self{.granted = {}, .assignment = std::nullopt, .place = place};
    waiters_.emplace(*ticket, &self);
    Wake wake = Wake::notified;
    while (!self.assignment && wake == Wake::notified) wake = clock_->wait(lock, self.granted, until.at(), stop);
    waiters_.erase(*ticket);
    if (self.assignment) return *self.assignment;

    SEMEL_ASSERT(machine_.leave_queue(*ticket));
    if (wake == Wake::stopped) {
        Error error;
        error.fault = Fault::unavailable;
        error.message = "asked to stop while waiting for a session";
        error.cause.stop = Stop::stopped;
        return fail(std::move(error));
    }
    return fail(exhausted(fmt::format("none of {} sessions came free in time", limits_.size)));
}

Status Pool::make_ready(PoolMachine::Assignment assignment, Deadline deadline) {
    std::unique_ptr<Session>& session = sessions_[assignment.slot];
    if (assignment.duty == PoolMachine::Duty::use) return {};
    // Callers in a hurry would else close and open sessions without end, and use none of them.
    const auto at_least = [&] { return std::max(deadline, Deadline::after(clock_->now(), limits_.connect_min)); };
    // A connection that was silently dropped never answers: the time is for the one that replaces it.
    constexpr Duration check_max = std::chrono::seconds(1);
    if (assignment.duty == PoolMachine::Duty::check && session->reset(at_least().within(clock_->now(), check_max)) &&
        session->state() == SessionState::idle)
        return {};
    session.reset();
    auto fresh = connect_(at_least());
    if (!fresh) return fail(std::move(fresh).error());
    session = std::move(*fresh);
    const std::lock_guard guard(mutex_);
    machine_.connected(assignment.slot, clock_->now());
    return {};
}

void Pool::release(PoolMachine::Slot slot) noexcept {
    std::unique_ptr<Session> closing;  // Closed outside the lock: it may talk to the server.
    {
        std::unique_ptr<Session>& session = sessions_[slot];
        const bool usable = session && session->state() == SessionState::idle;
        // Taken out before the slot changes hands; put back only if it may be used again.
        if (!usable) closing = std::move(session);
        const std::lock_guard guard(mutex_);
        const Instant now = clock_->now();
        if (const auto held = machine_.held(slot, now); held && held->since >= limits_.leak_after)
            log(LogLevel::warning, "a session came back late: " + place_text(*held));
        const PoolMachine::Release released = machine_.release(slot, usable, now);
        if (released.close && !closing) closing = std::move(session);
        if (released.next) {
            Waiter& waiter = *waiters_.at(*released.next);
            machine_.hold(slot, now, waiter.place);
            waiter.assignment = released.assignment;
            waiter.granted.notify_one();
        }
    }
}

Error Pool::exhausted(std::string_view what) const {
    Error error;
    error.fault = Fault::throttled;
    error.cause.timeout = Timeout::pool;
    error.message = fmt::format("pool: {}; nothing was sent", what);
    if (const auto held = machine_.held_longest(clock_->now()))
        error.cause.hint = "the session held longest: " + place_text(*held);
    return error;
}

Pool::Usage Pool::usage() const {
    const std::lock_guard guard(mutex_);
    return {limits_.size, machine_.open(), machine_.in_use(), machine_.waiting()};
}

std::vector<PoolMachine::Held> Pool::leaks() const {
    std::vector<PoolMachine::Held> all;
    const std::lock_guard guard(mutex_);
    const Instant now = clock_->now();
    for (PoolMachine::Slot slot = 0; slot < limits_.size; ++slot)
        if (const auto held = machine_.held(slot, now); held && held->since >= limits_.leak_after) all.push_back(*held);
    std::ranges::sort(all, std::greater<>(), &PoolMachine::Held::since);
    return all;
}

}  // namespace semel
