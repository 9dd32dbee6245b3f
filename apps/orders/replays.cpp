#include "apps/orders/replays.hpp"

#include "apps/orders/storage/audit.hpp"
#include "semel/base/log.hpp"
#include "semel/db/transact.hpp"

namespace orders {
namespace {

/// More commands than this between two writes, and the rest is not counted: memory has an end.
constexpr std::size_t commands_max = 10'000;
constexpr semel::Duration write_limit = std::chrono::seconds(5);

}  // namespace

ReplayCounter::ReplayCounter(semel::Database& database, semel::Duration every)
    : database_(&database), thread_([this, every](const std::stop_token& stop) {
          semel::Clock& clock = database_->clock();
          while (clock.sleep(clock.now() + every, stop) == semel::Wake::timeout) write();
      }) {}

ReplayCounter::~ReplayCounter() {
    thread_.request_stop();
    thread_.join();
    write();
}

void ReplayCounter::count(const semel::Identity& identity) {
    const std::lock_guard guard(mutex_);
    auto found = counts_.find(identity.digest());
    if (found == counts_.end()) {
        if (counts_.size() >= commands_max) return;
        found =
            counts_
                .emplace(identity.digest(), Counted{.tenant = identity.tenant(), .command_id = identity.command_id()})
                .first;
    }
    ++found->second.replays;
}

ReplayCounter::Counts ReplayCounter::take() {
    const std::lock_guard guard(mutex_);
    return std::exchange(counts_, {});
}

void ReplayCounter::put_back(const Counts& counts) {
    const std::lock_guard guard(mutex_);
    for (const auto& [digest, counted] : counts) {
        const auto now =
            counts_.emplace(digest, Counted{.tenant = counted.tenant, .command_id = counted.command_id}).first;
        now->second.replays += counted.replays;
    }
}

void ReplayCounter::write() {
    const Counts counts = take();
    if (counts.empty()) return;
    semel::TransactOptions options;
    options.deadline = semel::Deadline::after(database_->clock().now(), write_limit);
    const auto outcome = semel::transact(*database_, options, [&](semel::Transaction& tx) -> semel::Status {
        // In one order, so that two instances that write the same ones do not wait for each other in a circle.
        for (const auto& [digest, counted] : counts)
            add_replays(tx, counted.tenant, counted.command_id, counted.replays, database_->clock().wall());
        return {};
    });
    if (outcome.committed()) return;
    semel::log(semel::LogLevel::warning, "counting replays: " + outcome.error().describe());
    if (!outcome.unknown()) put_back(counts);
}

}  // namespace orders
