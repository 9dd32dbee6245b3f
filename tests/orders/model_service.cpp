#include "tests/orders/model_service.hpp"

#include "semel/base/decimal.hpp"
#include "tests/orders/model_walk.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace orders::model {
namespace {

using nlohmann::json;
using semel::Decimal;

constexpr const char* nobodys_id = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";
constexpr int rate_places = 4;

json text_or_none(const std::string& text) { return text.empty() ? json() : json(text); }

void put(json& object, const Sums& sums, const std::string& currency) {
    object["net"] = money_text(sums.net, places_of(currency));
    object["tax"] = money_text(sums.tax, places_of(currency));
    object["gross"] = money_text(sums.gross, places_of(currency));
}

json json_of(const Line& line, const std::string& currency) {
    json object{{"itemId", line.id},
                {"sku", line.sku},
                {"quantity", line.quantity},
                {"unitPrice", money_text(line.unit_price, rate_places)},
                {"agreed", line.agreed},
                {"discount", money_text(line.discount, rate_places)},
                {"taxRate", money_text(line.tax_rate, rate_places)},
                {"instanceKey", text_or_none(line.instance_key)}};
    put(object, line.sums, currency);
    return object;
}

json json_of(const Quote& quote) {
    const Approval* pending = quote.pending();
    json object{{"quoteId", quote.id},
                {"customerId", quote.customer},
                {"currency", quote.currency},
                {"state", quote.state},
                {"revision", quote.revision},
                {"version", quote.version},
                {"itemCount", quote.lines.size()},
                {"approvalsNeeded", pending == nullptr ? json() : json(pending->needed)},
                {"approvalsGranted", pending == nullptr ? json() : json(pending->granted)},
                {"items", json::array()}};
    put(object, quote.sums(), quote.currency);
    object["total"] = object["gross"];
    for (const Line& line : quote.lines) object["items"].push_back(json_of(line, quote.currency));
    return object;
}

json json_of(const Model& model, const Order& order) {
    const Quote& quote = model.quotes[order.quote];
    json object{{"orderId", order.id},
                {"quoteId", quote.id},
                {"quoteRevision", order.quote_revision},
                {"customerId", quote.customer},
                {"state", order.state},
                {"version", order.version},
                {"currency", quote.currency},
                {"taskCount", order.tasks.size()},
                {"openTaskCount", model.tasks_in(order, {"WAITING", "READY", "FAILED"})},
                {"failedTaskCount", model.tasks_in(order, {"FAILED"})},
                {"items", json::array()}};
    // A converted quote does not change any more.
    put(object, quote.sums(), quote.currency);
    for (const Line& line : order.lines) {
        json item{{"itemId", line.id},
                  {"sku", line.sku},
                  {"quantity", line.quantity},
                  {"instanceKey", Model::instance_of(line)}};
        put(item, line.sums, quote.currency);
        object["items"].push_back(std::move(item));
    }
    return object;
}

json json_of(const Model& model, const Task& task) {
    const Order& order = model.orders[task.order];
    json object{{"taskId", task.id},
                {"orderId", order.id},
                {"itemId", task.line ? json(order.lines[*task.line].id) : json()},
                {"kind", task.kind},
                {"state", task.state},
                {"version", task.version},
                {"attempt", task.attempt},
                {"failure", text_or_none(task.failure)},
                {"needs", json::array()}};
    for (const std::size_t needed : task.needs) object["needs"].push_back(model.tasks[needed].id);
    return object;
}

json json_of(const Model& model, const Asset& asset) {
    const Order& order = model.orders[asset.order];
    const Line& line = order.lines[asset.line];
    return {{"assetId", asset.id},
            {"orderId", order.id},
            {"itemId", line.id},
            {"customerId", model.quotes[order.quote].customer},
            {"sku", line.sku},
            {"instanceKey", Model::instance_of(line)},
            {"quantity", asset.quantity},
            {"state", asset.state},
            {"version", asset.version}};
}

json body_of(const Model& model, const Asked& asked) {
    json body = json::object();
    const auto put_text = [&](const char* name, const std::string& text) {
        if (!text.empty()) body[name] = text;
    };
    if (asked.operation == "quote.add_item") {
        body["quantity"] = asked.quantity;
        if (asked.unit_price) body["unitPrice"] = money_text(*asked.unit_price, rate_places);
    }
    if (asked.operation == "order.repair") body["taskId"] = asked.task ? model.tasks[*asked.task].id : nobodys_id;
    if (asked.new_quantity) body["quantity"] = *asked.new_quantity;
    put_text("customerId", asked.customer);
    put_text("currency", asked.currency);
    put_text("sku", asked.sku);
    put_text("instanceKey", asked.instance_key);
    put_text("priceRunId", asked.run);
    put_text("reason", asked.reason);
    put_text(asked.operation == "asset.modify" ? "change" : "action", asked.word);
    return body;
}

Decimal number_of(const json& text) { return Decimal::parse(text.get<std::string>()).value(); }
Decimal number_in(const json& object, const char* name) { return number_of(object.at(name)); }

std::string difference_of_member(const std::string& name, const json& expected, const json& object,
                                 const std::string& outside) {
    std::string where = outside;
    where.append(".").append(name);
    const bool is_there = object.contains(name);
    if (expected.is_null()) return is_there ? where + " is there: " + object.at(name).dump() : std::string();
    if (!is_there) return where + " is not there, in " + object.dump();
    // However many zeros they end with.
    const bool is_rate = name == "unitPrice" || name == "discount" || name == "taxRate";
    if (is_rate && number_of(expected) == number_of(object.at(name))) return {};
    return difference(expected, object.at(name), where);
}

}  // namespace

