#include "apps/orders/http/order_json.hpp"

#include "apps/orders/http/json_page.hpp"
#include "semel/db/value.hpp"

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

Json head_of(const Order& order) {
    Json json{{"orderId", order.id.text()},
              {"quoteId", order.quote_id.text()},
              {"quoteRevision", order.quote_revision},
              {"customerId", order.customer_id},
              {"state", order.state},
              {"version", order.version},
              {"currency", order.currency},
              {"net", order.sums.net.text()},
              {"tax", order.sums.tax.text()},
              {"gross", order.sums.gross.text()}};
    if (!order.target_date.empty()) json["targetDate"] = order.target_date;
    json.update(Json{{"taskCount", order.task_count},
                     {"openTaskCount", order.open_task_count},
                     {"failedTaskCount", order.failed_task_count},
                     {"createdAt", semel::timestamp_text(order.created_at)}});
    return json;
}

Json item_of(const OrderItem& item) {
    return {{"itemId", item.id.text()},       {"sku", item.sku},
            {"quantity", item.quantity},      {"instanceKey", item.instance_key},
            {"net", item.sums.net.text()},    {"tax", item.sums.tax.text()},
            {"gross", item.sums.gross.text()}};
}

Json head_of(const Task& task) {
    Json json{{"taskId", task.id.text()}, {"orderId", task.order_id.text()}};
    if (task.item_id) json["itemId"] = task.item_id->text();
    json.update(Json{{"kind", task.kind}, {"state", task.state}, {"version", task.version}, {"attempt", task.attempt}});
    if (!task.failure.empty()) json["failure"] = task.failure;
    json["createdAt"] = semel::timestamp_text(task.created_at);
    return json;
}

Json whole(const Asset& asset) {
    return {{"assetId", asset.id.text()},
            {"orderId", asset.order_id.text()},
            {"itemId", asset.item_id.text()},
            {"customerId", asset.customer_id},
            {"sku", asset.sku},
            {"instanceKey", asset.instance_key},
            {"quantity", asset.quantity},
            {"state", asset.state},
            {"version", asset.version},
            {"createdAt", semel::timestamp_text(asset.created_at)}};
}

}  // namespace

std::string json_of(const Order& order) {
    Json json = head_of(order);
    json["items"] = Json::array();
    for (const OrderItem& item : order.items) json["items"].push_back(item_of(item));
    return json.dump();
}

std::string json_of(const Task& task) {
    Json json = head_of(task);
    json["needs"] = Json::array();
    for (const semel::Uuid& needed : task.needs) json["needs"].push_back(needed.text());
    return json.dump();
}

std::string json_of(const Asset& asset) { return whole(asset).dump(); }

std::string json_of(const std::vector<Order>& found, const std::optional<std::string>& next) {
    return page_of(found, next, [](const Order& order) { return head_of(order); });
}

std::string json_of(const std::vector<Task>& found, const std::optional<std::string>& next) {
    return page_of(found, next, [](const Task& task) { return head_of(task); });
}

std::string json_of(const std::vector<Asset>& found, const std::optional<std::string>& next) {
    return page_of(found, next, [](const Asset& asset) { return whole(asset); });
}

}  // namespace orders
