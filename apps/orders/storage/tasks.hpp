#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// Each attempt of a task is begun once.
inline constexpr std::string_view task_attempt_key = "orders_task_attempt_pkey";

/// With what it needs.
void insert_task(semel::Transaction& tx, std::string_view tenant, const Task& task);

/// `task` over `version_before`. Posted, behind `update_order`: as long as the order is at the version that was read, so
/// are its tasks.
void update_task(semel::Transaction& tx, std::string_view tenant, const Task& task, std::int64_t version_before);

void insert_attempt(semel::Transaction& tx, std::string_view tenant, const Task& task, std::string_view command_id,
                    semel::Timestamp begun_at);
/// The command that began this attempt.
[[nodiscard]] semel::Result<std::optional<std::string>> find_attempt(semel::Transaction& tx, std::string_view tenant,
                                                                     const semel::Uuid& task_id, std::int64_t attempt);

/// With what it needs.
[[nodiscard]] semel::Result<std::optional<Task>> find_task(semel::Database& database, semel::Deadline deadline,
                                                           std::string_view tenant, const semel::Uuid& id);

/// Empty: any.
struct TaskFilter {
    std::string state{};
    std::optional<semel::Uuid> order_id{};
};
/// Without what they need.
[[nodiscard]] semel::Result<std::vector<Task>> list_tasks(semel::Database& database, semel::Deadline deadline,
                                                          std::string_view tenant, const TaskFilter& filter,
                                                          const Slice& slice);

}  // namespace orders
