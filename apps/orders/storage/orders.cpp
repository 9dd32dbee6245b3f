#include "apps/orders/storage/orders.hpp"

#include "apps/orders/storage/order_rows.hpp"

namespace orders {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

void insert_order(Transaction& tx, std::string_view tenant, const Order& order) {
    tx.post(
        "INSERT INTO orders_order (tenant, id, quote_id, quote_revision, customer_id, currency, state, version, net, "
        "tax,"
        " gross, target_date, task_count, open_task_count, failed_task_count, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        tenant, order.id, order.quote_id, order.quote_revision, order.customer_id, order.currency, order.state,
        order.version, order.sums.net, order.sums.tax, order.sums.gross, order.target_date, order.task_count,
        order.open_task_count, order.failed_task_count, order.created_at);
    for (const OrderItem& item : order.items)
        tx.post(
            "INSERT INTO orders_order_item (tenant, order_id, id, sku, quantity, instance_key, net, tax, gross)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            tenant, order.id, item.id, item.sku, item.quantity, item.instance_key, item.sums.net, item.sums.tax,
            item.sums.gross);
}

void update_order(Transaction& tx, std::string_view tenant, const Order& order) {
    tx.post_expecting(1,
                      "UPDATE orders_order SET state = $3, version = $4, open_task_count = $5, failed_task_count = $6"
                      " WHERE tenant = $1 AND id = $2 AND version = $7",
                      tenant, order.id, order.state, order.version, order.open_task_count, order.failed_task_count,
                      order.version - 1);
}

Result<std::optional<Uuid>> find_order_of_quote(Transaction& tx, std::string_view tenant, const Uuid& quote_id,
                                                std::int64_t revision) {
    const Rows rows =
        SEMEL_TRY(tx.execute("SELECT id FROM orders_order WHERE tenant = $1 AND quote_id = $2 AND quote_revision = $3",
                             tenant, quote_id, revision));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(rows.scalar<Uuid>());
}

void insert_cancellation(Transaction& tx, std::string_view tenant, const Cancellation& cancellation) {
    tx.post(
        "INSERT INTO orders_cancellation (tenant, order_id, command_id, reason, cancelled_by, cancelled_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        tenant, cancellation.order_id, cancellation.command_id, cancellation.reason, cancellation.by, cancellation.at);
}

Result<std::optional<std::string>> find_cancellation(Transaction& tx, std::string_view tenant, const Uuid& order_id) {
    const Rows rows = SEMEL_TRY(
        tx.execute("SELECT command_id FROM orders_cancellation WHERE tenant = $1 AND order_id = $2", tenant, order_id));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(rows.scalar<std::string>());
}

void insert_repair(Transaction& tx, std::string_view tenant, const Repair& repair) {
    tx.post(
        "INSERT INTO orders_repair (tenant, command_id, order_id, task_id, action, reason, repaired_by, repaired_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        tenant, repair.command_id, repair.order_id, repair.task_id, repair.action, repair.reason, repair.by, repair.at);
}

Result<bool> has_repair(Transaction& tx, std::string_view tenant, std::string_view command_id) {
    const Rows rows = SEMEL_TRY(
        tx.execute("SELECT order_id FROM orders_repair WHERE tenant = $1 AND command_id = $2", tenant, command_id));
    return !rows.empty();
}

Result<std::optional<Order>> find_order(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                        const Uuid& id) {
    // One statement, so that version and items belong together.
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT head.id AS order_id, head.quote_id, head.quote_revision, head.customer_id, head.currency,"
             " head.state AS order_state, head.version AS order_version, head.net AS order_net, head.tax AS order_tax,"
             " head.gross AS order_gross, head.target_date, head.task_count, head.open_task_count,"
             " head.failed_task_count, head.created_at AS order_created_at,"
             " item.id AS item_id, item.sku, item.quantity, item.instance_key, item.net AS item_net,"
             " item.tax AS item_tax, item.gross AS item_gross"
             " FROM orders_order AS head LEFT JOIN orders_order_item AS item"
             " ON item.tenant = head.tenant AND item.order_id = head.id"
             " WHERE head.tenant = $1 AND head.id = $2 ORDER BY item.id",
             tenant, id));
    if (rows.empty()) return std::nullopt;
    Order order = SEMEL_TRY(order_from(rows.front()));
    for (const Row row : rows)
        if (SEMEL_TRY(row.get<std::optional<Uuid>>("item_id"))) order.items.push_back(SEMEL_TRY(order_item_from(row)));
    return order;
}

Result<std::vector<Order>> list_orders(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                       const OrderFilter& filter, const Slice& slice) {
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT id AS order_id, quote_id, quote_revision, customer_id, currency, state AS order_state,"
             " version AS order_version, net AS order_net, tax AS order_tax, gross AS order_gross, target_date,"
             " task_count, open_task_count, failed_task_count, created_at AS order_created_at"
             " FROM orders_order WHERE tenant = $1 AND id > $2 AND ($3 = '' OR state = $3)"
             " AND ($4 = '' OR customer_id = $4) AND quote_id = COALESCE($5, quote_id) ORDER BY id LIMIT $6",
             tenant, slice.after, filter.state, filter.customer_id, filter.quote_id, slice.limit));
    std::vector<Order> found;
    found.reserve(rows.size());
    for (const Row row : rows) found.push_back(SEMEL_TRY(order_from(row)));
    return found;
}

}  // namespace orders
