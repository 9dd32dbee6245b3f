#include "apps/orders/handlers/order_events.hpp"

#include <nlohmann/json.hpp>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

Json head_of(const Order& order) {
    Json head{{"orderId", order.id.text()},
              {"quoteId", order.quote_id.text()},
              {"quoteRevision", order.quote_revision},
              {"customerId", order.customer_id},
              {"state", order.state},
              {"version", order.version},
              {"currency", order.currency},
              {"net", order.sums.net.text()},
              {"tax", order.sums.tax.text()},
              {"gross", order.sums.gross.text()},
              {"taskCount", order.task_count},
              {"openTaskCount", order.open_task_count},
              {"failedTaskCount", order.failed_task_count}};
    if (!order.target_date.empty()) head["targetDate"] = order.target_date;
    return head;
}

Json item_of(const OrderItem& item) {
    return {{"itemId", item.id.text()},       {"sku", item.sku},
            {"quantity", item.quantity},      {"instanceKey", item.instance_key},
            {"net", item.sums.net.text()},    {"tax", item.sums.tax.text()},
            {"gross", item.sums.gross.text()}};
}

Json task_of(const Task& task) {
    Json told{{"taskId", task.id.text()}};
    if (task.item_id) told["itemId"] = task.item_id->text();
    told.update(Json{{"kind", task.kind}, {"state", task.state}, {"version", task.version}, {"attempt", task.attempt}});
    return told;
}

}  // namespace

std::string order_created_payload(const Fulfilment& made) {
    Json payload = head_of(made.order);
    payload["items"] = Json::array();
    for (const OrderItem& item : made.order.items) payload["items"].push_back(item_of(item));
    payload["tasks"] = Json::array();
    for (const Task& task : made.tasks) {
        Json told = task_of(task);
        told["needs"] = Json::array();
        for (const semel::Uuid& needed : task.needs) told["needs"].push_back(needed.text());
        payload["tasks"].push_back(std::move(told));
    }
    return payload.dump();
}

std::string order_payload(const Order& order) { return head_of(order).dump(); }

std::string order_cancelled_payload(const Order& order, std::string_view reason) {
    Json payload = head_of(order);
    payload["reason"] = reason;
    return payload.dump();
}

std::string order_repaired_payload(const Order& order, std::string_view action, const semel::Uuid& task_id,
                                   std::string_view reason) {
    Json payload = head_of(order);
    payload.update(Json{{"action", action}, {"taskId", task_id.text()}, {"reason", reason}});
    return payload.dump();
}

std::string task_payload(const Task& task) {
    Json payload = task_of(task);
    payload["orderId"] = task.order_id.text();
    if (!task.failure.empty()) payload["failure"] = task.failure;
    return payload.dump();
}

std::string asset_payload(const Asset& asset) {
    return Json{{"assetId", asset.id.text()},
                {"orderId", asset.order_id.text()},
                {"itemId", asset.item_id.text()},
                {"customerId", asset.customer_id},
                {"sku", asset.sku},
                {"instanceKey", asset.instance_key},
                {"quantity", asset.quantity},
                {"state", asset.state},
                {"version", asset.version}}
        .dump();
}

}  // namespace orders
