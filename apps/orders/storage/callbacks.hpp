#pragma once

#include "semel/base/time.hpp"
#include "semel/db/transaction.hpp"

#include <string>
#include <string_view>

namespace orders {

/// Of the primary key: one row for each id of each sender, longer than any reply is kept.
inline constexpr std::string_view callback_key = "orders_callback_pkey";

struct Callback {
    std::string integration;
    std::string external_id;
    std::string command_id;
    std::string type;
    semel::Timestamp received_at{};
};

void insert_callback(semel::Transaction& tx, std::string_view tenant, const Callback& callback);
[[nodiscard]] semel::Result<bool> has_callback(semel::Transaction& tx, std::string_view tenant,
                                               std::string_view integration, std::string_view external_id);

}  // namespace orders
