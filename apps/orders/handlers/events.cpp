#include "apps/orders/handlers/events.hpp"

#include "semel/db/value.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string invoice_issued(const Invoice& invoice) {
    return Json{{"invoiceId", invoice.id.text()},     {"orderId", invoice.order_id.text()},
                {"customerId", invoice.customer_id},  {"currency", invoice.currency},
                {"net", invoice.sums.net.text()},     {"tax", invoice.sums.tax.text()},
                {"gross", invoice.sums.gross.text()}, {"issuedAt", semel::timestamp_text(invoice.issued_at)}}
        .dump();
}

std::string payment_created(const Payment& payment) {
    return Json{{"paymentId", payment.id.text()},
                {"reference", payment.reference},
                {"amount", payment.amount.text()},
                {"currency", payment.currency},
                {"createdAt", semel::timestamp_text(payment.created_at)}}
        .dump();
}

std::string case_opened(const Case& opened) {
    return Json{{"caseId", opened.id.text()},
                {"subject", opened.subject},
                {"createdAt", semel::timestamp_text(opened.created_at)}}
        .dump();
}

std::string enforcement_action_created(const EnforcementAction& action) {
    return Json{{"actionId", action.id.text()},
                {"caseId", action.case_id.text()},
                {"violationCode", action.violation_code},
                {"createdAt", semel::timestamp_text(action.created_at)}}
        .dump();
}

}  // namespace orders
