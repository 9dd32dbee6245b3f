#include "apps/orders/storage/cases.hpp"

namespace orders {
namespace {

using semel::Database;
using semel::Deadline;
using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

Result<Case> case_from(const Row& row) {
    return Case{.id = SEMEL_TRY(row.get<Uuid>("id")),
                .subject = SEMEL_TRY(row.get<std::string>("subject")),
                .created_at = SEMEL_TRY(row.get<semel::Timestamp>("created_at"))};
}

Result<EnforcementAction> action_from(const Row& row) {
    return EnforcementAction{.id = SEMEL_TRY(row.get<Uuid>("id")),
                             .case_id = SEMEL_TRY(row.get<Uuid>("case_id")),
                             .violation_code = SEMEL_TRY(row.get<std::string>("violation_code")),
                             .created_at = SEMEL_TRY(row.get<semel::Timestamp>("created_at"))};
}

Result<std::optional<EnforcementAction>> first_action_of(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(action_from(rows.front()));
}

}  // namespace

void insert_case(Transaction& tx, std::string_view tenant, const Case& opened) {
    tx.post("INSERT INTO orders_case (tenant, id, subject, created_at) VALUES ($1, $2, $3, $4)", tenant, opened.id,
            opened.subject, opened.created_at);
}

Result<bool> has_case(Transaction& tx, std::string_view tenant, const Uuid& id) {
    const Rows rows = SEMEL_TRY(tx.execute("SELECT id FROM orders_case WHERE tenant = $1 AND id = $2", tenant, id));
    return !rows.empty();
}

Result<std::optional<Case>> find_case(Database& database, Deadline deadline, std::string_view tenant, const Uuid& id) {
    const Rows rows =
        SEMEL_TRY(read(database, deadline,
                       "SELECT id, subject, created_at FROM orders_case WHERE tenant = $1 AND id = $2", tenant, id));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(case_from(rows.front()));
}

Result<std::vector<Case>> list_cases(Database& database, Deadline deadline, std::string_view tenant,
                                     const Slice& slice) {
    const Rows rows = SEMEL_TRY(read(database, deadline,
                                     "SELECT id, subject, created_at FROM orders_case"
                                     " WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                                     tenant, slice.after, slice.limit));
    std::vector<Case> cases;
    cases.reserve(rows.size());
    for (const Row row : rows) cases.push_back(SEMEL_TRY(case_from(row)));
    return cases;
}

void insert_action(Transaction& tx, std::string_view tenant, const EnforcementAction& action) {
    tx.post(
        "INSERT INTO orders_enforcement_action (tenant, id, case_id, violation_code, created_at)"
        " VALUES ($1, $2, $3, $4, $5)",
        tenant, action.id, action.case_id, action.violation_code, action.created_at);
}

Result<std::optional<EnforcementAction>> find_action_against(Transaction& tx, std::string_view tenant,
                                                             const Uuid& case_id, std::string_view violation_code) {
    return first_action_of(
        SEMEL_TRY(tx.execute("SELECT id, case_id, violation_code, created_at FROM orders_enforcement_action"
                             " WHERE tenant = $1 AND case_id = $2 AND violation_code = $3",
                             tenant, case_id, violation_code)));
}

Result<std::optional<EnforcementAction>> find_action(Database& database, Deadline deadline, std::string_view tenant,
                                                     const Uuid& case_id, const Uuid& id) {
    return first_action_of(
        SEMEL_TRY(read(database, deadline,
                       "SELECT id, case_id, violation_code, created_at FROM orders_enforcement_action"
                       " WHERE tenant = $1 AND case_id = $2 AND id = $3",
                       tenant, case_id, id)));
}

Result<std::vector<EnforcementAction>> list_actions(Database& database, Deadline deadline, std::string_view tenant,
                                                    const Uuid& case_id, const Slice& slice) {
    const Rows rows = SEMEL_TRY(read(database, deadline,
                                     "SELECT id, case_id, violation_code, created_at FROM orders_enforcement_action"
                                     " WHERE tenant = $1 AND case_id = $2 AND id > $3 ORDER BY id LIMIT $4",
                                     tenant, case_id, slice.after, slice.limit));
    std::vector<EnforcementAction> actions;
    actions.reserve(rows.size());
    for (const Row row : rows) actions.push_back(SEMEL_TRY(action_from(row)));
    return actions;
}

}  // namespace orders
