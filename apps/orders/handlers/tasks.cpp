#include "apps/orders/handlers/tasks.hpp"

#include "apps/orders/handlers/fulfilment.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/fulfilment.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {

using semel::Result;
using semel::Work;

Result<Handled<Task>> complete_task(const CompleteTask& asked, Work& work) {
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, work.command.identity.tenant(), asked.task_id));
    if (!found) return Refusal(NoSuch{"task"});
    const Task& task = *found->find(asked.task_id);
    if (auto refusal = obstacle(task_step::complete, *found, task, asked.expected_version)) return *std::move(refusal);
    const Progress progress = after_completion(*found, task, task_step::complete);
    write(work, progress, order_payload(progress.order));
    return progress.tasks.front().task;
}

Result<Handled<Task>> refuse_taken_instance(const CompleteTask& asked, Work& work) {
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, work.command.identity.tenant(), asked.task_id));
    if (!found) return Refusal(NoSuch{"task"});
    if (auto refusal = obstacle(task_step::complete, *found, *found->find(asked.task_id), asked.expected_version))
        return *std::move(refusal);
    if (auto refusal = SEMEL_TRY(asset_in_the_way(work, found->order.id))) return *std::move(refusal);
    // It has ended in between: from the beginning.
    return complete_task(asked, work);
}

Result<Handled<Task>> fail_task(const FailTask& asked, Work& work) {
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, work.command.identity.tenant(), asked.task_id));
    if (!found) return Refusal(NoSuch{"task"});
    const Task& task = *found->find(asked.task_id);
    if (auto refusal = obstacle(task_step::fail, *found, task, asked.expected_version)) return *std::move(refusal);
    const Progress progress = after_failure(*found, task, asked.reason);
    write(work, progress, order_payload(progress.order), asked.reason);
    return progress.tasks.front().task;
}

Result<Handled<Task>> retry_task(const RetryTask& asked, Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, tenant, asked.task_id));
    if (!found) return Refusal(NoSuch{"task"});
    const Task& task = *found->find(asked.task_id);
    if (auto refusal = obstacle(task_step::retry, *found, task, asked.expected_version)) return *std::move(refusal);
    const Progress progress = after_retry(*found, task);
    insert_attempt(work.tx, tenant, progress.tasks.front().task, work.command.identity.command_id(),
                   semel::system_clock().wall());
    write(work, progress, order_payload(progress.order));
    return progress.tasks.front().task;
}

Result<Handled<Task>> refuse_second_attempt(const RetryTask& asked, Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, tenant, asked.task_id));
    if (!found) return Refusal(NoSuch{"task"});
    const Task& task = *found->find(asked.task_id);
    if (auto refusal = obstacle(task_step::retry, *found, task, asked.expected_version)) return *std::move(refusal);
    if (auto refusal = SEMEL_TRY(attempt_in_the_way(work, task.id, task.attempt + 1))) return *std::move(refusal);
    // It is gone again: from the beginning.
    return retry_task(asked, work);
}

}  // namespace orders
