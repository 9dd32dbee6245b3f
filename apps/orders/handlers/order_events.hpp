#pragma once

#include "apps/orders/domain/asset.hpp"
#include "apps/orders/domain/fulfilment.hpp"

#include <string>
#include <string_view>

namespace orders {

// What other systems are told of orders, tasks and assets: the payloads of the contracts docs/events/order.*, task.* and
// asset.*.v1.json, as JSON text. Each says how the thing is now. Sums are strings, as in the API.

[[nodiscard]] std::string order_created_payload(const Fulfilment& made);
/// Of order.progressed, order.held and order.completed.
[[nodiscard]] std::string order_payload(const Order& order);
[[nodiscard]] std::string order_cancelled_payload(const Order& order, std::string_view reason);
[[nodiscard]] std::string order_repaired_payload(const Order& order, std::string_view action,
                                                 const semel::Uuid& task_id, std::string_view reason);
/// Of every event of a task.
[[nodiscard]] std::string task_payload(const Task& task);
/// Of every event of an asset.
[[nodiscard]] std::string asset_payload(const Asset& asset);

}  // namespace orders
