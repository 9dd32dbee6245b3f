#pragma once

#include "apps/orders/domain/enforcement.hpp"
#include "apps/orders/domain/invoice.hpp"
#include "apps/orders/domain/payment.hpp"

#include <string>

namespace orders {

// The payloads of the events of invoices, payments and cases, as docs/events describes them. Sums are JSON strings, as in the API.

[[nodiscard]] std::string invoice_issued(const Invoice& invoice);
[[nodiscard]] std::string payment_created(const Payment& payment);
[[nodiscard]] std::string case_opened(const Case& opened);
[[nodiscard]] std::string enforcement_action_created(const EnforcementAction& action);

}  // namespace orders
