#pragma once

#include "apps/orders/domain/catalogue.hpp"
#include "apps/orders/domain/quote.hpp"

#include <optional>
#include <string>
#include <vector>

namespace orders {

// The representations of quotes: JSON text; http/schemas/ describes them. Sums are strings, because a JSON number may
// lose digits on its way.

[[nodiscard]] std::string json_of(const Quote& quote);
[[nodiscard]] std::string json_of(const semel::Uuid& quote_id, const QuoteItem& item);
[[nodiscard]] std::string json_of(const std::vector<CatalogueEntry>& products);

/// `{"items":[…],"nextCursor":"…"}`; without a cursor it is the last page. Quotes come without their items.
[[nodiscard]] std::string json_of(const std::vector<Quote>& quotes, const std::optional<std::string>& next);
[[nodiscard]] std::string json_of(const std::vector<Approval>& approvals, const std::optional<std::string>& next);

}  // namespace orders
