#pragma once

#include "semel/command/command.hpp"
#include "semel/consumer/handling.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel::simulation {

/// What the triggers write down.
enum class Logged : std::uint8_t {
    effect,
    event,
    pending_added,
    pending_removed,
    parked,
    unparked,
    event_removed,
    record_removed,
    record_expired,
    consumed,
    inbox_removed,
    money,
    note,
    taken_over,
    record_failed,
};

inline constexpr int shop_created = 201;
inline constexpr int shop_refused = 422;
inline constexpr int account_count = 4;
inline constexpr std::int64_t account_begins_with = 500;
inline constexpr std::int64_t money_in_all = account_count * account_begins_with;
inline constexpr std::array<std::string_view, 2> consumers{"ledger", "audit"};

/// The business of the simulation and the triggers that watch it and Semel's tables.
[[nodiscard]] std::string_view shop_schema() noexcept;

/// What one call of a client asks for.
struct Transfer {
    std::size_t intent = 0;
    std::int64_t call = 0;
    int from = 0;
    int to = 0;
    std::int64_t amount = 0;
    bool final_refusal = false;  ///< A refusal of it is stored.
};

[[nodiscard]] std::string reply_body(std::size_t intent, std::int64_t call, std::int64_t amount);

/// Moves the money without looking: everything goes out with COMMIT.
[[nodiscard]] Result<CommandDecision> transfer_blindly(Work& work, const Transfer& transfer);
/// Looks first, and writes what it has computed: a lost update would show in the sum.
[[nodiscard]] Result<CommandDecision> transfer_by_reading(Work& work, const Transfer& transfer);
/// The same in a transaction of one's own.
void write_plainly(Transaction& tx, Outbox& outbox, const Transfer& transfer);
/// After the bank has paid: without a guard, since there is no way back.
[[nodiscard]] Result<CommandDecision> transfer_paid(Work& work, const Transfer& transfer);
/// The effect of a message, of which there must be one.
[[nodiscard]] Status consume(ConsumerWork& work, std::string_view consumer);

}  // namespace semel::simulation
