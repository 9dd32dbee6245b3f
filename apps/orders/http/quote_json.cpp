#include "apps/orders/http/quote_json.hpp"

#include "apps/orders/http/json_page.hpp"
#include "semel/db/value.hpp"

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

Json head_of(const Quote& quote) {
    Json head{{"quoteId", quote.id.text()},
              {"customerId", quote.customer_id},
              {"currency", quote.currency},
              {"state", quote.state},
              {"revision", quote.revision},
              {"version", quote.version},
              {"itemCount", quote.item_count},
              {"net", quote.sums.net.text()},
              {"tax", quote.sums.tax.text()},
              {"gross", quote.sums.gross.text()},
              {"total", quote.sums.gross.text()},
              {"validUntil", semel::timestamp_text(quote.valid_until)},
              {"createdAt", semel::timestamp_text(quote.created_at)}};
    if (!quote.price_run_id.empty()) head["priceRunId"] = quote.price_run_id;
    if (quote.approval) {
        head["approvalsNeeded"] = quote.approval->needed;
        head["approvalsGranted"] = quote.approval->granted;
    }
    return head;
}

Json object_of(const QuoteItem& item) {
    Json object{{"itemId", item.id.text()},
                {"sku", item.sku},
                {"quantity", item.quantity},
                {"unitPrice", item.price.unit_price.text()},
                {"agreed", item.price.agreed},
                {"discount", item.price.discount.text()},
                {"taxRate", item.price.tax_rate.text()},
                {"net", item.price.sums.net.text()},
                {"tax", item.price.sums.tax.text()},
                {"gross", item.price.sums.gross.text()},
                {"priceRunId", item.price_run_id}};
    if (!item.instance_key.empty()) object["instanceKey"] = item.instance_key;
    return object;
}

Json object_of(const Decision& decision) {
    Json object{{"approver", decision.approver},
                {"decision", decision.decision},
                {"commandId", decision.command_id},
                {"decidedAt", semel::timestamp_text(decision.decided_at)}};
    if (!decision.reason.empty()) object["reason"] = decision.reason;
    return object;
}

Json object_of(const Approval& approval) {
    Json object{{"approvalId", approval.id.text()},
                {"revision", approval.revision},
                {"state", approval.state},
                {"approvalsNeeded", approval.needed},
                {"approvalsGranted", approval.granted},
                {"createdAt", semel::timestamp_text(approval.created_at)},
                {"decisions", Json::array()}};
    for (const Decision& decision : approval.decisions) object["decisions"].push_back(object_of(decision));
    return object;
}

Json object_of(const CatalogueEntry& product) {
    Json object{{"sku", product.sku},
                {"name", product.name},
                {"taxRate", product.tax_rate.text()},
                {"prices", Json::array()},
                {"discounts", Json::array()}};
    for (const ListPrice& listed : product.prices)
        object["prices"].push_back({{"currency", listed.currency}, {"listPrice", listed.price.text()}});
    for (const QuantityDiscount& discount : product.discounts)
        object["discounts"].push_back({{"quantityFrom", discount.quantity_from}, {"rate", discount.rate.text()}});
    return object;
}

constexpr auto as_object = [](const auto& entry) { return object_of(entry); };

}  // namespace

std::string json_of(const Quote& quote) {
    Json body = head_of(quote);
    body["items"] = Json::array();
    for (const QuoteItem& item : quote.items) body["items"].push_back(object_of(item));
    return body.dump();
}

std::string json_of(const semel::Uuid& quote_id, const QuoteItem& item) {
    Json body{{"quoteId", quote_id.text()}, {"version", item.since_version}};
    body.update(object_of(item));
    return body.dump();
}

std::string json_of(const std::vector<CatalogueEntry>& products) { return page_of(products, std::nullopt, as_object); }

std::string json_of(const std::vector<Quote>& quotes, const std::optional<std::string>& next) {
    return page_of(quotes, next, head_of);
}

std::string json_of(const std::vector<Approval>& approvals, const std::optional<std::string>& next) {
    return page_of(approvals, next, as_object);
}

}  // namespace orders
