#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace semel {

struct BudgetSpec {
    /// How many retries a hundred first tries pay for.
    std::uint32_t retry_percent = 20;
    /// Retries per second that are always there, so that low traffic can retry at all.
    std::uint32_t floor_per_second = 10;
    /// How long a first try pays, and how long a retry is remembered.
    Duration window = std::chrono::seconds(10);
};

/// How many retries one dependency can still bear. First tries deposit a share of a token,
/// retries spend a whole one; both are forgotten after the window. When it is empty, failing fast
/// is better than a retry: the other side is already overwhelmed. Keep one per dependency, since a
/// shared one lets a dead dependency starve the others.
///
/// Integer thousandths of a token, rounded down: over any window, retries never exceed the
/// percentage plus the floor. Thread-safe; a deposit is one atomic addition.
class Budget {
public:
    /// What one retry costs, in the unit of `left`.
    static constexpr std::int64_t retry_cost = 1000;

    /// For a spec that is known to be right; asserts it.
    explicit Budget(const BudgetSpec& spec = {});
    /// For a spec that came from outside: an Error (`rejected`) names the field that is wrong.
    [[nodiscard]] static Result<std::unique_ptr<Budget>> create(const BudgetSpec& spec);

    /// A first try: deposits.
    void on_attempt(Instant now) noexcept {
        const std::uint32_t epoch = epoch_at(now);
        std::atomic<std::uint64_t>& slot = deposits_[epoch % slot_count];
        // If the slot turns between the two lines, the deposit counts in the newer slot.
        if (epoch_of(slot.load(std::memory_order_relaxed)) == epoch) [[likely]] {
            slot.fetch_add(1, std::memory_order_relaxed);
        } else {
            turn_and_deposit(slot, epoch);
        }
    }
    /// Takes one retry out of the budget; false, and nothing taken, if it is empty.
    [[nodiscard]] bool try_spend(Instant now) noexcept;
    /// Thousandths of a retry that are left.
    [[nodiscard]] std::int64_t left(Instant now) const noexcept;

    [[nodiscard]] const BudgetSpec& spec() const noexcept { return spec_; }

private:
    // A slot is forgotten as a whole; ten make the window forget in steps of a tenth.
    static constexpr std::uint32_t slot_count = 10;
    struct Spent {
        std::uint32_t epoch = 0;
        std::int64_t retries = 0;
    };

    // A deposit slot packs the epoch it belongs to and the number of first tries in it. The
    // window's limit keeps the number far below 32 bits.
    [[nodiscard]] static constexpr std::uint32_t epoch_of(std::uint64_t slot) noexcept {
        return static_cast<std::uint32_t>(slot >> 32U);
    }
    [[nodiscard]] std::uint32_t epoch_at(Instant now) const noexcept {
        return static_cast<std::uint32_t>(now.time_since_epoch() / slot_length_);
    }
    static void turn_and_deposit(std::atomic<std::uint64_t>& slot, std::uint32_t epoch) noexcept;
    [[nodiscard]] std::int64_t left_locked(std::uint32_t epoch) const noexcept;

    BudgetSpec spec_;
    Duration slot_length_;
    std::array<std::atomic<std::uint64_t>, slot_count> deposits_{};
    mutable std::mutex mutex_;  // Guards what was spent; deposits only ever add to what is left.
    std::array<Spent, slot_count> spent_{};
};

}  // namespace semel
