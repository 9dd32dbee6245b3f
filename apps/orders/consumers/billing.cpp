#include "apps/orders/consumers/consumption.hpp"
#include "apps/orders/domain/order.hpp"
#include "apps/orders/handlers/invoices.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace orders {
namespace {

constexpr std::string_view billing_name = "billing";
constexpr std::string_view invoice_operation = "billing.invoice";
constexpr std::array billing_types{order_step::complete.event};

semel::Result<IssueInvoice> invoice_in(const semel::Contracts& contracts, const semel::ReceivedMessage& message) {
    SEMEL_TRY(check_payload(contracts, message));
    const auto payload = nlohmann::json::parse(message.payload);
    const auto text = [&payload](const char* name) { return payload.at(name).get<std::string>(); };
    return IssueInvoice{.order_id = SEMEL_TRY(semel::Uuid::parse(text("orderId"))),
                        .customer_id = text("customerId"),
                        .currency = text("currency"),
                        .sums = {.net = SEMEL_TRY(semel::Decimal::parse(text("net"))),
                                 .tax = SEMEL_TRY(semel::Decimal::parse(text("tax"))),
                                 .gross = SEMEL_TRY(semel::Decimal::parse(text("gross")))}};
}

/// That an order is completed is one fact, under whatever id it is told. A payload that says nothing of an order tells no
/// fact; the handler refuses it.
std::optional<std::string> completed_order(const semel::ReceivedMessage& message) {
    const auto payload = nlohmann::json::parse(message.payload, nullptr, false);
    if (!payload.is_object() || !payload.contains("orderId") || !payload["orderId"].is_string()) return std::nullopt;
    const auto order_id = semel::Uuid::parse(payload["orderId"].get<std::string>());
    if (!order_id) return std::nullopt;
    return "order:" + order_id->text();
}

}  // namespace

Consumption billing(const semel::Contracts& contracts) {
    return {.name = billing_name,
            .types = billing_types,
            .handle = [contracts](semel::ConsumerWork& told) -> semel::Status {
                const auto command = SEMEL_TRY(command_for(told.message, billing_name, invoice_operation));
                const auto asked = SEMEL_TRY(invoice_in(contracts, told.message));
                semel::Work work{.tx = told.tx, .outbox = told.outbox, .command = command, .attempt = told.attempt};
                const auto handled = SEMEL_TRY(issue_invoice(asked, work));
                const auto* refusal = std::get_if<Refusal>(&handled);
                if (refusal == nullptr) return {};
                const auto& duplicate = std::get<Duplicate>(*refusal);
                return semel::fail(semel::Fault::rejected,
                                   duplicate.detail + " The invoice is " + duplicate.existing + ".");
            },
            .business_key = completed_order};
}

}  // namespace orders
