#include "apps/orders/handlers/quotes.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/quote_events.hpp"
#include "apps/orders/storage/catalogue.hpp"
#include "apps/orders/storage/quotes.hpp"

#include <algorithm>

namespace orders {
namespace {

using semel::Result;
using semel::Work;

const std::string& tenant_of(const Work& work) { return work.command.identity.tenant(); }

Refusal not_listed(const std::string& sku, const std::string& currency) {
    return Unacceptable{.field = "sku",
                        .detail = "The catalogue has no price of " + sku + " in " + currency +
                                  "; give a `unitPrice` if one was agreed."};
}

Refusal beyond_count(const semel::Error& error) {
    return Unacceptable{.field = "quantity", .detail = "The price cannot be computed: " + error.message + "."};
}

/// What a line costs. The product is none where the catalogue does not know it: then only an agreed price will do.
Handled<LinePrice> price_of(const QuoteItem& line, const Product* product, const std::string& currency) {
    if (!line.price.agreed && (product == nullptr || !product->list_price)) return not_listed(line.sku, currency);
    const auto price = line.price.agreed ? price_as_agreed(line.price.unit_price,
                                                           product == nullptr ? standard_tax_rate : product->tax_rate,
                                                           line.quantity, currency)
                                         : price_from_list(*product, line.quantity, currency);
    if (!price) return beyond_count(price.error());
    return *price;
}

std::string run_of(const RepriceQuote& asked, const Work& work) {
    return asked.price_run_id.empty() ? work.command.identity.command_id() : asked.price_run_id;
}

Result<std::optional<Refusal>> priced_already(const RepriceQuote& asked, Work& work) {
    const std::string run = run_of(asked, work);
    if (!SEMEL_TRY(has_price_run(work.tx, tenant_of(work), asked.quote.id, run))) return std::nullopt;
    return Duplicate{.kind = "price run", .existing = run, .detail = "The quote was priced by this run already."};
}

}  // namespace

Result<Handled<Quote>> quote_for(const Step& step, const SeenQuote& seen, Work& work, Already already) {
    const auto found = SEMEL_TRY(load_quote(work.tx, tenant_of(work), seen.id, work.command.identity.caller()));
    if (!found) return Refusal(NoSuch{"quote"});
    Quote quote = found->as_of(semel::system_clock().wall());
    auto refusal = already == nullptr ? std::nullopt : already(quote);
    if (!refusal) refusal = obstacle(step, quote.snapshot(), seen.version);
    if (refusal) return *std::move(refusal);
    return quote;
}

Handled<Quote> create_quote(const CreateQuote& asked, const QuotePolicy& policy, Work& work) {
    const semel::Timestamp now = semel::system_clock().wall();
    const auto valid_until = policy.standing(asked.valid_until, now);
    if (const auto* refusal = std::get_if<Refusal>(&valid_until)) return *refusal;
    Quote quote{.id = semel::new_uuid(),
                .customer_id = asked.customer_id,
                .currency = asked.currency,
                .sums = Sums::none(asked.currency),
                .valid_until = std::get<semel::Timestamp>(valid_until),
                .created_at = now};
    insert_quote(work.tx, tenant_of(work), quote);
    record(work, {.kind = "quote",
                  .id = quote.id,
                  .event = "quote.created",
                  .to = quote.state,
                  .version = quote.version,
                  .payload = quote_created_payload(quote)});
    return quote;
}

Result<Handled<Quote>> add_quote_item(const AddQuoteItem& asked, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::add_item, asked.quote, work));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    if (quote.items.size() >= quote_items_max) return Refusal(Full{"items", quote_items_max});
    if (!asked.instance_key.empty() &&
        std::ranges::find(quote.items, asked.instance_key, &QuoteItem::instance_key) != quote.items.end())
        return Refusal(Unacceptable{.field = "instanceKey",
                                    .detail = "The quote has an item of the instance " + asked.instance_key +
                                              " already, and a customer has one asset of an instance."});
    if (!quote.items.empty() && quote.items.back().since_version > quote.version)
        return Refusal(Duplicate{.kind = "item",
                                 .existing = quote.items.back().id.text(),
                                 .detail = "This version of the quote has brought an item already."});
    QuoteItem item{.id = semel::new_uuid(),
                   .sku = asked.sku,
                   .quantity = asked.quantity,
                   .instance_key = asked.instance_key,
                   .price = {.unit_price = asked.unit_price.value_or(0), .agreed = asked.unit_price.has_value()},
                   .price_run_id = work.command.identity.command_id(),
                   .since_version = quote.version + 1};
    const auto product = SEMEL_TRY(load_product(work.tx, asked.sku, quote.currency));
    auto price = price_of(item, product ? &*product : nullptr, quote.currency);
    if (auto* refusal = std::get_if<Refusal>(&price)) return std::move(*refusal);
    item.price = std::get<LinePrice>(price);
    const auto sums = quote.sums.plus(item.price.sums);
    if (!sums) return beyond_count(sums.error());

    quote.version += 1;
    quote.item_count += 1;
    quote.sums = *sums;
    quote.items.push_back(item);
    insert_quote_item(work.tx, tenant_of(work), quote.id, item);
    update_quote(work.tx, tenant_of(work), quote);
    record(work, {.kind = "quote",
                  .id = quote.id,
                  .event = quote_step::add_item.event,
                  .from = quote_state::draft,
                  .to = quote.state,
                  .version = quote.version,
                  .payload = quote_item_added_payload(quote, item)});
    return ready;
}

Result<Handled<Quote>> reprice_quote(const RepriceQuote& asked, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::reprice, asked.quote, work));
    if (const auto* refusal = std::get_if<Refusal>(&ready)) {
        // The run itself may be what made another version of it.
        if (!std::holds_alternative<Stale>(*refusal)) return ready;
        return SEMEL_TRY(priced_already(asked, work)).value_or(*refusal);
    }
    auto& quote = std::get<Quote>(ready);
    quote.version += 1;
    quote.price_run_id = run_of(asked, work);
    const auto products = SEMEL_TRY(load_products_of_quote(work.tx, tenant_of(work), quote.id, quote.currency));
    for (QuoteItem& item : quote.items) {
        const auto product = std::ranges::find(products, item.sku, &Product::sku);
        auto price = price_of(item, product == products.end() ? nullptr : &*product, quote.currency);
        if (auto* refusal = std::get_if<Refusal>(&price)) return std::move(*refusal);
        item.price = std::get<LinePrice>(price);
        item.price_run_id = quote.price_run_id;
        update_item_price(work.tx, tenant_of(work), quote.id, item);
    }
    const auto sums = quote.summed();
    if (!sums) return beyond_count(sums.error());
    quote.sums = *sums;
    insert_price_run(work.tx, tenant_of(work), quote, semel::system_clock().wall());
    update_quote(work.tx, tenant_of(work), quote);
    record(work, {.kind = "quote",
                  .id = quote.id,
                  .event = quote_step::reprice.event,
                  .from = quote_state::draft,
                  .to = quote.state,
                  .version = quote.version,
                  .payload = quote_repriced_payload(quote)});
    return ready;
}

Result<Handled<Quote>> refuse_second_run(const RepriceQuote& asked, Work& work) {
    if (auto refusal = SEMEL_TRY(priced_already(asked, work))) return *std::move(refusal);
    // It was deleted in between: from the beginning.
    return reprice_quote(asked, work);
}

}  // namespace orders
