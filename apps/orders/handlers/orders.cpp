#include "apps/orders/handlers/orders.hpp"

#include "apps/orders/handlers/fulfilment.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/fulfilment.hpp"
#include "apps/orders/storage/orders.hpp"

namespace orders {
namespace {

semel::Result<std::optional<Refusal>> cancellation_in_the_way(const semel::Uuid& order_id, semel::Work& work) {
    const auto command = SEMEL_TRY(find_cancellation(work.tx, work.command.identity.tenant(), order_id));
    if (!command) return std::nullopt;
    return Refusal(Duplicate{.kind = "cancellation",
                             .existing = *command,
                             .detail = "The order was cancelled already, by another command."});
}

}  // namespace

semel::Result<Handled<Order>> cancel_order(const CancelOrder& asked, semel::Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    const auto found = SEMEL_TRY(load_fulfilment(work.tx, tenant, asked.order_id));
    if (!found) return Refusal(NoSuch{"order"});
    if (found->order.state == order_state::cancelled) {
        if (auto refusal = SEMEL_TRY(cancellation_in_the_way(asked.order_id, work))) return *std::move(refusal);
    }
    if (auto refusal = obstacle(order_step::cancel, found->order.snapshot(), asked.expected_version))
        return *std::move(refusal);
    const Progress progress = after_cancellation(*found);
    insert_cancellation(work.tx, tenant,
                        {.order_id = asked.order_id,
                         .command_id = work.command.identity.command_id(),
                         .reason = asked.reason,
                         .by = work.command.identity.caller(),
                         .at = semel::system_clock().wall()});
    write(work, progress, order_cancelled_payload(progress.order, asked.reason), asked.reason);
    return progress.order;
}

semel::Result<Handled<Order>> refuse_second_cancellation(const CancelOrder& asked, semel::Work& work) {
    if (auto refusal = SEMEL_TRY(cancellation_in_the_way(asked.order_id, work))) return *std::move(refusal);
    // It is gone again: from the beginning.
    return cancel_order(asked, work);
}

}  // namespace orders
