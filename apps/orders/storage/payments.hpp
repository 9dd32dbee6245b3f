#pragma once

#include "apps/orders/domain/payment.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orders {

/// The unique index that makes one payment of one reference.
inline constexpr std::string_view payment_reference_key = "orders_payment_reference";

void insert_payment(semel::Transaction& tx, std::string_view tenant, const Payment& payment);
[[nodiscard]] semel::Result<std::optional<Payment>> find_payment_of_reference(semel::Transaction& tx,
                                                                              std::string_view tenant,
                                                                              std::string_view reference);

[[nodiscard]] semel::Result<std::optional<Payment>> find_payment(semel::Database& database, semel::Deadline deadline,
                                                                 std::string_view tenant, const semel::Uuid& id);
[[nodiscard]] semel::Result<std::vector<Payment>> list_payments(semel::Database& database, semel::Deadline deadline,
                                                                std::string_view tenant, const Slice& slice);

}  // namespace orders
