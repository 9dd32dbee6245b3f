#pragma once

#include "apps/orders/domain/enforcement.hpp"
#include "apps/orders/domain/payment.hpp"
#include "apps/orders/domain/quote.hpp"
#include "semel/command/command.hpp"
#include "semel/outbox/event.hpp"

namespace orders {

// What other systems are told, in the transaction in which it happened. Sums are JSON strings, as in the API.

[[nodiscard]] semel::Event quote_created(const semel::Command& command, const Quote& quote);
[[nodiscard]] semel::Event quote_item_added(const semel::Command& command, const semel::Uuid& quote_id,
                                            const QuoteItem& item);
[[nodiscard]] semel::Event payment_created(const semel::Command& command, const Payment& payment);
[[nodiscard]] semel::Event case_opened(const semel::Command& command, const Case& opened);
[[nodiscard]] semel::Event enforcement_action_created(const semel::Command& command, const EnforcementAction& action);

}  // namespace orders
