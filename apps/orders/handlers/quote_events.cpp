#include "apps/orders/handlers/quote_events.hpp"

#include "semel/db/value.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

Json head_of(const Quote& quote) {
    return {{"quoteId", quote.id.text()},
            {"customerId", quote.customer_id},
            {"revision", quote.revision},
            {"version", quote.version},
            {"state", quote.state},
            {"currency", quote.currency},
            {"net", quote.sums.net.text()},
            {"tax", quote.sums.tax.text()},
            {"gross", quote.sums.gross.text()}};
}

std::string with(const Quote& quote, const Json& members) {
    Json payload = head_of(quote);
    payload.update(members);
    return payload.dump();
}

Json approval_of(const Quote& quote) {
    return {{"approvalId", quote.approval->id.text()},
            {"approvalsNeeded", quote.approval->needed},
            {"approvalsGranted", quote.approval->granted}};
}

}  // namespace

std::string quote_created_payload(const Quote& quote) {
    return with(quote, {{"validUntil", semel::timestamp_text(quote.valid_until)},
                        {"createdAt", semel::timestamp_text(quote.created_at)}});
}

std::string quote_item_added_payload(const Quote& quote, const QuoteItem& item) {
    Json line{{"itemId", item.id.text()}, {"sku", item.sku}, {"quantity", item.quantity}};
    if (!item.instance_key.empty()) line["instanceKey"] = item.instance_key;
    line.update(Json{{"unitPrice", item.price.unit_price.text()},
                     {"net", item.price.sums.net.text()},
                     {"tax", item.price.sums.tax.text()},
                     {"gross", item.price.sums.gross.text()}});
    return with(quote, {{"itemCount", quote.item_count}, {"item", line}});
}

std::string quote_repriced_payload(const Quote& quote) { return with(quote, {{"priceRunId", quote.price_run_id}}); }

std::string quote_submitted_payload(const Quote& quote) { return with(quote, approval_of(quote)); }

std::string quote_approval_granted_payload(const Quote& quote, std::string_view approver) {
    Json members = approval_of(quote);
    members["approver"] = approver;
    return with(quote, members);
}

std::string quote_approved_payload(const Quote& quote, std::string_view approver) {
    return with(quote, approver.empty() ? Json::object() : Json{{"approver", approver}});
}

std::string quote_rejected_payload(const Quote& quote, std::string_view approver, std::string_view reason) {
    return with(quote, {{"approver", approver}, {"reason", reason}});
}

std::string quote_accepted_payload(const Quote& quote, std::string_view accepted_by) {
    return with(quote, {{"acceptedBy", accepted_by}});
}

std::string quote_converted_payload(const Quote& quote, const semel::Uuid& order_id) {
    return with(quote, {{"orderId", order_id.text()}});
}

std::string quote_step_payload(const Quote& quote, std::string_view reason) {
    Json members{{"validUntil", semel::timestamp_text(quote.valid_until)}};
    if (!reason.empty()) members["reason"] = reason;
    return with(quote, members);
}

}  // namespace orders
