#include "apps/orders/storage/approvals.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Timestamp;
using semel::Transaction;
using semel::Uuid;

Result<Approval> approval_from(const Row& row) {
    return Approval{.id = SEMEL_TRY(row.get<Uuid>("id")),
                    .revision = SEMEL_TRY(row.get<std::int64_t>("revision")),
                    .state = SEMEL_TRY(row.get<std::string>("state")),
                    .needed = SEMEL_TRY(row.get<std::int64_t>("needed")),
                    .granted = SEMEL_TRY(row.get<std::int64_t>("granted")),
                    .created_at = SEMEL_TRY(row.get<Timestamp>("created_at"))};
}

Result<Decision> decision_from(const Row& row) {
    return Decision{.revision = SEMEL_TRY(row.get<std::int64_t>("revision")),
                    .approver = SEMEL_TRY(row.get<std::string>("approver")),
                    .decision = SEMEL_TRY(row.get<std::string>("decision")),
                    .reason = SEMEL_TRY(row.get<std::string>("reason")),
                    .command_id = SEMEL_TRY(row.get<std::string>("command_id")),
                    .decided_at = SEMEL_TRY(row.get<Timestamp>("decided_at"))};
}

}  // namespace

void insert_approval(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const Approval& approval) {
    tx.post(
        "INSERT INTO orders_quote_approval (tenant, id, quote_id, revision, state, needed, granted, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        tenant, approval.id, quote_id, approval.revision, approval.state, approval.needed, approval.granted,
        approval.created_at);
}

void update_pending_approval(Transaction& tx, std::string_view tenant, const Approval& approval) {
    tx.post_expecting(1,
                      "UPDATE orders_quote_approval SET state = $3, granted = $4"
                      " WHERE tenant = $1 AND id = $2 AND state = 'PENDING'",
                      tenant, approval.id, approval.state, approval.granted);
}

void insert_decision(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const Decision& decision) {
    tx.post(
        "INSERT INTO orders_quote_decision (tenant, quote_id, revision, approver, decision, reason, command_id,"
        " decided_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        tenant, quote_id, decision.revision, decision.approver, decision.decision, decision.reason, decision.command_id,
        decision.decided_at);
}

void insert_acceptance(Transaction& tx, std::string_view tenant, const Uuid& quote_id, const Acceptance& acceptance) {
    tx.post(
        "INSERT INTO orders_quote_acceptance (tenant, quote_id, revision, accepted_by, command_id, accepted_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        tenant, quote_id, acceptance.revision, acceptance.accepted_by, acceptance.command_id, acceptance.accepted_at);
}

Result<std::vector<Approval>> list_approvals(semel::Database& database, semel::Deadline deadline,
                                             std::string_view tenant, const Uuid& quote_id, const Slice& slice) {
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT approval.id, approval.revision, approval.state, approval.needed, approval.granted,"
             " approval.created_at, decision.approver, decision.decision, decision.reason, decision.command_id,"
             " decision.decided_at"
             " FROM (SELECT tenant, quote_id, id, revision, state, needed, granted, created_at"
             " FROM orders_quote_approval WHERE tenant = $1 AND quote_id = $2 AND id > $3 ORDER BY id LIMIT $4)"
             " AS approval"
             " LEFT JOIN orders_quote_decision AS decision ON decision.tenant = approval.tenant"
             " AND decision.quote_id = approval.quote_id AND decision.revision = approval.revision"
             " ORDER BY approval.id, decision.decided_at, decision.approver",
             tenant, quote_id, slice.after, slice.limit));
    std::vector<Approval> approvals;
    for (const Row row : rows) {
        Approval approval = SEMEL_TRY(approval_from(row));
        if (approvals.empty() || approvals.back().id != approval.id) approvals.push_back(std::move(approval));
        if (SEMEL_TRY(row.get<std::optional<std::string>>("approver")))
            approvals.back().decisions.push_back(SEMEL_TRY(decision_from(row)));
    }
    return approvals;
}

}  // namespace orders
