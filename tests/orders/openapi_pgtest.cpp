// The service does what it says of itself: one walk over every route of /openapi.json, with every reply held against it.

#include "semel/db/value.hpp"
#include "tests/orders/fixture.hpp"
#include "tests/orders/journey.hpp"
#include "tests/orders/json_schema.hpp"
#include "tests/orders/openapi_faults.hpp"
#include "tests/orders/signed_callback.hpp"
#include "tests/orders/signed_event.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::IsEmpty;

constexpr const char* nobody = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";

/// A versioned thing as it was last seen.
struct Seen {
    std::string path;
    std::string etag;
    std::string body;
};

class OrdersOpenApi : public OrdersTest {
protected:
    void SetUp() override {
        OrdersTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        start({.config =
                   "[quotes]\nexpiry_pass = \"100ms\"\n" + std::string(callback_config) + std::string(consume_config)});
        journey.emplace([this](const HttpRequest& request) { return send(request); });
    }

    [[nodiscard]] std::string key() { return "walk-" + std::to_string(++keys_); }

    [[nodiscard]] Seen see(const std::string& path) const {
        const HttpResponse read = get(path);
        EXPECT_EQ(read.status, 200) << path << ": " << read.body;
        const std::string etag = read.header("ETag").value_or("");
        EXPECT_EQ(get(path, {{"If-None-Match", etag}}).status, 304) << path;
        return {path, etag, read.body};
    }
    /// One guarded command on what is seen now. It must be done; and it must be refused without a version, with a version
    /// that is none, and for what does not exist.
    HttpResponse change(const std::string& path, const std::string& step, const std::string& body) {
        const Seen before = see(path);
        const std::string target = path + "/" + step;
        EXPECT_EQ(post(target, key(), body).status, 428) << target;
        EXPECT_EQ(post(target, key(), body, {{"If-Match", "\"other-7\""}}).status, 412) << target;
        const std::string elsewhere = path.substr(0, path.rfind('/') + 1) + nobody + "/" + step;
        EXPECT_EQ(post(elsewhere, key(), body, {{"If-Match", before.etag}}).status, 404) << elsewhere;
        const std::string used = key();
        HttpResponse done = post(target, used, body, {{"If-Match", before.etag}});
        EXPECT_EQ(done.status / 100, 2) << target << ": " << done.body;
        EXPECT_EQ(post(target, used, body, {{"If-Match", before.etag}}).header("Idempotency-Replayed"), "true")
            << target;
        return done;
    }
    /// The step is not one for the state that it is in.
    void expect_conflict(const std::string& path, const std::string& step, const std::string& body) {
        const HttpResponse refused = post(path + "/" + step, key(), body, {{"If-Match", see(path).etag}});
        EXPECT_EQ(refused.status, 409) << path << "/" << step << ": " << refused.body;
    }
    template <class Done>
    void await(const Done& done) {
        for (int i = 0; i < 600 && !done(); ++i) pause_for(50ms);
        EXPECT_TRUE(done());
    }

    // The walk, part by part.
    void walk_payments();
    void walk_cases();
    void walk_quotes();
    void walk_approvals();
    void walk_expiry();
    [[nodiscard]] std::string convert();
    [[nodiscard]] std::string ready_task(const std::string& order, const std::string& state = "READY") const;
    void tell(const std::string& type, const std::string& order);
    void walk_fulfilment();
    void walk_assets(const std::string& order);
    void walk_repair_and_cancel();
    void walk_events();
    void walk() {
        walk_payments();
        walk_cases();
        walk_quotes();
        walk_approvals();
        walk_expiry();
        walk_fulfilment();
        walk_repair_and_cancel();
        walk_events();
    }

    std::optional<Journey> journey;

private:
    int keys_ = 0;
};

void OrdersOpenApi::walk_payments() {
    const HttpResponse made = post("/api/v1/payments", key(), payment_body("r-1"));
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(post("/api/v1/payments", key(), payment_body("r-1")).status, 200);
    EXPECT_EQ(post("/api/v1/payments", key(), payment_body("r-1", "11.00")).status, 409);
    EXPECT_EQ(get(made.header("Location").value_or("")).body, made.body);
    EXPECT_EQ(get("/api/v1/payments?limit=1").status, 200);
    const HttpResponse handed_in = post("/api/v1/payments", key(), payment_body("r-2"), {{"Prefer", "respond-async"}});
    EXPECT_EQ(handed_in.status, 202);
    await([&] { return get(handed_in.member("statusUrl")).member("status") == "succeeded"; });
    EXPECT_EQ(get("/api/v1/commands/cmd_" + std::string(32, '0')).status, 404);
}

