#pragma once

#include "apps/orders/domain/order.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// The unique index that makes one order of one revision of a quote.
inline constexpr std::string_view order_of_quote_revision_key = "orders_order_of_quote_revision";
/// An order is cancelled once.
inline constexpr std::string_view cancellation_key = "orders_cancellation_pkey";
/// A command repairs once.
inline constexpr std::string_view repair_key = "orders_repair_pkey";

/// With its items.
void insert_order(semel::Transaction& tx, std::string_view tenant, const Order& order);

/// Compare-and-set of the head: `order`, at its new version, over the version before it. Posted: should somebody have
/// been faster, the transaction fails as a conflict, and the handler runs again and reads afresh.
void update_order(semel::Transaction& tx, std::string_view tenant, const Order& order);

[[nodiscard]] semel::Result<std::optional<semel::Uuid>> find_order_of_quote(semel::Transaction& tx,
                                                                            std::string_view tenant,
                                                                            const semel::Uuid& quote_id,
                                                                            std::int64_t revision);

/// Who cancelled an order, and why.
struct Cancellation {
    semel::Uuid order_id;
    std::string command_id;
    std::string reason;
    std::string by;
    semel::Timestamp at{};
};
void insert_cancellation(semel::Transaction& tx, std::string_view tenant, const Cancellation& cancellation);
/// The command that cancelled it.
[[nodiscard]] semel::Result<std::optional<std::string>> find_cancellation(semel::Transaction& tx,
                                                                          std::string_view tenant,
                                                                          const semel::Uuid& order_id);

/// What a person did to an order that was held, and why.
struct Repair {
    std::string command_id;
    semel::Uuid order_id;
    semel::Uuid task_id;
    std::string action;
    std::string reason;
    std::string by;
    semel::Timestamp at{};
};
void insert_repair(semel::Transaction& tx, std::string_view tenant, const Repair& repair);
[[nodiscard]] semel::Result<bool> has_repair(semel::Transaction& tx, std::string_view tenant,
                                             std::string_view command_id);

/// With its items, all of one moment.
[[nodiscard]] semel::Result<std::optional<Order>> find_order(semel::Database& database, semel::Deadline deadline,
                                                             std::string_view tenant, const semel::Uuid& id);

/// Empty: any.
struct OrderFilter {
    std::string state{};
    std::string customer_id{};
    std::optional<semel::Uuid> quote_id{};
};
/// Without items.
[[nodiscard]] semel::Result<std::vector<Order>> list_orders(semel::Database& database, semel::Deadline deadline,
                                                            std::string_view tenant, const OrderFilter& filter,
                                                            const Slice& slice);

}  // namespace orders
