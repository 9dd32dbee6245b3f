#pragma once

#include "apps/orders/domain/order.hpp"
#include "semel/db/rows.hpp"

namespace orders {

// What a row of an order, an item or a task is. The columns carry the names of what they belong to (order_id, task_state),
// because some statements read all three at once.

[[nodiscard]] semel::Result<Order> order_from(const semel::Row& row);
[[nodiscard]] semel::Result<OrderItem> order_item_from(const semel::Row& row);
/// Without what it needs.
[[nodiscard]] semel::Result<Task> task_from(const semel::Row& row);

}  // namespace orders
