#include "apps/orders/storage/quotes.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

Result<Quote> quote_from(const Row& row) {
    return Quote{.id = SEMEL_TRY(row.get<Uuid>("id")),
                 .customer_id = SEMEL_TRY(row.get<std::string>("customer_id")),
                 .currency = SEMEL_TRY(row.get<std::string>("currency")),
                 .state = SEMEL_TRY(row.get<std::string>("state")),
                 .revision = SEMEL_TRY(row.get<std::int64_t>("revision")),
                 .version = SEMEL_TRY(row.get<std::int64_t>("version")),
                 .item_count = SEMEL_TRY(row.get<std::int64_t>("item_count")),
                 .created_at = SEMEL_TRY(row.get<semel::Timestamp>("created_at"))};
}

Result<QuoteItem> item_from(const Row& row) {
    return QuoteItem{.id = SEMEL_TRY(row.get<Uuid>("item_id")),
                     .sku = SEMEL_TRY(row.get<std::string>("sku")),
                     .quantity = SEMEL_TRY(row.get<std::int64_t>("quantity")),
                     .unit_price = SEMEL_TRY(row.get<semel::Decimal>("unit_price")),
                     .since_version = SEMEL_TRY(row.get<std::int64_t>("since_version"))};
}

}  // namespace

void insert_quote(Transaction& tx, std::string_view tenant, const Quote& quote) {
    tx.post(
        "INSERT INTO orders_quote (tenant, id, customer_id, currency, state, revision, version, item_count, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        tenant, quote.id, quote.customer_id, quote.currency, quote.state, quote.revision, quote.version,
        quote.item_count, quote.created_at);
}

Result<std::optional<std::int64_t>> advance_quote_by_item(Transaction& tx, std::string_view tenant, const Uuid& id,
                                                          std::string_view state, std::int64_t version) {
    const Rows rows =
        SEMEL_TRY(tx.execute("UPDATE orders_quote SET version = version + 1, item_count = item_count + 1"
                             " WHERE tenant = $1 AND id = $2 AND state = $3 AND version = $4 RETURNING item_count",
                             tenant, id, state, version));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(rows.scalar<std::int64_t>());
}

void insert_quote_item(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const QuoteItem& item) {
    tx.post(
        "INSERT INTO orders_quote_item (tenant, quote_id, id, sku, quantity, unit_price, since_version)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)",
        tenant, quote_id, item.id, item.sku, item.quantity, item.unit_price, item.since_version);
}

Result<std::optional<semel::FoundState>> quote_state_of(Transaction& tx, std::string_view tenant, const Uuid& id) {
    const Rows rows =
        SEMEL_TRY(tx.execute("SELECT state, version FROM orders_quote WHERE tenant = $1 AND id = $2", tenant, id));
    if (rows.empty()) return std::nullopt;
    return semel::FoundState{.state = SEMEL_TRY(rows.front().get<std::string>(0)),
                             .version = SEMEL_TRY(rows.front().get<std::int64_t>(1))};
}

Result<std::optional<Quote>> find_quote(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                        const Uuid& id) {
    // One statement, so that version and items belong together.
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT quote.id, quote.customer_id, quote.currency, quote.state, quote.revision, quote.version,"
             " quote.item_count, quote.created_at, item.id AS item_id, item.sku, item.quantity, item.unit_price,"
             " item.since_version"
             " FROM orders_quote AS quote LEFT JOIN orders_quote_item AS item"
             " ON item.tenant = quote.tenant AND item.quote_id = quote.id"
             " WHERE quote.tenant = $1 AND quote.id = $2 ORDER BY item.since_version",
             tenant, id));
    if (rows.empty()) return std::nullopt;
    Quote quote = SEMEL_TRY(quote_from(rows.front()));
    for (const Row row : rows) {
        if (SEMEL_TRY(row.get<std::optional<Uuid>>("item_id"))) quote.items.push_back(SEMEL_TRY(item_from(row)));
    }
    return quote;
}

Result<std::vector<Quote>> list_quotes(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                       const Slice& slice) {
    const Rows rows =
        SEMEL_TRY(read(database, deadline,
                       "SELECT id, customer_id, currency, state, revision, version, item_count, created_at"
                       " FROM orders_quote WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                       tenant, slice.after, slice.limit));
    std::vector<Quote> quotes;
    quotes.reserve(rows.size());
    for (const Row row : rows) quotes.push_back(SEMEL_TRY(quote_from(row)));
    return quotes;
}

}  // namespace orders
