#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <string>

namespace orders {

struct CancelOrder {
    semel::Uuid order_id;
    std::int64_t expected_version = 0;
    std::string reason;
};
/// Cancels an order that is not done, and with it every task that is still open. Refused with NoSuch, WrongState, Stale,
/// or Duplicate naming the command that cancelled it. Should that have been at the same moment, this one fails on the
/// primary key of the cancellations, and then `refuse_second_cancellation` decides.
[[nodiscard]] semel::Result<Handled<Order>> cancel_order(const CancelOrder& asked, semel::Work& work);

/// Names the command that cancelled the order: a Duplicate.
[[nodiscard]] semel::Result<Handled<Order>> refuse_second_cancellation(const CancelOrder& asked, semel::Work& work);

}  // namespace orders
