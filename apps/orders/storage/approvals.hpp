#pragma once

#include "apps/orders/domain/approval.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <string_view>
#include <vector>

namespace orders {

/// One pending approval for each revision, one decision for each approver and revision, one acceptance for each
/// revision: the keys that see to it.
inline constexpr std::string_view pending_approval_key = "orders_quote_approval_pending";
inline constexpr std::string_view quote_decision_key = "orders_quote_decision_pkey";
inline constexpr std::string_view quote_acceptance_key = "orders_quote_acceptance_pkey";

void insert_approval(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                     const Approval& approval);
/// What a pending approval has become. Posted; a conflict if it pends no more.
void update_pending_approval(semel::Transaction& tx, std::string_view tenant, const Approval& approval);

void insert_decision(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                     const Decision& decision);
void insert_acceptance(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& quote_id,
                       const Acceptance& acceptance);

/// Those of one quote, each with its decisions.
[[nodiscard]] semel::Result<std::vector<Approval>> list_approvals(semel::Database& database, semel::Deadline deadline,
                                                                  std::string_view tenant, const semel::Uuid& quote_id,
                                                                  const Slice& slice);

}  // namespace orders
