#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/id.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/command/transition.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

namespace quote_state {

inline constexpr std::string_view draft = "DRAFT";  ///< Being put together: items may change.

}  // namespace quote_state

/// A reply holds the whole quote, so there is an end to it.
inline constexpr std::size_t quote_items_max = 500;
inline constexpr std::int64_t quantity_max = 1'000'000;

struct QuoteItem {
    semel::Uuid id;
    std::string sku;
    std::int64_t quantity = 1;
    semel::Decimal unit_price;
    std::int64_t since_version = 0;  ///< The version of the quote that brought it.

    [[nodiscard]] semel::Result<semel::Decimal> total() const { return unit_price.times(semel::Decimal(quantity)); }
};

/// An offer to a customer. Every change makes the next version; a revision is what the customer gets to see.
struct Quote {
    semel::Uuid id;
    std::string customer_id;
    std::string currency;
    std::string state{quote_state::draft};
    std::int64_t revision = 1;
    std::int64_t version = 1;
    std::int64_t item_count = 0;
    semel::Timestamp created_at{};
    std::vector<QuoteItem> items{};  ///< In the order in which they were added; empty where only the head was read.

    /// The exact sum over the items.
    [[nodiscard]] semel::Result<semel::Decimal> total() const;
};

/// Items change while it is a draft, and only for whoever has seen its latest version.
[[nodiscard]] semel::GuardedTransition adding_an_item(std::int64_t expected_version);

}  // namespace orders