void OrdersOpenApi::walk_cases() {
    const HttpResponse opened = post("/api/v1/cases", key(), R"({"subject":"noise at night"})");
    const std::string path = opened.header("Location").value_or("");
    EXPECT_EQ(get(path).body, opened.body);
    const std::string actions = path + "/enforcement-actions";
    const HttpResponse taken = post(actions, key(), R"({"violationCode":"v-1"})");
    EXPECT_EQ(taken.status, 201);
    EXPECT_EQ(post(actions, key(), R"({"violationCode":"v-1"})").status, 409);
    EXPECT_EQ(get(taken.header("Location").value_or("")).body, taken.body);
    EXPECT_EQ(get(actions).status, 200);
    EXPECT_EQ(get("/api/v1/cases").status, 200);
    EXPECT_EQ(get(std::string("/api/v1/cases/") + nobody + "/enforcement-actions").status, 404);
}

void OrdersOpenApi::walk_quotes() {
    EXPECT_EQ(get("/api/v1/products").status, 200);
    const std::string quote = "/api/v1/quotes/" + make_quote(key());
    const HttpResponse item = change(quote, "items", R"({"sku":"fiber-100","quantity":12,"instanceKey":"line-1"})");
    EXPECT_EQ(get(item.header("Location").value_or("")).status, 200);
    EXPECT_EQ(get(quote + "/items/" + nobody).status, 404);
    change(quote, "items", R"({"sku":"something","quantity":1,"unitPrice":"1.005"})");
    EXPECT_EQ(
        post(quote + "/items", key(), R"({"sku":"no-such","quantity":1})", {{"If-Match", see(quote).etag}}).status,
        422);
    change(quote, "reprice", R"({"priceRunId":"run-1"})");
    expect_conflict(quote, "reprice", R"({"priceRunId":"run-1"})");
    change(quote, "submit", "{}");
    expect_conflict(quote, "submit", "{}");
    change(quote, "accept", "{}");
    expect_conflict(quote, "accept", "{}");
    EXPECT_EQ(get("/api/v1/quotes?state=ACCEPTED&customerId=c-1&limit=1").status, 200);
    EXPECT_EQ(get("/api/v1/audit?resource=quotes/" + quote.substr(quote.rfind('/') + 1)).status, 200);
    EXPECT_EQ(get("/api/v1/audit?resource=" + std::string(nobody)).status, 404);
    EXPECT_EQ(get("/api/v1/audit").status, 400);
}

void OrdersOpenApi::walk_approvals() {
    QuoteAt two = journey->submitted({Journey::very_dear});
    change(two.path(), "approve", R"({"reason":"fine by me"})");
    expect_conflict(two.path(), "approve", "{}");
    two.version += 1;
    journey->take(two, "approve", "{}", {{"X-Caller-Id", "somebody-else"}});
    EXPECT_EQ(get(two.path("/approvals")).status, 200);
    const QuoteAt one = journey->submitted({Journey::dear});
    change(one.path(), "reject", R"({"reason":"too dear"})");
    expect_conflict(one.path(), "reject", R"({"reason":"too dear"})");
    change(one.path(), "revise", "{}");
    expect_conflict(one.path(), "revise", "{}");
}

void OrdersOpenApi::walk_expiry() {
    const std::string until = semel::timestamp_text(semel::system_clock().wall() + 1s);
    const std::string body = R"({"customerId":"c-2","currency":"EUR","validUntil":")" + until + "\"}";
    const std::string quote = post("/api/v1/quotes", key(), body).header("Location").value_or("");
    await([&] { return events("quote.expired") == 1; });
    EXPECT_EQ(get(quote).member("state"), "EXPIRED");
    expect_conflict(quote, "submit", "{}");
}

/// The path of a new order.
std::string OrdersOpenApi::convert() {
    const QuoteAt quote = journey->accepted();
    const HttpResponse made = change(quote.path(), "convert-to-order", R"({"targetDate":"2030-12-01"})");
    expect_conflict(quote.path(), "convert-to-order", "{}");
    return made.header("Location").value_or("");
}

