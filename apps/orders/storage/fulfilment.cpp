#include "apps/orders/storage/fulfilment.hpp"

#include "apps/orders/storage/order_rows.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Uuid;

/// One row for each task and each task that it needs, with its item beside it.
Result<std::optional<Fulfilment>> fulfilment_from(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    Fulfilment found{.order = SEMEL_TRY(order_from(rows.front()))};
    for (const Row row : rows) {
        const Uuid task_id = SEMEL_TRY(row.get<Uuid>("task_id"));
        if (found.tasks.empty() || found.tasks.back().id != task_id) {
            found.tasks.push_back(SEMEL_TRY(task_from(row)));
            // Every item is reserved once.
            if (found.tasks.back().kind == task_kind::reserve)
                found.order.items.push_back(SEMEL_TRY(order_item_from(row)));
        }
        if (const auto needed = SEMEL_TRY(row.get<std::optional<Uuid>>("needs")))
            found.tasks.back().needs.push_back(*needed);
    }
    return found;
}

/// Whoever is about to change the order waits here for whoever is changing it, instead of deciding by what is about to
/// be outdated: many tasks of one order may be reported at once. SQLite has one writer at a time anyway.
void lock(semel::Transaction& tx, std::string_view tenant, std::optional<Uuid> order_id, std::optional<Uuid> task_id) {
    if (tx.dialect() == semel::Dialect::sqlite) return;
    tx.post(
        "SELECT id FROM orders_order WHERE tenant = $1"
        " AND id = COALESCE($2, (SELECT order_id FROM orders_task WHERE tenant = $1 AND id = $3)) FOR UPDATE",
        tenant, order_id, task_id);
}

Result<std::optional<Fulfilment>> load(semel::Transaction& tx, std::string_view tenant, std::optional<Uuid> order_id,
                                       std::optional<Uuid> task_id) {
    // A statement of its own: it is what the next one sees that counts, and that begins when the lock is held.
    lock(tx, tenant, order_id, task_id);
    return fulfilment_from(SEMEL_TRY(tx.execute(
        "SELECT head.id AS order_id, head.quote_id, head.quote_revision, head.customer_id, head.currency,"
        " head.state AS order_state, head.version AS order_version, head.net AS order_net, head.tax AS order_tax,"
        " head.gross AS order_gross, head.target_date, head.task_count, head.open_task_count, head.failed_task_count,"
        " head.created_at AS order_created_at,"
        " task.id AS task_id, task.item_id AS task_item_id, task.kind AS task_kind, task.state AS task_state,"
        " task.version AS task_version, task.attempt, task.waits_for, task.failure,"
        " task.created_at AS task_created_at, dependency.needs,"
        " item.id AS item_id, item.sku, item.quantity, item.instance_key, item.net AS item_net, item.tax AS item_tax,"
        " item.gross AS item_gross"
        " FROM orders_order AS head"
        " JOIN orders_task AS task ON task.tenant = head.tenant AND task.order_id = head.id"
        " LEFT JOIN orders_task_dependency AS dependency"
        " ON dependency.tenant = task.tenant AND dependency.task_id = task.id"
        " LEFT JOIN orders_order_item AS item"
        " ON item.tenant = task.tenant AND item.order_id = task.order_id AND item.id = task.item_id"
        " WHERE head.tenant = $1"
        " AND head.id = COALESCE($2, (SELECT order_id FROM orders_task WHERE tenant = $1 AND id = $3))"
        " ORDER BY task.id, dependency.needs",
        tenant, order_id, task_id)));
}

}  // namespace

Result<std::optional<Fulfilment>> load_fulfilment(semel::Transaction& tx, std::string_view tenant,
                                                  const Uuid& order_id) {
    return load(tx, tenant, order_id, std::nullopt);
}

Result<std::optional<Fulfilment>> load_fulfilment_of_task(semel::Transaction& tx, std::string_view tenant,
                                                          const Uuid& task_id) {
    return load(tx, tenant, std::nullopt, task_id);
}

}  // namespace orders
