#include "apps/orders/http/json.hpp"

#include "apps/orders/http/json_page.hpp"
#include "semel/db/value.hpp"

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const Invoice& invoice) {
    return {{"invoiceId", invoice.id.text()},     {"orderId", invoice.order_id.text()},
            {"customerId", invoice.customer_id},  {"currency", invoice.currency},
            {"net", invoice.sums.net.text()},     {"tax", invoice.sums.tax.text()},
            {"gross", invoice.sums.gross.text()}, {"issuedAt", semel::timestamp_text(invoice.issued_at)}};
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

constexpr auto as_object = [](const auto& entry) { return object_of(entry); };

}  // namespace

std::string json_of(const Invoice& invoice) { return object_of(invoice).dump(); }
std::string json_of(const Payment& payment) { return object_of(payment).dump(); }
std::string json_of(const Case& opened) { return object_of(opened).dump(); }
std::string json_of(const EnforcementAction& action) { return object_of(action).dump(); }

std::string json_of(const std::vector<Invoice>& invoices, const std::optional<std::string>& next) {
    return page_of(invoices, next, as_object);
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
