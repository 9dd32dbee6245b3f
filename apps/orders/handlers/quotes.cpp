#include "apps/orders/handlers/quotes.hpp"

#include "apps/orders/handlers/events.hpp"
#include "apps/orders/storage/quotes.hpp"

namespace orders {
namespace {

/// The guard did not hold: why, as this transaction sees it.
semel::Result<Refusal> why_not(const AddQuoteItem& asked, semel::Work& work) {
    const auto found = SEMEL_TRY(quote_state_of(work.tx, work.command.identity.tenant(), asked.quote_id));
    switch (SEMEL_TRY(semel::interpret(adding_an_item(asked.expected_version), 0, found))) {
        case semel::Applied::missing: return NoSuch{"quote"};
        case semel::Applied::invalid:
            return WrongState{
                .state = found->state, .version = found->version, .needed = std::string(quote_state::draft)};
        case semel::Applied::applied:
        // One version on in the same state is somebody else's item here: our own repeat would have been replayed.
        case semel::Applied::already_applied:
        case semel::Applied::stale: break;
    }
    return Stale{found->version};
}

}  // namespace

Quote create_quote(const CreateQuote& asked, semel::Work& work) {
    Quote quote{.id = semel::new_uuid(),
                .customer_id = asked.customer_id,
                .currency = asked.currency,
                .created_at = semel::system_clock().wall()};
    insert_quote(work.tx, work.command.identity.tenant(), quote);
    work.outbox.append(quote_created(work.command, quote));
    return quote;
}

semel::Result<Handled<QuoteItem>> add_quote_item(const AddQuoteItem& asked, semel::Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    const auto count =
        SEMEL_TRY(advance_quote_by_item(work.tx, tenant, asked.quote_id, quote_state::draft, asked.expected_version));
    if (!count) return SEMEL_TRY(why_not(asked, work));
    if (*count > static_cast<std::int64_t>(quote_items_max)) return Refusal(Full{"items", quote_items_max});
    QuoteItem item{.id = semel::new_uuid(),
                   .sku = asked.sku,
                   .quantity = asked.quantity,
                   .unit_price = asked.unit_price,
                   .since_version = asked.expected_version + 1};
    insert_quote_item(work.tx, tenant, asked.quote_id, item);
    work.outbox.append(quote_item_added(work.command, asked.quote_id, item));
    return item;
}

}  // namespace orders
