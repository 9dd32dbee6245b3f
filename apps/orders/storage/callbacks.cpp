#include "apps/orders/storage/callbacks.hpp"

namespace orders {

void insert_callback(semel::Transaction& tx, std::string_view tenant, const Callback& callback) {
    tx.post(
        "INSERT INTO orders_callback (tenant, integration, external_id, command_id, type, received_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        tenant, callback.integration, callback.external_id, callback.command_id, callback.type, callback.received_at);
}

semel::Result<bool> has_callback(semel::Transaction& tx, std::string_view tenant, std::string_view integration,
                                 std::string_view external_id) {
    const semel::Rows rows = SEMEL_TRY(
        tx.execute("SELECT type FROM orders_callback WHERE tenant = $1 AND integration = $2 AND external_id = $3",
                   tenant, integration, external_id));
    return !rows.empty();
}

}  // namespace orders