std::string path_of(const Model& model, Kind kind, std::optional<std::size_t> thing) {
    constexpr std::array collections{"quotes", "orders", "fulfillment-tasks", "assets"};
    return std::string("/api/v1/") + collections.at(static_cast<std::size_t>(kind)) + "/" +
           (thing ? model.at(kind, *thing).id : nobodys_id);
}

HttpRequest request_of(const Model& model, const Asked& asked, const std::string& key) {
    const Kind kind = kind_of(asked.operation);
    std::string step = asked.operation.substr(asked.operation.find('.') + 1);
    if (step == "add_item") step = "items";
    if (step == "convert") step = "convert-to-order";
    HttpRequest request{
        .method = "POST",
        .target = step == "create" ? "/api/v1/quotes" : path_of(model, kind, asked.thing) + "/" + step,
        .headers = {{"Idempotency-Key", key}, {"Content-Type", "application/json"}, {"X-Caller-Id", asked.caller}},
        .body = body_of(model, asked).dump()};
    if (asked.version)
        request.headers.emplace_back(
            "If-Match", "\"" + std::string(name(kind)) + "-version-" + std::to_string(*asked.version) + "\"");
    return request;
}

json json_of(const Model& model, Kind kind, std::size_t index) {
    switch (kind) {
        case Kind::quote: return json_of(model.quotes[index]);
        case Kind::order: return json_of(model, model.orders[index]);
        case Kind::task: return json_of(model, model.tasks[index]);
        case Kind::asset: break;
    }
    return json_of(model, model.assets[index]);
}

json json_of(const Approval& approval) {
    json object{{"revision", approval.revision},
                {"state", approval.state},
                {"approvalsNeeded", approval.needed},
                {"approvalsGranted", approval.granted},
                {"decisions", json::array()}};
    for (const auto& [approver, word] : approval.decisions)
        object["decisions"].push_back({{"approver", approver}, {"decision", word}});
    return object;
}

json reply_to(const Model& model, const Asked& asked) {
    if (asked.operation == "quote.create") return json_of(model.quotes.back());
    if (asked.operation == "quote.convert") return json_of(model, model.orders.back());
    if (asked.operation == "quote.add_item") {
        const Quote& quote = model.quotes[*asked.thing];
        json item = json_of(quote.lines.back(), quote.currency);
        item["quoteId"] = quote.id;
        item["version"] = quote.version;
        return item;
    }
    return json_of(model, kind_of(asked.operation), *asked.thing);
}

std::string difference(const json& expected, const json& actual, const std::string& where) {
    const auto differs = [&] { return where + " is " + actual.dump() + " and not " + expected.dump(); };
    if (expected.is_object()) {
        if (!actual.is_object()) return differs();
        for (const auto& [name, value] : expected.items()) {
            if (auto found = difference_of_member(name, value, actual, where); !found.empty()) return found;
        }
        return {};
    }
    if (!expected.is_array()) return expected == actual ? std::string() : differs();
    if (!actual.is_array() || expected.size() != actual.size()) return differs();
    const bool has_texts = !expected.empty() && expected.front().is_string();
    if (has_texts) return std::ranges::is_permutation(expected, actual) ? std::string() : differs();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        std::string inside = where;
        inside.append("[").append(std::to_string(i)).append("]");
        if (auto found = difference(expected[i], actual[i], inside); !found.empty()) return found;
    }
    return {};
}

bool adds_up(const json& thing) {
    Decimal net;
    Decimal tax;
    for (const json& item : thing.at("items")) {
        net = net.plus(number_in(item, "net")).value();
        tax = tax.plus(number_in(item, "tax")).value();
        if (number_in(item, "net").plus(number_in(item, "tax")).value() != number_in(item, "gross")) return false;
    }
    return net == number_in(thing, "net") && tax == number_in(thing, "tax") &&
           net.plus(tax).value() == number_in(thing, "gross");
}

}  // namespace orders::model
