#pragma once

#include "apps/orders/domain/invoice.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <string>

namespace orders {

/// What an order came to, as whoever completed it tells.
struct IssueInvoice {
    semel::Uuid order_id;
    std::string customer_id;
    std::string currency;
    Sums sums;
};

/// The invoice of the order; the one that is there if it says the same. Refused with Duplicate if it says something else:
/// then one of the two is wrong, and a person has to find out which.
[[nodiscard]] semel::Result<Handled<Invoice>> issue_invoice(const IssueInvoice& asked, semel::Work& work);

}  // namespace orders
