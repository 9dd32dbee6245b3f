#include "apps/orders/handlers/invoices.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/events.hpp"
#include "apps/orders/storage/invoices.hpp"

namespace orders {

semel::Result<Handled<Invoice>> issue_invoice(const IssueInvoice& asked, semel::Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    Invoice invoice{.id = semel::new_uuid(),
                    .order_id = asked.order_id,
                    .customer_id = asked.customer_id,
                    .currency = asked.currency,
                    .sums = asked.sums,
                    .issued_at = semel::system_clock().wall()};
    // The message may be older than what the inbox remembers.
    if (auto there = SEMEL_TRY(find_invoice_of_order(work.tx, tenant, asked.order_id))) {
        if (there->agrees_with(invoice)) return *std::move(there);
        return Refusal(Duplicate{.kind = "invoice",
                                 .existing = there->id.text(),
                                 .detail = "The order was invoiced already, and not with these sums."});
    }
    insert_invoice(work.tx, tenant, invoice);
    record(work, {.kind = "invoice",
                  .id = invoice.id,
                  .parent = invoice.order_id,
                  .event = invoice_issued_event,
                  .to = invoice_issued_state,
                  .payload = invoice_issued(invoice)});
    return invoice;
}

}  // namespace orders
