#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace orders {

// What is told of a task. Each of these changes its order too, which is what keeps two tasks of one order from being
// counted at once: whoever was slower reads again and decides again. Refused with NoSuch, WrongState or Stale.

struct CompleteTask {
    semel::Uuid task_id;
    std::optional<std::int64_t> expected_version{};  ///< None: as it is.
};
/// The last task of an order completes it, and the customer has one asset for each item. Should there be an active one of
/// a product instance already, that fails on a unique index, and then `refuse_taken_instance` decides.
[[nodiscard]] semel::Result<Handled<Task>> complete_task(const CompleteTask& asked, semel::Work& work);

/// Names the asset that is in the way: a Duplicate. Nothing of the completion was kept.
[[nodiscard]] semel::Result<Handled<Task>> refuse_taken_instance(const CompleteTask& asked, semel::Work& work);

struct FailTask {
    semel::Uuid task_id;
    std::optional<std::int64_t> expected_version{};  ///< None: as it is.
    std::string reason{};
};
[[nodiscard]] semel::Result<Handled<Task>> fail_task(const FailTask& asked, semel::Work& work);

struct RetryTask {
    semel::Uuid task_id;
    std::optional<std::int64_t> expected_version{};  ///< None: as it is.
};
/// Each attempt is begun once: the primary key of the attempts says so, and then `refuse_second_attempt` decides.
[[nodiscard]] semel::Result<Handled<Task>> retry_task(const RetryTask& asked, semel::Work& work);

/// The attempt was begun by another command: a Duplicate, unless the task is no longer one to be retried.
[[nodiscard]] semel::Result<Handled<Task>> refuse_second_attempt(const RetryTask& asked, semel::Work& work);

}  // namespace orders
