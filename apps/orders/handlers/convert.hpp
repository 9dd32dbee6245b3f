#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <string>

namespace orders {

struct ConvertQuote {
    semel::Uuid quote_id;
    std::int64_t expected_version = 0;
    std::string target_date{};  ///< "2026-12-01"; empty: as soon as possible.
};

/// Makes the order of an accepted quote, with the tasks that it takes. Refused with NoSuch, WrongState, Stale,
/// Unacceptable if two items claim one product instance, or Duplicate naming the order that the quote is already. Of
/// several at once one wins; the others fail on a unique index, and then `refuse_second_order` decides.
[[nodiscard]] semel::Result<Handled<Order>> convert_quote(const ConvertQuote& asked, semel::Work& work);

/// Names the order that this revision of the quote became under another key: a Duplicate.
[[nodiscard]] semel::Result<Handled<Order>> refuse_second_order(const ConvertQuote& asked, semel::Work& work);

}  // namespace orders
