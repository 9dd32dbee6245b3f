#pragma once

#include "apps/orders/domain/fulfilment.hpp"
#include "semel/command/command.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace orders {

/// Writes down what a step changed: the order first, which is the one guard of all its tasks, then the tasks, and the
/// assets of an order that it completed; each with its event and its line of the audit. Only posts.
void write(semel::Work& work, const Progress& progress, std::string order_payload, std::string_view reason = {});

/// Why the assets of this order could not be made: a Duplicate naming the one that is there. None: nothing is in the way
/// any more.
[[nodiscard]] semel::Result<std::optional<Refusal>> asset_in_the_way(semel::Work& work, const semel::Uuid& order_id);

/// The same of an attempt of a task that another command has begun.
[[nodiscard]] semel::Result<std::optional<Refusal>> attempt_in_the_way(semel::Work& work, const semel::Uuid& task_id,
                                                                       std::int64_t attempt);

}  // namespace orders
