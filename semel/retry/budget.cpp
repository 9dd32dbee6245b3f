#include "semel/retry/budget.hpp"

#include "semel/base/mutant.hpp"

#include <string>

namespace semel {
namespace {

// Beyond a minute the budget would still pay for retries with traffic that is long gone; below
// a second a slot is too short to hold anything.
constexpr Duration window_min = std::chrono::seconds(1);
constexpr Duration window_max = std::chrono::minutes(1);
constexpr std::uint32_t percent_max = 100;  // More retries than first tries amplify a failure.
constexpr std::uint32_t floor_max = 1'000'000;

Status check(const BudgetSpec& spec) {
    const auto wrong = [](const std::string& text) { return fail(Fault::rejected, "retry budget: " + text); };
    if (spec.retry_percent > percent_max) {
        return wrong("retry_percent must be from 0 to 100, not " + std::to_string(spec.retry_percent));
    }
    if (spec.floor_per_second > floor_max) {
        return wrong("floor_per_second must be from 0 to 1000000, not " + std::to_string(spec.floor_per_second));
    }
    if (spec.retry_percent == 0 && spec.floor_per_second == 0) {
        return wrong("retry_percent and floor_per_second must not both be 0; use a policy of one attempt instead");
    }
    if (spec.window < window_min || spec.window > window_max) {
        return wrong("window must be from 1s to 60s, not " + std::to_string(spec.window.count()) + "ns");
    }
    return {};
}

constexpr std::uint64_t packed(std::uint32_t epoch, std::uint32_t count) noexcept {
    return (std::uint64_t{epoch} << 32U) | count;
}

/// The number of seconds in the window, in thousandths.
std::int64_t thousandths(Duration window) noexcept {
    return std::chrono::duration_cast<std::chrono::milliseconds>(window).count();
}

}  // namespace

Budget::Budget(const BudgetSpec& spec) : spec_(spec), slot_length_(spec.window / slot_count) {
    SEMEL_ASSERT(check(spec));
}

Result<std::unique_ptr<Budget>> Budget::create(const BudgetSpec& spec) {
    SEMEL_TRY(check(spec));
    return std::make_unique<Budget>(spec);
}

void Budget::turn_and_deposit(std::atomic<std::uint64_t>& slot, std::uint32_t epoch) noexcept {
    std::uint64_t seen = slot.load(std::memory_order_relaxed);
    for (;;) {
        // Another thread may have turned it already; one that is a whole window behind must not
        // turn it back.
        const bool turned = static_cast<std::int32_t>(epoch_of(seen) - epoch) >= 0 && seen != 0;
        const std::uint64_t next = turned ? seen + 1 : packed(epoch, 1);
        if (slot.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return;
    }
}

bool Budget::try_spend(Instant now) noexcept {
    const std::uint32_t epoch = epoch_at(now);
    const std::lock_guard guard(mutex_);
    if (left_locked(epoch) < retry_cost) return false;
    Spent& slot = spent_[epoch % slot_count];
    if (slot.epoch != epoch) slot = Spent{epoch, 0};
    ++slot.retries;
    return true;
}

std::int64_t Budget::left(Instant now) const noexcept {
    const std::lock_guard guard(mutex_);
    return left_locked(epoch_at(now));
}

std::int64_t Budget::left_locked(std::uint32_t epoch) const noexcept {
    // A slot of an older window, or of a thread whose clock reading is ahead, is not counted: the
    // unsigned difference is large for both.
    const auto in_window = [epoch](std::uint32_t slot_epoch) { return epoch - slot_epoch < slot_count; };
    std::int64_t first_tries = 0;
    std::int64_t retries = 0;
    for (const auto& slot : deposits_) {
        const std::uint64_t seen = slot.load(std::memory_order_relaxed);
        if (in_window(epoch_of(seen))) first_tries += static_cast<std::int64_t>(seen & 0xffffffffU);
    }
    for (const Spent& slot : spent_) {
        if (in_window(slot.epoch)) retries += slot.retries;
    }
    const std::int64_t percent = SEMEL_MUTANT("budget_rounds_up") ? percent_max : spec_.retry_percent;
    // One per cent of a retry is ten thousandths; a floor per second times thousandths of a second
    // is in thousandths of a retry already.
    return std::int64_t{spec_.floor_per_second} * thousandths(spec_.window) +
           first_tries * percent * (retry_cost / 100) - retries * retry_cost;
}

}  // namespace semel
