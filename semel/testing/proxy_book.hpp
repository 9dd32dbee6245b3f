#pragma once

#include "semel/base/random.hpp"
#include "semel/testing/proxy_plan.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace semel::testing::detail {

/// The plans and counters of a proxy: tests write plans and read counters, its thread the other
/// way round. Thread-safe.
class ProxyBook {
public:
    explicit ProxyBook(std::uint64_t seed) noexcept : random_(seed) {}

    void set_plan(const ProxyPlan& plan, ProxyScope scope) {
        const std::lock_guard guard(mutex_);
        switch (scope) {
            case ProxyScope::next_connection: next_connection_ = plan; break;
            case ProxyScope::next_commit: next_commit_ = plan; break;
            case ProxyScope::every_connection: every_connection_ = plan; break;
        }
    }
    void clear_plans() {
        const std::lock_guard guard(mutex_);
        next_connection_.reset();
        next_commit_.reset();
        every_connection_ = ProxyPlan::pass();
    }

    /// The plan of a conversation that starts now, if there is one of its own.
    [[nodiscard]] std::optional<ProxyPlan> take_for_connection() {
        const std::lock_guard guard(mutex_);
        return std::exchange(next_connection_, std::nullopt);
    }
    /// For a COMMIT in a conversation without a plan of its own.
    [[nodiscard]] ProxyPlan take_for_commit() {
        const std::lock_guard guard(mutex_);
        return std::exchange(next_commit_, std::nullopt).value_or(every_connection_);
    }
    [[nodiscard]] ProxyPlan for_every_connection() const {
        const std::lock_guard guard(mutex_);
        return every_connection_;
    }
    [[nodiscard]] Duration random_part_of(Duration whole) {
        const std::lock_guard guard(mutex_);
        return Duration(random_.below(static_cast<std::uint64_t>(whole.count()) + 1));
    }

    void count(std::uint64_t ProxyCounters::* counter) {
        const std::lock_guard guard(mutex_);
        ++(counters_.*counter);
        counted_.notify_all();
    }
    [[nodiscard]] ProxyCounters counters() const {
        const std::lock_guard guard(mutex_);
        return counters_;
    }
    [[nodiscard]] bool await(const std::function<bool(const ProxyCounters&)>& satisfied, Duration limit) const {
        std::unique_lock lock(mutex_);
        return counted_.wait_for(lock, limit, [&] { return satisfied(counters_); });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable counted_;
    std::optional<ProxyPlan> next_connection_;
    std::optional<ProxyPlan> next_commit_;
    ProxyPlan every_connection_;
    ProxyCounters counters_;
    SeededRandom random_;
};

}  // namespace semel::testing::detail
