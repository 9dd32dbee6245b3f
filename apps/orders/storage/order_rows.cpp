#include "apps/orders/storage/order_rows.hpp"

namespace orders {

using semel::Result;
using semel::Row;
using semel::Uuid;

Result<Order> order_from(const Row& row) {
    return Order{.id = SEMEL_TRY(row.get<Uuid>("order_id")),
                 .quote_id = SEMEL_TRY(row.get<Uuid>("quote_id")),
                 .quote_revision = SEMEL_TRY(row.get<std::int64_t>("quote_revision")),
                 .customer_id = SEMEL_TRY(row.get<std::string>("customer_id")),
                 .currency = SEMEL_TRY(row.get<std::string>("currency")),
                 .state = SEMEL_TRY(row.get<std::string>("order_state")),
                 .version = SEMEL_TRY(row.get<std::int64_t>("order_version")),
                 .sums = {.net = SEMEL_TRY(row.get<semel::Decimal>("order_net")),
                          .tax = SEMEL_TRY(row.get<semel::Decimal>("order_tax")),
                          .gross = SEMEL_TRY(row.get<semel::Decimal>("order_gross"))},
                 .target_date = SEMEL_TRY(row.get<std::string>("target_date")),
                 .task_count = SEMEL_TRY(row.get<std::int64_t>("task_count")),
                 .open_task_count = SEMEL_TRY(row.get<std::int64_t>("open_task_count")),
                 .failed_task_count = SEMEL_TRY(row.get<std::int64_t>("failed_task_count")),
                 .created_at = SEMEL_TRY(row.get<semel::Timestamp>("order_created_at"))};
}

Result<OrderItem> order_item_from(const Row& row) {
    return OrderItem{.id = SEMEL_TRY(row.get<Uuid>("item_id")),
                     .sku = SEMEL_TRY(row.get<std::string>("sku")),
                     .quantity = SEMEL_TRY(row.get<std::int64_t>("quantity")),
                     .instance_key = SEMEL_TRY(row.get<std::string>("instance_key")),
                     .sums = {.net = SEMEL_TRY(row.get<semel::Decimal>("item_net")),
                              .tax = SEMEL_TRY(row.get<semel::Decimal>("item_tax")),
                              .gross = SEMEL_TRY(row.get<semel::Decimal>("item_gross"))}};
}

Result<Task> task_from(const Row& row) {
    return Task{.id = SEMEL_TRY(row.get<Uuid>("task_id")),
                .order_id = SEMEL_TRY(row.get<Uuid>("order_id")),
                .item_id = SEMEL_TRY(row.get<std::optional<Uuid>>("task_item_id")),
                .kind = SEMEL_TRY(row.get<std::string>("task_kind")),
                .state = SEMEL_TRY(row.get<std::string>("task_state")),
                .version = SEMEL_TRY(row.get<std::int64_t>("task_version")),
                .attempt = SEMEL_TRY(row.get<std::int64_t>("attempt")),
                .waits_for = SEMEL_TRY(row.get<std::int64_t>("waits_for")),
                .failure = SEMEL_TRY(row.get<std::string>("failure")),
                .created_at = SEMEL_TRY(row.get<semel::Timestamp>("task_created_at"))};
}

}  // namespace orders
