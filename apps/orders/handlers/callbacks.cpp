#include "apps/orders/handlers/callbacks.hpp"

#include "apps/orders/handlers/tasks.hpp"
#include "apps/orders/storage/callbacks.hpp"
#include "apps/orders/storage/fulfilment.hpp"

namespace orders {
namespace {

/// The state in which a task is once this callback is true.
std::string_view told_state(const ReceiveCallback& asked) {
    return asked.type == callback_type::task_completed ? task_state::completed : task_state::failed;
}

semel::Result<Handled<Task>> apply(const ReceiveCallback& asked, semel::Work& work) {
    if (asked.type == callback_type::task_completed) return complete_task({.task_id = asked.task_id}, work);
    return fail_task({.task_id = asked.task_id, .reason = asked.reason}, work);
}

bool is_so_already(const Refusal& refusal, const ReceiveCallback& asked) {
    const auto* wrong = std::get_if<WrongState>(&refusal);
    return wrong != nullptr && wrong->kind == "task" && wrong->state == told_state(asked);
}

void note(const ReceiveCallback& asked, semel::Work& work) {
    const semel::Identity& identity = work.command.identity;
    insert_callback(work.tx, identity.tenant(),
                    {.integration = asked.integration,
                     .external_id = identity.key(),
                     .command_id = identity.command_id(),
                     .type = asked.type,
                     .received_at = semel::system_clock().wall()});
}

/// Notes the callback if what it tells is so now.
Handled<Received> noted(const ReceiveCallback& asked, const Handled<Task>& handled, semel::Work& work) {
    const auto* refusal = std::get_if<Refusal>(&handled);
    if (refusal != nullptr && !is_so_already(*refusal, asked)) return *refusal;
    note(asked, work);
    return refusal == nullptr ? Received::applied : Received::already_done;
}

/// Which attempt the task is at; none: there is no such task.
semel::Result<std::optional<std::int64_t>> attempt_of(const ReceiveCallback& asked, semel::Work& work) {
    const auto found = SEMEL_TRY(load_fulfilment_of_task(work.tx, work.command.identity.tenant(), asked.task_id));
    if (!found) return std::nullopt;
    return found->find(asked.task_id)->attempt;
}

}  // namespace

semel::Result<Handled<Received>> receive_callback(const ReceiveCallback& asked, semel::Work& work) {
    const semel::Identity& identity = work.command.identity;
    // The reply may be forgotten; that it was received is not.
    if (SEMEL_TRY(has_callback(work.tx, identity.tenant(), asked.integration, identity.key())))
        return Received::already_done;
    const auto attempt = SEMEL_TRY(attempt_of(asked, work));
    if (!attempt) return Refusal(NoSuch{"task"});
    if (asked.attempt > *attempt)
        return Refusal(
            Unacceptable{.field = "attempt", .detail = "The task is at attempt " + std::to_string(*attempt) + "."});
    if (asked.attempt < *attempt) {
        note(asked, work);
        return Received::superseded;
    }
    return noted(asked, SEMEL_TRY(apply(asked, work)), work);
}

semel::Result<Handled<Received>> refuse_callback_of_taken_instance(const ReceiveCallback& asked, semel::Work& work) {
    return noted(asked, SEMEL_TRY(refuse_taken_instance({.task_id = asked.task_id}, work)), work);
}

}  // namespace orders
