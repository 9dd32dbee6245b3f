#include "apps/orders/handlers/fulfilment.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/assets.hpp"
#include "apps/orders/storage/orders.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {
namespace {

void write_task(semel::Work& work, const TaskChange& change, std::string_view reason) {
    const Task& task = change.task;
    const bool is_told = !change.event.empty();
    update_task(work.tx, work.command.identity.tenant(), task, is_told ? task.version - 1 : task.version);
    if (!is_told) return;
    record(work, {.kind = "task",
                  .id = task.id,
                  .parent = task.order_id,
                  .event = change.event,
                  .from = change.from,
                  .to = task.state,
                  .version = task.version,
                  .payload = task_payload(task),
                  .reason = std::string(reason)});
}

void make_assets(semel::Work& work, const Order& order) {
    for (const Asset& asset : assets_of(order, semel::system_clock().wall(), semel::new_uuid)) {
        insert_asset(work.tx, work.command.identity.tenant(), asset);
        record(work, {.kind = "asset",
                      .id = asset.id,
                      .parent = order.id,
                      .event = asset_created_event,
                      .to = asset.state,
                      .version = asset.version,
                      .payload = asset_payload(asset)});
    }
}

}  // namespace

void write(semel::Work& work, const Progress& progress, std::string order_payload, std::string_view reason) {
    const Order& order = progress.order;
    update_order(work.tx, work.command.identity.tenant(), order);
    for (const TaskChange& change : progress.tasks) write_task(work, change, reason);
    if (order.state == order_state::completed) make_assets(work, order);
    record(work, {.kind = "order",
                  .id = order.id,
                  .parent = order.quote_id,
                  .event = progress.event,
                  .from = progress.from,
                  .to = order.state,
                  .version = order.version,
                  .payload = std::move(order_payload),
                  .reason = std::string(reason)});
}

semel::Result<std::optional<Refusal>> asset_in_the_way(semel::Work& work, const semel::Uuid& order_id) {
    const auto asset = SEMEL_TRY(find_asset_in_the_way(work.tx, work.command.identity.tenant(), order_id));
    if (!asset) return std::nullopt;
    return Refusal(
        Duplicate{.kind = "asset",
                  .existing = asset->id.text(),
                  .detail = "The customer has an asset of the product instance " + asset->instance_key + " already."});
}

semel::Result<std::optional<Refusal>> attempt_in_the_way(semel::Work& work, const semel::Uuid& task_id,
                                                         std::int64_t attempt) {
    const auto command = SEMEL_TRY(find_attempt(work.tx, work.command.identity.tenant(), task_id, attempt));
    if (!command) return std::nullopt;
    return Refusal(Duplicate{.kind = "attempt",
                             .existing = *command,
                             .detail = "Attempt " + std::to_string(attempt) + " of the task was begun already."});
}

}  // namespace orders
