#include "apps/orders/http/json.hpp"

#include "semel/db/value.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

/// The digits of a sum; what does not fit in a Decimal cannot have been stored.
std::string sum_text(const semel::Result<semel::Decimal>& sum) {
    SEMEL_ASSERT(sum.has_value());
    return sum->text();
}

Json head_of(const Quote& quote) {
    return {{"quoteId", quote.id.text()},    {"customerId", quote.customer_id},
            {"currency", quote.currency},    {"state", quote.state},
            {"revision", quote.revision},    {"version", quote.version},
            {"itemCount", quote.item_count}, {"createdAt", semel::timestamp_text(quote.created_at)}};
}

Json object_of(const QuoteItem& item) {
    return {{"itemId", item.id.text()},
            {"sku", item.sku},
            {"quantity", item.quantity},
            {"unitPrice", item.unit_price.text()},
            {"total", sum_text(item.total())}};
}

Json object_of(const Payment& payment) {
    return {{"paymentId", payment.id.text()},
            {"reference", payment.reference},
            {"amount", payment.amount.text()},
            {"currency", payment.currency},
            {"createdAt", semel::timestamp_text(payment.created_at)}};
}

Json object_of(const Case& opened) {
    return {{"caseId", opened.id.text()},
            {"subject", opened.subject},
            {"createdAt", semel::timestamp_text(opened.created_at)}};
}

Json object_of(const EnforcementAction& action) {
    return {{"actionId", action.id.text()},
            {"caseId", action.case_id.text()},
            {"violationCode", action.violation_code},
            {"createdAt", semel::timestamp_text(action.created_at)}};
}

template <class T, class Render>
std::string page_of(const std::vector<T>& entries, const std::optional<std::string>& next, const Render& render) {
    Json page{{"items", Json::array()}};
    for (const T& entry : entries) page["items"].push_back(render(entry));
    if (next) page["nextCursor"] = *next;
    return page.dump();
}

constexpr auto as_object = [](const auto& entry) { return object_of(entry); };

}  // namespace

std::string json_of(const Quote& quote) {
    Json body = head_of(quote);
    body["items"] = Json::array();
    for (const QuoteItem& item : quote.items) body["items"].push_back(object_of(item));
    body["total"] = sum_text(quote.total());
    return body.dump();
}

std::string json_of(const semel::Uuid& quote_id, const QuoteItem& item) {
    Json body{{"quoteId", quote_id.text()}, {"version", item.since_version}};
    body.update(object_of(item));
    return body.dump();
}

std::string json_of(const Payment& payment) { return object_of(payment).dump(); }
std::string json_of(const Case& opened) { return object_of(opened).dump(); }
std::string json_of(const EnforcementAction& action) { return object_of(action).dump(); }

std::string json_of(const std::vector<Quote>& quotes, const std::optional<std::string>& next) {
    return page_of(quotes, next, head_of);
}
std::string json_of(const std::vector<Payment>& payments, const std::optional<std::string>& next) {
    return page_of(payments, next, as_object);
}
std::string json_of(const std::vector<Case>& cases, const std::optional<std::string>& next) {
    return page_of(cases, next, as_object);
}
std::string json_of(const std::vector<EnforcementAction>& actions, const std::optional<std::string>& next) {
    return page_of(actions, next, as_object);
}

}  // namespace orders
