#pragma once

#include "apps/orders/domain/invoice.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orders {

void insert_invoice(semel::Transaction& tx, std::string_view tenant, const Invoice& invoice);
[[nodiscard]] semel::Result<std::optional<Invoice>> find_invoice_of_order(semel::Transaction& tx,
                                                                          std::string_view tenant,
                                                                          const semel::Uuid& order_id);

[[nodiscard]] semel::Result<std::optional<Invoice>> find_invoice(semel::Database& database, semel::Deadline deadline,
                                                                 std::string_view tenant, const semel::Uuid& id);
/// Of one order, or of all.
[[nodiscard]] semel::Result<std::vector<Invoice>> list_invoices(semel::Database& database, semel::Deadline deadline,
                                                                std::string_view tenant,
                                                                std::optional<semel::Uuid> order_id,
                                                                const Slice& slice);

}  // namespace orders
