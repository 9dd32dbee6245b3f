#pragma once

#include "apps/orders/domain/fulfilment.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>

namespace orders {

// An order with its items and tasks, all of one moment, for a handler that is about to change it: until the transaction
// ends nobody else will. One round trip. None: there is no such order or task.

[[nodiscard]] semel::Result<std::optional<Fulfilment>> load_fulfilment(semel::Transaction& tx, std::string_view tenant,
                                                                       const semel::Uuid& order_id);
[[nodiscard]] semel::Result<std::optional<Fulfilment>> load_fulfilment_of_task(semel::Transaction& tx,
                                                                               std::string_view tenant,
                                                                               const semel::Uuid& task_id);

}  // namespace orders
