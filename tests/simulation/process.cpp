#include "tests/simulation/process.hpp"

#include "tests/simulation/session.hpp"
#include "tests/simulation/world.hpp"

#include <algorithm>

namespace semel::simulation {

Instant Process::now() const noexcept { return alive_ ? world_->scheduler().now() : dead_now_; }

Timestamp Process::wall() const noexcept {
    return world_->scheduler().wall() + std::chrono::duration_cast<Timestamp::duration>(skew_);
}

Wake Process::wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any&, Instant until,
                   std::stop_token stop) {
    if (stop.stop_requested()) return Wake::stopped;
    if (!alive_) {
        dead_now_ = std::max(dead_now_, until);
        return Wake::timeout;
    }
    lock.unlock();
    world_->scheduler().park(until);
    lock.lock();
    return Wake::timeout;
}

void Process::pause(Duration duration) {
    if (alive_) world_->scheduler().park(world_->scheduler().now() + duration);
}

void Process::sleep_for(Duration duration) {
    if (alive_) world_->scheduler().park_asleep(world_->scheduler().now() + duration);
}

void Process::travel() {
    // From ten microseconds to ten milliseconds, each power of ten as likely as the others.
    Duration way = std::chrono::microseconds(10);
    for (std::uint64_t i = random_.below(4); i > 0; --i) way *= 10;
    pause(way + Duration(static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(way.count())))));
}

void Process::die() {
    if (!alive_) return;
    world_->note(name_ + " dies");
    dead_now_ = world_->scheduler().now();
    alive_ = false;
}

void Process::restart() {
    alive_ = true;
    relay_.clear();
    // Calendars differ from machine to machine, and from start to start.
    skew_ = std::chrono::milliseconds(static_cast<std::int64_t>(random_.below(4000)) - 2000);
}

bool Process::killed() {
    if (alive_ && world_->troubles().strikes(Trouble::kill)) die();
    return !alive_;
}

std::unique_ptr<Database> Process::open_database() {
    DatabaseOptions options;
    options.pool.size = 1;  // Which of two sessions it gets would depend on addresses.
    options.catalogue = world_->catalogue();
    options.budget = {.retry_percent = 100, .floor_per_second = 5};
    options.breaker.attempts_min = 5;
    return Database::create([this](Deadline deadline) { return open_session(*this, deadline); }, options, *this,
                            random_)
        .value();
}

}  // namespace semel::simulation
