#pragma once

#include "apps/orders/domain/quote.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// The unique index that lets one version bring one item.
inline constexpr std::string_view quote_item_version_key = "orders_quote_item_version";
/// The primary key that lets one run price a quote once.
inline constexpr std::string_view price_run_key = "orders_price_run_pkey";

void insert_quote(semel::Transaction& tx, std::string_view tenant, const Quote& quote);

/// With its items, all of one moment, as this transaction sees it; none: there is no such quote. With what this approver
/// decided on its revision, if one is named.
[[nodiscard]] semel::Result<std::optional<Quote>> load_quote(semel::Transaction& tx, std::string_view tenant,
                                                             const semel::Uuid& id, std::string_view approver = {});

/// Compare-and-set of the head: `quote`, at its new version, over the version before it. Posted: should somebody have
/// been faster, the transaction fails as a conflict, and the handler runs again and reads afresh.
void update_quote(semel::Transaction& tx, std::string_view tenant, const Quote& quote);

void insert_quote_item(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                       const QuoteItem& item);
/// What a run may change of an item: its price. Posted.
void update_item_price(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                       const QuoteItem& item);

/// Notes that the run `quote.price_run_id` made `quote` what it is.
void insert_price_run(semel::Transaction& tx, std::string_view tenant, const Quote& quote, semel::Timestamp now);
[[nodiscard]] semel::Result<bool> has_price_run(semel::Transaction& tx, std::string_view tenant,
                                                const semel::Uuid& quote_id, std::string_view price_run_id);

/// With its items, all of one moment.
[[nodiscard]] semel::Result<std::optional<Quote>> find_quote(semel::Database& database, semel::Deadline deadline,
                                                             std::string_view tenant, const semel::Uuid& id);

/// Whether anybody, of whatever tenant, has a quote.
[[nodiscard]] semel::Result<bool> has_any_quote(semel::Database& database, semel::Deadline deadline);

/// Empty: any.
struct QuoteFilter {
    std::string state{};  ///< As it counts now.
    std::string customer_id{};
};
/// Without items.
[[nodiscard]] semel::Result<std::vector<Quote>> list_quotes(semel::Database& database, semel::Deadline deadline,
                                                            std::string_view tenant, const QuoteFilter& filter,
                                                            const Slice& slice);

/// A quote whose time has passed while its stored state is still an open one.
struct OverdueQuote {
    std::string tenant;
    semel::Uuid id;
    std::int64_t version = 1;
    semel::Timestamp valid_until{};
};
/// Of all tenants, those behind `after` that are overdue at `now`, the longest overdue first.
[[nodiscard]] semel::Result<std::vector<OverdueQuote>> list_overdue_quotes(semel::Database& database,
                                                                           semel::Deadline deadline,
                                                                           semel::Timestamp now,
                                                                           const OverdueQuote& after,
                                                                           std::int64_t limit);

}  // namespace orders
