#pragma once

#include "apps/orders/domain/enforcement.hpp"
#include "apps/orders/domain/invoice.hpp"
#include "apps/orders/domain/payment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace orders {

// The representations of invoices, payments and cases: JSON text; http/schemas/ describes them. Sums are strings, because a JSON number may lose digits on its way.

[[nodiscard]] std::string json_of(const Invoice& invoice);
[[nodiscard]] std::string json_of(const Payment& payment);
[[nodiscard]] std::string json_of(const Case& opened);
[[nodiscard]] std::string json_of(const EnforcementAction& action);

/// `{"items":[…],"nextCursor":"…"}`; without a cursor it is the last page.
[[nodiscard]] std::string json_of(const std::vector<Invoice>& invoices, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<Payment>& payments, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<Case>& cases, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<EnforcementAction>& actions,
                                  const std::optional<std::string>& next);

}  // namespace orders
