#include "apps/orders/storage/assets.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

Result<Asset> asset_from(const Row& row) {
    return Asset{.id = SEMEL_TRY(row.get<Uuid>("id")),
                 .order_id = SEMEL_TRY(row.get<Uuid>("order_id")),
                 .item_id = SEMEL_TRY(row.get<Uuid>("item_id")),
                 .customer_id = SEMEL_TRY(row.get<std::string>("customer_id")),
                 .instance_key = SEMEL_TRY(row.get<std::string>("instance_key")),
                 .sku = SEMEL_TRY(row.get<std::string>("sku")),
                 .quantity = SEMEL_TRY(row.get<std::int64_t>("quantity")),
                 .state = SEMEL_TRY(row.get<std::string>("state")),
                 .version = SEMEL_TRY(row.get<std::int64_t>("version")),
                 .created_at = SEMEL_TRY(row.get<semel::Timestamp>("created_at"))};
}

Result<std::optional<Asset>> first_of(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(asset_from(rows.front()));
}

constexpr semel::Sql one_asset =
    "SELECT id, order_id, item_id, customer_id, instance_key, sku, quantity, state, version, created_at"
    " FROM orders_asset WHERE tenant = $1 AND id = $2";

}  // namespace

void insert_asset(Transaction& tx, std::string_view tenant, const Asset& asset) {
    tx.post(
        "INSERT INTO orders_asset (tenant, id, order_id, item_id, customer_id, instance_key, sku, quantity, state,"
        " version, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        tenant, asset.id, asset.order_id, asset.item_id, asset.customer_id, asset.instance_key, asset.sku,
        asset.quantity, asset.state, asset.version, asset.created_at);
}

Result<std::optional<Asset>> load_asset(Transaction& tx, std::string_view tenant, const Uuid& id) {
    return first_of(SEMEL_TRY(tx.execute(one_asset, tenant, id)));
}

void update_asset(Transaction& tx, std::string_view tenant, const Asset& asset) {
    tx.post_expecting(1,
                      "UPDATE orders_asset SET quantity = $3, state = $4, version = $5"
                      " WHERE tenant = $1 AND id = $2 AND version = $6",
                      tenant, asset.id, asset.quantity, asset.state, asset.version, asset.version - 1);
}

Result<std::optional<Asset>> find_asset_in_the_way(Transaction& tx, std::string_view tenant, const Uuid& order_id) {
    return first_of(SEMEL_TRY(tx.execute(
        "SELECT asset.id, asset.order_id, asset.item_id, asset.customer_id, asset.instance_key, asset.sku,"
        " asset.quantity, asset.state, asset.version, asset.created_at"
        " FROM orders_order AS head"
        " JOIN orders_order_item AS item ON item.tenant = head.tenant AND item.order_id = head.id"
        " JOIN orders_asset AS asset ON asset.tenant = head.tenant"
        " AND ((asset.customer_id = head.customer_id AND asset.instance_key = item.instance_key"
        " AND asset.state IN ('ACTIVE', 'SUSPENDED')) OR (asset.order_id = head.id AND asset.item_id = item.id))"
        " WHERE head.tenant = $1 AND head.id = $2 ORDER BY asset.id LIMIT 1",
        tenant, order_id)));
}

Result<std::optional<Asset>> find_asset(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                        const Uuid& id) {
    return first_of(SEMEL_TRY(read(database, deadline, one_asset, tenant, id)));
}

Result<std::vector<Asset>> list_assets(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                       const AssetFilter& filter, const Slice& slice) {
    const Rows rows = SEMEL_TRY(
        read(database, deadline,
             "SELECT id, order_id, item_id, customer_id, instance_key, sku, quantity, state, version, created_at"
             " FROM orders_asset WHERE tenant = $1 AND id > $2 AND ($3 = '' OR state = $3)"
             " AND ($4 = '' OR customer_id = $4) AND order_id = COALESCE($5, order_id) ORDER BY id LIMIT $6",
             tenant, slice.after, filter.state, filter.customer_id, filter.order_id, slice.limit));
    std::vector<Asset> found;
    found.reserve(rows.size());
    for (const Row row : rows) found.push_back(SEMEL_TRY(asset_from(row)));
    return found;
}

}  // namespace orders