/// The path of a task of the order that may be done, or is in that state; empty: there is none.
std::string OrdersOpenApi::ready_task(const std::string& order, const std::string& state) const {
    const HttpResponse tasks =
        get("/api/v1/fulfillment-tasks?state=" + state + "&orderId=" + order.substr(order.rfind('/') + 1));
    const json items = json::parse(tasks.body)["items"];
    return items.empty() ? "" : "/api/v1/fulfillment-tasks/" + items[0]["taskId"].get<std::string>();
}

void OrdersOpenApi::walk_fulfilment() {
    const std::string order = convert();
    EXPECT_EQ(see(order).body, get(order).body);
    EXPECT_EQ(get("/api/v1/orders?state=CREATED&customerId=c-1&quoteId=" + get(order).member("quoteId")).status, 200);
    const std::string first = ready_task(order);
    change(first, "fail", R"({"reason":"out of stock"})");
    expect_conflict(first, "complete", "{}");
    const std::string none = std::string(R"({"action":"SKIP_TASK","reason":"x","taskId":")") + nobody + "\"}";
    EXPECT_EQ(post(order + "/repair", key(), none, {{"If-Match", see(order).etag}}).status, 422);
    change(first, "retry", "{}");
    const std::string told =
        R"({"type":"task.completed","attempt":2,"taskId":")" + first.substr(first.rfind('/') + 1) + "\"}";
    EXPECT_EQ(send(SignedCallback{.id = "msg-1", .body = told}.request()).status, 200);
    HttpRequest forged = SignedCallback{.id = "msg-2", .body = told}.request();
    forged.body += " ";
    EXPECT_EQ(send(forged).status, 401);
    for (std::string task = ready_task(order); !task.empty(); task = ready_task(order)) change(task, "complete", "{}");
    EXPECT_EQ(get(order).member("state"), "COMPLETED");
    expect_conflict(order, "cancel", R"({"reason":"too late"})");
    walk_assets(order);
}

void OrdersOpenApi::walk_assets(const std::string& order) {
    const HttpResponse all =
        get("/api/v1/assets?state=ACTIVE&customerId=c-1&orderId=" + order.substr(order.rfind('/') + 1));
    const json items = json::parse(all.body)["items"];
    ASSERT_EQ(items.size(), 1U) << all.body;
    const std::string asset = "/api/v1/assets/" + items[0]["assetId"].get<std::string>();
    change(asset, "modify", R"({"change":"SET_QUANTITY","quantity":3})");
    change(asset, "modify", R"({"change":"SUSPEND","reason":"unpaid"})");
    expect_conflict(asset, "modify", R"({"change":"SUSPEND"})");
    change(asset, "modify", R"({"change":"RESUME"})");
    change(asset, "modify", R"({"change":"END"})");
}

void OrdersOpenApi::walk_repair_and_cancel() {
    const std::string order = convert();
    const std::string task = ready_task(order);
    change(task, "fail", R"({"reason":"broken"})");
    const std::string id = task.substr(task.rfind('/') + 1);
    change(order, "repair", R"({"action":"SKIP_TASK","reason":"done by hand","taskId":")" + id + "\"}");
    change(order, "cancel", R"({"reason":"changed their mind"})");
    expect_conflict(order, "cancel", R"({"reason":"again"})");
}

/// Those who consume them are told what became of the order.
void OrdersOpenApi::tell(const std::string& type, const std::string& order) {
    const std::string payload = payload_of(type, order.substr(order.rfind('/') + 1));
    const SignedEvent event{.id = key(), .type = type, .payload = payload};
    EXPECT_EQ(send(event.request()).status, 204) << type;
    HttpRequest forged = event.request();
    forged.body += " ";
    EXPECT_EQ(send(forged).status, 401) << type;
}

void OrdersOpenApi::walk_events() {
    const std::string order = convert();
    tell("order.created", order);
    const std::string begun = ready_task(order, "RUNNING");
    EXPECT_NE(begun, "");
    change(begun, "complete", "{}");
    for (std::string task = ready_task(order); !task.empty(); task = ready_task(order)) change(task, "complete", "{}");
    tell("order.completed", order);
    const HttpResponse all = get("/api/v1/invoices?orderId=" + order.substr(order.rfind('/') + 1));
    const json items = json::parse(all.body)["items"];
    ASSERT_EQ(items.size(), 1U) << all.body;
    EXPECT_EQ(get("/api/v1/invoices/" + items[0]["invoiceId"].get<std::string>()).status, 200);
    EXPECT_EQ(get(std::string("/api/v1/invoices/") + nobody).status, 404);
    EXPECT_EQ(get("/api/v1/audit?resource=invoices/" + items[0]["invoiceId"].get<std::string>()).status, 200);
}

