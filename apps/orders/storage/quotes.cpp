#include "apps/orders/storage/quotes.hpp"

namespace orders {
namespace {

using semel::Decimal;
using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Sql;
using semel::Timestamp;
using semel::Transaction;
using semel::Uuid;

// One statement, so that all of it belongs together. A revision has at most one pending approval, one acceptance, and one
// decision of an approver, so only the items make rows.
constexpr Sql select_quote =
    "SELECT quote.id, quote.customer_id, quote.currency, quote.state, quote.revision, quote.version, quote.item_count,"
    " quote.net, quote.tax, quote.gross, quote.price_run_id, quote.valid_until, quote.created_at,"
    " approval.id AS approval_id, approval.needed, approval.granted, approval.created_at AS asked_at,"
    " item.id AS item_id, item.sku, item.quantity, item.instance_key, item.unit_price, item.agreed, item.discount,"
    " item.tax_rate, item.net AS item_net, item.tax AS item_tax, item.gross AS item_gross,"
    " item.price_run_id AS item_price_run_id, item.since_version, acceptance.command_id AS accepted_by_command,"
    " decision.command_id AS decided_by_command"
    " FROM orders_quote AS quote"
    " LEFT JOIN orders_quote_approval AS approval ON approval.tenant = quote.tenant AND approval.quote_id = quote.id"
    " AND approval.revision = quote.revision AND approval.state = 'PENDING'"
    " LEFT JOIN orders_quote_acceptance AS acceptance ON acceptance.tenant = quote.tenant"
    " AND acceptance.quote_id = quote.id AND acceptance.revision = quote.revision"
    " LEFT JOIN orders_quote_decision AS decision ON decision.tenant = quote.tenant AND decision.quote_id = quote.id"
    " AND decision.revision = quote.revision AND decision.approver = $3"
    " LEFT JOIN orders_quote_item AS item ON item.tenant = quote.tenant AND item.quote_id = quote.id"
    " WHERE quote.tenant = $1 AND quote.id = $2 ORDER BY item.since_version";

Result<std::optional<Approval>> approval_from(const Row& row, std::int64_t revision) {
    const auto id = SEMEL_TRY(row.get<std::optional<Uuid>>("approval_id"));
    if (!id) return std::nullopt;
    return Approval{.id = *id,
                    .revision = revision,
                    .needed = SEMEL_TRY(row.get<std::int64_t>("needed")),
                    .granted = SEMEL_TRY(row.get<std::int64_t>("granted")),
                    .created_at = SEMEL_TRY(row.get<Timestamp>("asked_at"))};
}

Result<Quote> quote_from(const Row& row) {
    Quote quote{.id = SEMEL_TRY(row.get<Uuid>("id")),
                .customer_id = SEMEL_TRY(row.get<std::string>("customer_id")),
                .currency = SEMEL_TRY(row.get<std::string>("currency")),
                .state = SEMEL_TRY(row.get<std::string>("state")),
                .revision = SEMEL_TRY(row.get<std::int64_t>("revision")),
                .version = SEMEL_TRY(row.get<std::int64_t>("version")),
                .item_count = SEMEL_TRY(row.get<std::int64_t>("item_count")),
                .sums = {.net = SEMEL_TRY(row.get<Decimal>("net")),
                         .tax = SEMEL_TRY(row.get<Decimal>("tax")),
                         .gross = SEMEL_TRY(row.get<Decimal>("gross"))},
                .price_run_id = SEMEL_TRY(row.get<std::string>("price_run_id")),
                .valid_until = SEMEL_TRY(row.get<Timestamp>("valid_until")),
                .created_at = SEMEL_TRY(row.get<Timestamp>("created_at"))};
    quote.approval = SEMEL_TRY(approval_from(row, quote.revision));
    return quote;
}

Result<QuoteItem> item_from(const Row& row) {
    return QuoteItem{.id = SEMEL_TRY(row.get<Uuid>("item_id")),
                     .sku = SEMEL_TRY(row.get<std::string>("sku")),
                     .quantity = SEMEL_TRY(row.get<std::int64_t>("quantity")),
                     .instance_key = SEMEL_TRY(row.get<std::string>("instance_key")),
                     .price = {.unit_price = SEMEL_TRY(row.get<Decimal>("unit_price")),
                               .agreed = SEMEL_TRY(row.get<std::int64_t>("agreed")) != 0,
                               .discount = SEMEL_TRY(row.get<Decimal>("discount")),
                               .tax_rate = SEMEL_TRY(row.get<Decimal>("tax_rate")),
                               .sums = {.net = SEMEL_TRY(row.get<Decimal>("item_net")),
                                        .tax = SEMEL_TRY(row.get<Decimal>("item_tax")),
                                        .gross = SEMEL_TRY(row.get<Decimal>("item_gross"))}},
                     .price_run_id = SEMEL_TRY(row.get<std::string>("item_price_run_id")),
                     .since_version = SEMEL_TRY(row.get<std::int64_t>("since_version"))};
}

Result<std::optional<Quote>> whole_quote_from(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    const Row first = rows.front();
    Quote quote = SEMEL_TRY(quote_from(first));
    quote.accepted_by_command = SEMEL_TRY(first.get<std::optional<std::string>>("accepted_by_command")).value_or("");
    quote.decided_by_command = SEMEL_TRY(first.get<std::optional<std::string>>("decided_by_command")).value_or("");
    for (const Row row : rows) {
        if (SEMEL_TRY(row.get<std::optional<Uuid>>("item_id"))) quote.items.push_back(SEMEL_TRY(item_from(row)));
    }
    return quote;
}

/// In the database it is a number on both sides.
constexpr std::int64_t flag(bool value) noexcept { return value ? 1 : 0; }

}  // namespace

void insert_quote(Transaction& tx, std::string_view tenant, const Quote& quote) {
    tx.post(
        "INSERT INTO orders_quote (tenant, id, customer_id, currency, state, revision, version, item_count, net, tax,"
        " gross, price_run_id, valid_until, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        tenant, quote.id, quote.customer_id, quote.currency, quote.state, quote.revision, quote.version,
        quote.item_count, quote.sums.net, quote.sums.tax, quote.sums.gross, quote.price_run_id, quote.valid_until,
        quote.created_at);
}

Result<std::optional<Quote>> load_quote(Transaction& tx, std::string_view tenant, const Uuid& id,
                                        std::string_view approver) {
    return whole_quote_from(SEMEL_TRY(tx.execute(select_quote, tenant, id, approver)));
}

void update_quote(Transaction& tx, std::string_view tenant, const Quote& quote) {
    tx.post_expecting(1,
                      "UPDATE orders_quote SET state = $3, revision = $4, version = $5, item_count = $6, net = $7,"
                      " tax = $8, gross = $9, price_run_id = $10, valid_until = $11"
                      " WHERE tenant = $1 AND id = $2 AND version = $12",
                      tenant, quote.id, quote.state, quote.revision, quote.version, quote.item_count, quote.sums.net,
                      quote.sums.tax, quote.sums.gross, quote.price_run_id, quote.valid_until, quote.version - 1);
}

void insert_quote_item(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const QuoteItem& item) {
    const LinePrice& price = item.price;
    tx.post(
        "INSERT INTO orders_quote_item (tenant, quote_id, id, sku, quantity, instance_key, unit_price, agreed,"
        " discount, net, tax_rate, tax, gross, price_run_id, since_version)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        tenant, quote_id, item.id, item.sku, item.quantity, item.instance_key, price.unit_price, flag(price.agreed),
        price.discount, price.sums.net, price.tax_rate, price.sums.tax, price.sums.gross, item.price_run_id,
        item.since_version);
}

void update_item_price(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const QuoteItem& item) {
    const LinePrice& price = item.price;
    tx.post_expecting(1,
                      "UPDATE orders_quote_item SET unit_price = $4, discount = $5, net = $6, tax_rate = $7, tax = $8,"
                      " gross = $9, price_run_id = $10 WHERE tenant = $1 AND quote_id = $2 AND id = $3",
                      tenant, quote_id, item.id, price.unit_price, price.discount, price.sums.net, price.tax_rate,
                      price.sums.tax, price.sums.gross, item.price_run_id);
}

void insert_price_run(Transaction& tx, std::string_view tenant, const Quote& quote, Timestamp now) {
    tx.post(
        "INSERT INTO orders_price_run (tenant, quote_id, id, version, net, tax, gross, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        tenant, quote.id, quote.price_run_id, quote.version, quote.sums.net, quote.sums.tax, quote.sums.gross, now);
}

Result<bool> has_price_run(Transaction& tx, std::string_view tenant, const Uuid& quote_id,
                           std::string_view price_run_id) {
    const Rows rows =
        SEMEL_TRY(tx.execute("SELECT version FROM orders_price_run WHERE tenant = $1 AND quote_id = $2 AND id = $3",
                             tenant, quote_id, price_run_id));
    return !rows.empty();
}

Result<std::optional<Quote>> find_quote(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                        const Uuid& id) {
    return whole_quote_from(SEMEL_TRY(read(database, deadline, select_quote, tenant, id, std::string_view())));
}

Result<bool> has_any_quote(semel::Database& database, semel::Deadline deadline) {
    return !SEMEL_TRY(read(database, deadline, "SELECT 1 FROM orders_quote LIMIT 1")).empty();
}

Result<std::vector<Quote>> list_quotes(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                       const QuoteFilter& filter, const Slice& slice) {
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT quote.id, quote.customer_id, quote.currency, quote.state, quote.revision, quote.version,"
             " quote.item_count, quote.net, quote.tax, quote.gross, quote.price_run_id, quote.valid_until,"
             " quote.created_at, approval.id AS approval_id, approval.needed, approval.granted,"
             " approval.created_at AS asked_at"
             " FROM orders_quote AS quote"
             " LEFT JOIN orders_quote_approval AS approval ON approval.tenant = quote.tenant"
             " AND approval.quote_id = quote.id AND approval.revision = quote.revision AND approval.state = 'PENDING'"
             " WHERE quote.tenant = $1 AND quote.id > $2"
             " AND ($3 = '' OR $3 = CASE WHEN quote.state IN ('DRAFT', 'SUBMITTED', 'APPROVED', 'ACCEPTED')"
             " AND quote.valid_until <= $4 THEN 'EXPIRED' ELSE quote.state END)"
             " AND ($5 = '' OR quote.customer_id = $5) ORDER BY quote.id LIMIT $6",
             tenant, slice.after, filter.state, database.clock().wall(), filter.customer_id, slice.limit));
    std::vector<Quote> quotes;
    quotes.reserve(rows.size());
    for (const Row row : rows) quotes.push_back(SEMEL_TRY(quote_from(row)));
    return quotes;
}

Result<std::vector<OverdueQuote>> list_overdue_quotes(semel::Database& database, semel::Deadline deadline,
                                                      Timestamp now, const OverdueQuote& after, std::int64_t limit) {
    // The index orders_quote_open holds just these.
    const Rows rows =
        SEMEL_TRY(read(database, deadline,
                       "SELECT tenant, id, version, valid_until FROM orders_quote"
                       " WHERE state IN ('DRAFT', 'SUBMITTED', 'APPROVED', 'ACCEPTED') AND valid_until <= $1"
                       " AND (valid_until, id) > ($2, $3) ORDER BY valid_until, id LIMIT $4",
                       now, after.valid_until, after.id, limit));
    std::vector<OverdueQuote> overdue;
    overdue.reserve(rows.size());
    for (const Row row : rows)
        overdue.push_back({.tenant = SEMEL_TRY(row.get<std::string>("tenant")),
                           .id = SEMEL_TRY(row.get<Uuid>("id")),
                           .version = SEMEL_TRY(row.get<std::int64_t>("version")),
                           .valid_until = SEMEL_TRY(row.get<Timestamp>("valid_until"))});
    return overdue;
}

}  // namespace orders
