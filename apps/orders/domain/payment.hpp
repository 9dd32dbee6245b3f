#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <string>

namespace orders {

/// Money that came in. The reference is the payer's own: the same one is the same payment, whoever tells us again.
struct Payment {
    semel::Uuid id;
    std::string reference;
    semel::Decimal amount;
    std::string currency;
    semel::Timestamp created_at{};

    /// Whether another report of this reference says the same: 10.0 and 10.00 are one amount.
    [[nodiscard]] bool agrees_with(const Payment& other) const {
        return reference == other.reference && amount == other.amount && currency == other.currency;
    }
};

}  // namespace orders
