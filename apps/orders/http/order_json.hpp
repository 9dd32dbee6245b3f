#pragma once

#include "apps/orders/domain/asset.hpp"
#include "apps/orders/domain/order.hpp"

#include <optional>
#include <string>
#include <vector>

namespace orders {

// The representations of orders, tasks and assets: JSON text, as http/schemas has it. Sums are strings.

/// The items of an order and the needs of a task are left out where they were not read: in collections.
[[nodiscard]] std::string json_of(const Order& order);
[[nodiscard]] std::string json_of(const Task& task);
[[nodiscard]] std::string json_of(const Asset& asset);

[[nodiscard]] std::string json_of(const std::vector<Order>& found, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<Task>& found, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<Asset>& found, const std::optional<std::string>& next);

}  // namespace orders
