#pragma once

#include "apps/orders/domain/asset.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// The unique index that makes one asset of one product instance, as long as it has not ended.
inline constexpr std::string_view active_instance_key = "orders_asset_active_instance";
/// The unique index that makes one asset of one item of an order, ended or not.
inline constexpr std::string_view asset_of_item_key = "orders_asset_of_item";

void insert_asset(semel::Transaction& tx, std::string_view tenant, const Asset& asset);

/// As this transaction sees it; none: there is no such asset.
[[nodiscard]] semel::Result<std::optional<Asset>> load_asset(semel::Transaction& tx, std::string_view tenant,
                                                             const semel::Uuid& id);

/// Compare-and-set: `asset`, at its new version, over the version before it. Posted: should somebody have been faster,
/// the transaction fails as a conflict, and the handler runs again and reads afresh.
void update_asset(semel::Transaction& tx, std::string_view tenant, const Asset& asset);

/// An asset that keeps this order from being completed; none: nothing does.
[[nodiscard]] semel::Result<std::optional<Asset>> find_asset_in_the_way(semel::Transaction& tx, std::string_view tenant,
                                                                        const semel::Uuid& order_id);

[[nodiscard]] semel::Result<std::optional<Asset>> find_asset(semel::Database& database, semel::Deadline deadline,
                                                             std::string_view tenant, const semel::Uuid& id);

/// Empty: any.
struct AssetFilter {
    std::string state{};
    std::string customer_id{};
    std::optional<semel::Uuid> order_id{};
};
[[nodiscard]] semel::Result<std::vector<Asset>> list_assets(semel::Database& database, semel::Deadline deadline,
                                                            std::string_view tenant, const AssetFilter& filter,
                                                            const Slice& slice);

}  // namespace orders
