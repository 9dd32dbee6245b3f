#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace orders {

namespace repair_action {

inline constexpr std::string_view skip_task = "SKIP_TASK";    ///< Somebody saw to it elsewhere: counts as completed.
inline constexpr std::string_view reset_task = "RESET_TASK";  ///< Another attempt.
inline constexpr std::array all{skip_task, reset_task};

}  // namespace repair_action

struct RepairOrder {
    semel::Uuid order_id;
    std::int64_t expected_version = 0;
    std::string action;  ///< One of repair_action.
    semel::Uuid task_id;
    std::string reason;
};
/// A person sets a held order going again: a command like any other, with identity, guard, event and audit, and the reason
/// besides. Refused with NoSuch, WrongState, Stale, Unacceptable for a task of another order, and Duplicate: see below.
/// Where it completes the order, that is what the order's event says; else that it was repaired.
[[nodiscard]] semel::Result<Handled<Order>> repair_order(const RepairOrder& asked, semel::Work& work);

/// Whichever unique key it failed on: the repair was done before (under a key whose reply is no longer kept), the attempt
/// was begun, or an asset that it would make is there. A Duplicate naming it, unless it is gone again.
[[nodiscard]] semel::Result<Handled<Order>> refuse_repair(const RepairOrder& asked, semel::Work& work);

}  // namespace orders