TEST_P(OrdersOpenApi, TheDocumentIsSoundInItselfAndOpenToEveryone) {
    const HttpResponse document = get("/openapi.json");
    EXPECT_EQ(document.status, 200);
    EXPECT_EQ(document.header("Content-Type"), "application/json");
    EXPECT_THAT(faults_of(json::parse(document.body)), IsEmpty());
    EXPECT_EQ(get("/openapi.json", {{"If-None-Match", document.header("ETag").value_or("")}}).status, 304);
    const auto directory = semel::testing::TempDir::make("orders-tokens");
    ASSERT_TRUE(directory) << directory.error().describe();
    const auto tokens = directory->path() / "tokens.txt";
    std::ofstream(tokens) << std::string(64, '0') << " shop web\n";
    start({.config = "tokens = \"" + tokens.string() + "\"\n"});
    EXPECT_EQ(get("/openapi.json").body, document.body);
    EXPECT_EQ(get("/api/v1/quotes").status, 401);
}

TEST_P(OrdersOpenApi, EveryRouteIsExercisedAndEveryReplyIsAsDeclared) {
    openapi->forget();
    walk();
    EXPECT_THAT(openapi->unseen_successes(), IsEmpty());
}

/// One contract of docs/events.
struct Contract {
    json document;
    std::unique_ptr<JsonSchema> schema;
    int events = 0;
};

std::map<std::string, Contract> contracts() {
    std::map<std::string, Contract> all;
    for (const auto& entry : std::filesystem::directory_iterator(SEMEL_ORDERS_EVENTS)) {
        if (entry.path().extension() != ".json") continue;
        const std::string name = entry.path().filename().string();
        std::ifstream file(entry.path());
        const json document = json::parse(file, nullptr, false);
        EXPECT_TRUE(document.is_object()) << name;
        const json about = document.value("x-semel", json::object());
        const std::string type = about.value("type", "");
        EXPECT_EQ(name, type + ".v" + std::to_string(about.value("version", 0)) + ".json");
        EXPECT_EQ(document.value("$schema", ""), "https://json-schema.org/draft/2020-12/schema") << name;
        EXPECT_EQ(document.value("$id", ""), "urn:semel-orders:event:" + type + ":1") << name;
        for (const char* member : {"owner", "aggregate", "orderingKey", "idempotencyKey"})
            EXPECT_NE(about.value(member, ""), "") << name << " " << member;
        for (const char* member : {"title", "description"}) EXPECT_NE(document.value(member, ""), "") << name;
        EXPECT_EQ(schema_fault(document, name), "");
        all[type] = {document, std::make_unique<JsonSchema>(document)};
    }
    return all;
}

TEST_P(OrdersOpenApi, EveryEventKeepsItsContractAndEveryContractHasAnEvent) {
    walk();
    const auto read = semel::transact(database(), [&](semel::Transaction& tx) -> semel::Result<semel::Rows> {
        if (GetParam() == Target::sqlite)
            return tx.execute("SELECT type, aggregate_type, payload FROM semel_outbox_event");
        return tx.execute("SELECT type, aggregate_type, payload FROM semel.outbox_event");
    });
    ASSERT_TRUE(read.committed()) << read.error().describe();
    auto known = contracts();
    for (const semel::Row row : read.value()) {
        const auto type = row.get<std::string>("type").value();
        const auto payload = row.get<std::string>("payload").value();
        const auto found = known.find(type);
        ASSERT_NE(found, known.end()) << type << " has no contract in docs/events";
        EXPECT_EQ(found->second.schema->complaint(json::parse(payload)), "") << type << ": " << payload;
        EXPECT_EQ(found->second.document["x-semel"]["aggregate"], row.get<std::string>("aggregate_type").value())
            << type;
        ++found->second.events;
    }
    for (const auto& [type, contract] : known) EXPECT_GT(contract.events, 0) << type << " was never seen";
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersOpenApi, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
