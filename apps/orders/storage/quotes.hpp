#pragma once

#include "apps/orders/domain/quote.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orders {

void insert_quote(semel::Transaction& tx, std::string_view tenant, const Quote& quote);

/// Compare-and-set: the quote is at its next version with one item more, if it is in `state` at `version`. How many
/// items it has then; none: the guard did not hold, and nothing was changed.
[[nodiscard]] semel::Result<std::optional<std::int64_t>> advance_quote_by_item(semel::Transaction& tx,
                                                                               std::string_view tenant,
                                                                               const semel::Uuid& id,
                                                                               std::string_view state,
                                                                               std::int64_t version);
void insert_quote_item(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                       const QuoteItem& item);

/// State and version as this transaction sees them; none: there is no such quote.
[[nodiscard]] semel::Result<std::optional<semel::FoundState>> quote_state_of(semel::Transaction& tx,
                                                                             std::string_view tenant,
                                                                             const semel::Uuid& id);

/// With its items, all of one moment.
[[nodiscard]] semel::Result<std::optional<Quote>> find_quote(semel::Database& database, semel::Deadline deadline,
                                                             std::string_view tenant, const semel::Uuid& id);
/// Without items.
[[nodiscard]] semel::Result<std::vector<Quote>> list_quotes(semel::Database& database, semel::Deadline deadline,
                                                            std::string_view tenant, const Slice& slice);

}  // namespace orders
