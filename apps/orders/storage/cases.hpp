#pragma once

#include "apps/orders/domain/enforcement.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orders {

/// The unique index that makes one action of one case and violation code.
inline constexpr std::string_view enforcement_action_key = "orders_enforcement_action_once";

void insert_case(semel::Transaction& tx, std::string_view tenant, const Case& opened);
[[nodiscard]] semel::Result<bool> has_case(semel::Transaction& tx, std::string_view tenant, const semel::Uuid& id);
[[nodiscard]] semel::Result<std::optional<Case>> find_case(semel::Database& database, semel::Deadline deadline,
                                                           std::string_view tenant, const semel::Uuid& id);
[[nodiscard]] semel::Result<std::vector<Case>> list_cases(semel::Database& database, semel::Deadline deadline,
                                                          std::string_view tenant, const Slice& slice);

void insert_action(semel::Transaction& tx, std::string_view tenant, const EnforcementAction& action);
[[nodiscard]] semel::Result<std::optional<EnforcementAction>> find_action_against(semel::Transaction& tx,
                                                                                  std::string_view tenant,
                                                                                  const semel::Uuid& case_id,
                                                                                  std::string_view violation_code);
[[nodiscard]] semel::Result<std::optional<EnforcementAction>> find_action(semel::Database& database,
                                                                          semel::Deadline deadline,
                                                                          std::string_view tenant,
                                                                          const semel::Uuid& case_id,
                                                                          const semel::Uuid& id);
[[nodiscard]] semel::Result<std::vector<EnforcementAction>> list_actions(semel::Database& database,
                                                                         semel::Deadline deadline,
                                                                         std::string_view tenant,
                                                                         const semel::Uuid& case_id,
                                                                         const Slice& slice);

}  // namespace orders
