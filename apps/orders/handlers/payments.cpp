#include "apps/orders/handlers/payments.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/events.hpp"
#include "apps/orders/storage/payments.hpp"

namespace orders {
namespace {

Payment payment_of(const CreatePayment& asked) {
    return {.id = semel::new_uuid(),
            .reference = asked.reference,
            .amount = asked.amount,
            .currency = asked.currency,
            .created_at = semel::system_clock().wall()};
}

}  // namespace

Payment create_payment(const CreatePayment& asked, semel::Work& work) {
    Payment payment = payment_of(asked);
    insert_payment(work.tx, work.command.identity.tenant(), payment);
    record(work, {.kind = "payment",
                  .id = payment.id,
                  .event = "payment.created",
                  .to = "RECEIVED",
                  .payload = payment_created(payment)});
    return payment;
}

semel::Result<Handled<Payment>> settle_payment(const CreatePayment& asked, semel::Work& work) {
    auto existing = SEMEL_TRY(find_payment_of_reference(work.tx, work.command.identity.tenant(), asked.reference));
    // It was deleted in between: from the beginning.
    if (!existing) return create_payment(asked, work);
    if (existing->agrees_with(payment_of(asked))) return *std::move(existing);
    return Refusal(Duplicate{.kind = "payment",
                             .existing = existing->id.text(),
                             .detail = "A payment of this reference exists with another amount or currency."});
}

semel::Result<SettledPayment> settle_or_create_payment(const CreatePayment& asked, semel::Work& work) {
    const auto existing =
        SEMEL_TRY(find_payment_of_reference(work.tx, work.command.identity.tenant(), asked.reference));
    if (existing) return SettledPayment{.handled = SEMEL_TRY(settle_payment(asked, work))};
    SettledPayment settled{.handled = create_payment(asked, work), .is_new = true};
    auto written = work.tx.flush();
    if (written) return settled;
    if (written.error().cause.constraint == payment_reference_key) written.error().fault = semel::Fault::conflict;
    return semel::fail(std::move(written).error());
}

}  // namespace orders
