#include "apps/orders/handlers/convert.hpp"

#include "apps/orders/domain/fulfilment.hpp"
#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/handlers/quote_events.hpp"
#include "apps/orders/storage/orders.hpp"
#include "apps/orders/storage/quotes.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Work;

/// The order that this revision is; none: it is none.
Result<std::optional<Refusal>> order_in_the_way(const Quote& quote, Work& work) {
    const auto order =
        SEMEL_TRY(find_order_of_quote(work.tx, work.command.identity.tenant(), quote.id, quote.revision));
    if (!order) return std::nullopt;
    return Refusal(Duplicate{.kind = "order",
                             .existing = order->text(),
                             .detail = "This revision of the quote was converted to an order already."});
}

void write(const Fulfilment& made, const Quote& converted, Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    insert_order(work.tx, tenant, made.order);
    for (const Task& task : made.tasks) insert_task(work.tx, tenant, task);
    update_quote(work.tx, tenant, converted);
    record(work, {.kind = "order",
                  .id = made.order.id,
                  .parent = converted.id,
                  .event = order_created_event,
                  .to = made.order.state,
                  .version = made.order.version,
                  .payload = order_created_payload(made)});
    for (const Task& task : made.tasks)
        record(work, {.kind = "task",
                      .id = task.id,
                      .parent = made.order.id,
                      .event = task_created_event,
                      .to = task.state,
                      .version = task.version,
                      .payload = task_payload(task)});
    record(work, {.kind = "quote",
                  .id = converted.id,
                  .event = quote_step::convert.event,
                  .from = quote_state::accepted,
                  .to = converted.state,
                  .version = converted.version,
                  .payload = quote_converted_payload(converted, made.order.id)});
}

}  // namespace

Result<Handled<Order>> convert_quote(const ConvertQuote& asked, Work& work) {
    const auto quote = SEMEL_TRY(load_quote(work.tx, work.command.identity.tenant(), asked.quote_id));
    if (!quote) return Refusal(NoSuch{"quote"});
    if (quote->state == quote_state::converted) {
        if (auto refusal = SEMEL_TRY(order_in_the_way(*quote, work))) return *std::move(refusal);
    }
    const semel::Timestamp now = semel::system_clock().wall();
    Snapshot seen = quote->snapshot();
    seen.state = quote->state_at(now);
    if (auto refusal = obstacle(quote_step::convert, seen, asked.expected_version)) return *std::move(refusal);
    const Fulfilment made = plan(*quote, asked.target_date, now, semel::new_uuid);
    Quote converted = *quote;
    converted.state = quote_step::convert.to;
    ++converted.version;
    write(made, converted, work);
    return made.order;
}

Result<Handled<Order>> refuse_second_order(const ConvertQuote& asked, Work& work) {
    const auto quote = SEMEL_TRY(load_quote(work.tx, work.command.identity.tenant(), asked.quote_id));
    if (quote) {
        if (auto refusal = SEMEL_TRY(order_in_the_way(*quote, work))) return *std::move(refusal);
    }
    // The order is gone again: from the beginning.
    return convert_quote(asked, work);
}

}  // namespace orders
