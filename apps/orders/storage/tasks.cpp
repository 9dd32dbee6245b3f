#include "apps/orders/storage/tasks.hpp"

#include "apps/orders/storage/order_rows.hpp"

namespace orders {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

void insert_task(Transaction& tx, std::string_view tenant, const Task& task) {
    tx.post(
        "INSERT INTO orders_task (tenant, id, order_id, item_id, kind, state, version, attempt, waits_for, failure,"
        " created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        tenant, task.id, task.order_id, task.item_id, task.kind, task.state, task.version, task.attempt, task.waits_for,
        task.failure, task.created_at);
    for (const Uuid& needed : task.needs)
        tx.post("INSERT INTO orders_task_dependency (tenant, task_id, needs) VALUES ($1, $2, $3)", tenant, task.id,
                needed);
}

void update_task(Transaction& tx, std::string_view tenant, const Task& task, std::int64_t version_before) {
    tx.post_expecting(1,
                      "UPDATE orders_task SET state = $3, version = $4, attempt = $5, waits_for = $6, failure = $7"
                      " WHERE tenant = $1 AND id = $2 AND version = $8",
                      tenant, task.id, task.state, task.version, task.attempt, task.waits_for, task.failure,
                      version_before);
}

void insert_attempt(Transaction& tx, std::string_view tenant, const Task& task, std::string_view command_id,
                    semel::Timestamp begun_at) {
    tx.post(
        "INSERT INTO orders_task_attempt (tenant, task_id, attempt, command_id, begun_at) VALUES ($1, $2, $3, $4, $5)",
        tenant, task.id, task.attempt, command_id, begun_at);
}

Result<std::optional<std::string>> find_attempt(Transaction& tx, std::string_view tenant, const Uuid& task_id,
                                                std::int64_t attempt) {
    const Rows rows = SEMEL_TRY(
        tx.execute("SELECT command_id FROM orders_task_attempt WHERE tenant = $1 AND task_id = $2 AND attempt = $3",
                   tenant, task_id, attempt));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(rows.scalar<std::string>());
}

Result<std::optional<Task>> find_task(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                      const Uuid& id) {
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT task.id AS task_id, task.order_id, task.item_id AS task_item_id, task.kind AS task_kind,"
             " task.state AS task_state, task.version AS task_version, task.attempt, task.waits_for, task.failure,"
             " task.created_at AS task_created_at, dependency.needs"
             " FROM orders_task AS task LEFT JOIN orders_task_dependency AS dependency"
             " ON dependency.tenant = task.tenant AND dependency.task_id = task.id"
             " WHERE task.tenant = $1 AND task.id = $2 ORDER BY dependency.needs",
             tenant, id));
    if (rows.empty()) return std::nullopt;
    Task task = SEMEL_TRY(task_from(rows.front()));
    for (const Row row : rows)
        if (const auto needed = SEMEL_TRY(row.get<std::optional<Uuid>>("needs"))) task.needs.push_back(*needed);
    return task;
}

Result<std::vector<Task>> list_tasks(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                     const TaskFilter& filter, const Slice& slice) {
    // Two statements, so that each can walk an index of its own.
    const Rows rows = SEMEL_TRY(
        filter.order_id
            ? read(database, deadline,
                   "SELECT id AS task_id, order_id, item_id AS task_item_id, kind AS task_kind, state AS task_state,"
                   " version AS task_version, attempt, waits_for, failure, created_at AS task_created_at"
                   " FROM orders_task WHERE tenant = $1 AND order_id = $4 AND id > $2 AND ($3 = '' OR state = $3)"
                   " ORDER BY id LIMIT $5",
                   tenant, slice.after, filter.state, *filter.order_id, slice.limit)
            : read(database, deadline,
                   "SELECT id AS task_id, order_id, item_id AS task_item_id, kind AS task_kind, state AS task_state,"
                   " version AS task_version, attempt, waits_for, failure, created_at AS task_created_at"
                   " FROM orders_task WHERE tenant = $1 AND id > $2 AND ($3 = '' OR state = $3) ORDER BY id LIMIT $4",
                   tenant, slice.after, filter.state, slice.limit));
    std::vector<Task> found;
    found.reserve(rows.size());
    for (const Row row : rows) found.push_back(SEMEL_TRY(task_from(row)));
    return found;
}

}  // namespace orders
