#pragma once

#include "apps/orders/domain/price.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <string>
#include <string_view>

namespace orders {

/// It is issued once and does not change: that is its only state.
inline constexpr std::string_view invoice_issued_state = "ISSUED";
inline constexpr std::string_view invoice_issued_event = "invoice.issued";

/// What a customer owes for an order that is completed: one for each order.
struct Invoice {
    semel::Uuid id;
    semel::Uuid order_id;
    std::string customer_id;
    std::string currency;
    Sums sums;
    semel::Timestamp issued_at{};

    /// Whether another invoice of the order would say the same: 10.0 and 10.00 are one sum.
    [[nodiscard]] bool agrees_with(const Invoice& other) const {
        return order_id == other.order_id && customer_id == other.customer_id && currency == other.currency &&
               sums.net == other.sums.net && sums.tax == other.sums.tax && sums.gross == other.sums.gross;
    }
};

}  // namespace orders
