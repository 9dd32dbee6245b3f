#include "apps/orders/handlers/events.hpp"

#include "semel/db/value.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

/// The version of an aggregate that is written once and never changed.
constexpr std::int64_t first_version = 1;

semel::Event event(const semel::Command& command, semel::Aggregate aggregate, std::string type, const Json& payload) {
    return {.aggregate = std::move(aggregate),
            .type = std::move(type),
            .payload = payload.dump(),
            .headers =
                Json{{"correlationId", command.correlation_id}, {"commandId", command.identity.command_id()}}.dump()};
}

}  // namespace

semel::Event quote_created(const semel::Command& command, const Quote& quote) {
    return event(command, {.type = "quote", .id = quote.id.text(), .version = quote.version}, "quote.created",
                 {{"quoteId", quote.id.text()},
                  {"customerId", quote.customer_id},
                  {"currency", quote.currency},
                  {"state", quote.state},
                  {"revision", quote.revision},
                  {"version", quote.version},
                  {"createdAt", semel::timestamp_text(quote.created_at)}});
}

semel::Event quote_item_added(const semel::Command& command, const semel::Uuid& quote_id, const QuoteItem& item) {
    return event(command, {.type = "quote", .id = quote_id.text(), .version = item.since_version}, "quote.item_added",
                 {{"quoteId", quote_id.text()},
                  {"version", item.since_version},
                  {"itemId", item.id.text()},
                  {"sku", item.sku},
                  {"quantity", item.quantity},
                  {"unitPrice", item.unit_price.text()}});
}

semel::Event payment_created(const semel::Command& command, const Payment& payment) {
    return event(command, {.type = "payment", .id = payment.id.text(), .version = first_version}, "payment.created",
                 {{"paymentId", payment.id.text()},
                  {"reference", payment.reference},
                  {"amount", payment.amount.text()},
                  {"currency", payment.currency},
                  {"createdAt", semel::timestamp_text(payment.created_at)}});
}

semel::Event case_opened(const semel::Command& command, const Case& opened) {
    return event(command, {.type = "case", .id = opened.id.text(), .version = first_version}, "case.opened",
                 {{"caseId", opened.id.text()},
                  {"subject", opened.subject},
                  {"createdAt", semel::timestamp_text(opened.created_at)}});
}

semel::Event enforcement_action_created(const semel::Command& command, const EnforcementAction& action) {
    return event(command, {.type = "enforcement_action", .id = action.id.text(), .version = first_version},
                 "enforcement_action.created",
                 {{"actionId", action.id.text()},
                  {"caseId", action.case_id.text()},
                  {"violationCode", action.violation_code},
                  {"createdAt", semel::timestamp_text(action.created_at)}});
}

}  // namespace orders
