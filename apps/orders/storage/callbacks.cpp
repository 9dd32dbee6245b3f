#include "apps/orders/storage/callbacks.hpp"

namespace orders {

void insert_callback(semel::Transaction& tx, std::string_view tenant, const Callback& callback) {
    tx.post(
        "INSERT INTO orders_callback (tenant, integration, external_id, command_id, type, received_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        tenant, callback.integration, callback.external_id, callback.command_id, callback.type, callback.received_at);
}

}  // namespace orders
