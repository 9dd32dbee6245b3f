#pragma once

#include "apps/orders/domain/asset.hpp"
#include "apps/orders/domain/order.hpp"
#include "apps/orders/domain/quote.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

// How an order gets done: what has to be done for it, and what one step of one task means for everything else. All of it
// is decided here, by values alone; handlers/fulfilment.hpp writes it down.

/// Where the ids of new things come from: chance in the service, a counter in tests.
using NewId = std::function<semel::Uuid()>;

/// An order with its items and all its tasks, as of one moment.
struct Fulfilment {
    Order order;
    std::vector<Task> tasks{};

    [[nodiscard]] const Task* find(const semel::Uuid& task_id) const noexcept;
};

/// The order that an accepted quote becomes, with the same items and sums. Each item is reserved (which can begin at
/// once) and then provisioned; when all are, the order is activated.
[[nodiscard]] Fulfilment plan(const Quote& quote, std::string_view target_date, semel::Timestamp now,
                              const NewId& new_id);

/// One task after a step.
struct TaskChange {
    Task task;
    std::string from{};        ///< Its state before.
    std::string_view event{};  ///< Empty: it only waits for one task less. That makes no new version, and is not told.
};

/// An order after a step, and the tasks that changed with it: the one that took the step comes first.
struct Progress {
    Order order;
    std::string from{};
    std::string_view event{};
    std::vector<TaskChange> tasks{};
};

/// What stands in the way of a step of this task. No expected version: the task is taken as it is. Where the order is
/// done or cancelled no task takes a step.
[[nodiscard]] std::optional<Refusal> obstacle(const Step& step, const Fulfilment& found, const Task& task,
                                              std::optional<std::int64_t> expected_version);

/// Begins every task that may begin. None: there is no such task, or the order is done or cancelled.
[[nodiscard]] std::optional<Progress> after_start(const Fulfilment& before);

// Each of these takes for granted that nothing stands in the way. `task` is one of `before`.

/// Completed, or skipped by a person. Tasks that waited for nothing else become ready; the last one completes the order.
[[nodiscard]] Progress after_completion(const Fulfilment& before, const Task& task, const Step& step);
/// Failed: the order is held until the task is retried or the order repaired.
[[nodiscard]] Progress after_failure(const Fulfilment& before, const Task& task, std::string_view reason);
/// Ready for another attempt: the order goes on, unless another task has failed.
[[nodiscard]] Progress after_retry(const Fulfilment& before, const Task& task);
/// Nothing more is done for the order: every task that is still open is cancelled with it.
[[nodiscard]] Progress after_cancellation(const Fulfilment& before);

/// What the customer has when the order is completed: one for each item. Sorted by instance key, so that two orders that
/// claim the same instances meet at the first and not crosswise.
[[nodiscard]] std::vector<Asset> assets_of(const Order& order, semel::Timestamp now, const NewId& new_id);

}  // namespace orders
