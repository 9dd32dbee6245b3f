#include "apps/orders/handlers/repair.hpp"

#include "apps/orders/handlers/fulfilment.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/fulfilment.hpp"
#include "apps/orders/storage/orders.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Work;

bool is_skip(const RepairOrder& asked) { return asked.action == repair_action::skip_task; }

std::optional<Refusal> obstacle_of(const RepairOrder& asked, const Fulfilment& found) {
    if (auto refusal = obstacle(order_step::repair, found.order.snapshot(), asked.expected_version)) return refusal;
    const Task* task = found.find(asked.task_id);
    if (task == nullptr) return Unacceptable{.field = "taskId", .detail = "The order has no such task."};
    return obstacle(is_skip(asked) ? task_step::skip : task_step::retry, found, *task, std::nullopt);
}

}  // namespace

Result<Handled<Order>> repair_order(const RepairOrder& asked, Work& work) {
    const semel::Identity& identity = work.command.identity;
    const auto found = SEMEL_TRY(load_fulfilment(work.tx, identity.tenant(), asked.order_id));
    if (!found) return Refusal(NoSuch{"order"});
    if (auto refusal = obstacle_of(asked, *found)) return *std::move(refusal);
    const Task& task = *found->find(asked.task_id);
    const semel::Timestamp now = semel::system_clock().wall();
    Progress progress = is_skip(asked) ? after_completion(*found, task, task_step::skip) : after_retry(*found, task);
    if (progress.order.state != order_state::completed) progress.event = order_step::repair.event;
    insert_repair(work.tx, identity.tenant(),
                  {.command_id = identity.command_id(),
                   .order_id = asked.order_id,
                   .task_id = asked.task_id,
                   .action = asked.action,
                   .reason = asked.reason,
                   .by = identity.caller(),
                   .at = now});
    if (!is_skip(asked))
        insert_attempt(work.tx, identity.tenant(), progress.tasks.front().task, identity.command_id(), now);
    std::string payload = progress.event == order_step::repair.event
                              ? order_repaired_payload(progress.order, asked.action, asked.task_id, asked.reason)
                              : order_payload(progress.order);
    write(work, progress, std::move(payload), asked.reason);
    return progress.order;
}

Result<Handled<Order>> refuse_repair(const RepairOrder& asked, Work& work) {
    const semel::Identity& identity = work.command.identity;
    if (SEMEL_TRY(has_repair(work.tx, identity.tenant(), identity.command_id())))
        return Refusal(Duplicate{.kind = "repair",
                                 .existing = identity.command_id(),
                                 .detail = "The order was repaired under this key before."});
    const auto found = SEMEL_TRY(load_fulfilment(work.tx, identity.tenant(), asked.order_id));
    if (!found) return Refusal(NoSuch{"order"});
    if (auto refusal = obstacle_of(asked, *found)) return *std::move(refusal);
    auto refusal = is_skip(asked)
                       ? SEMEL_TRY(asset_in_the_way(work, asked.order_id))
                       : SEMEL_TRY(attempt_in_the_way(work, asked.task_id, found->find(asked.task_id)->attempt + 1));
    if (refusal) return *std::move(refusal);
    // It is gone again: from the beginning.
    return repair_order(asked, work);
}

}  // namespace orders
