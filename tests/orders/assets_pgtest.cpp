// What customers have: one of each product instance at a time, and no change of it is lost.

#include "tests/orders/order_journey.hpp"

namespace orders::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class OrdersAssets : public OrderJourneyTest {
protected:
    /// The only asset of a new order.
    [[nodiscard]] Seen make_asset(const std::string& instance_key = "line-1") {
        const std::string order = make_order({item_on(instance_key)});
        finish(order);
        const auto ids = members("/api/v1/assets?orderId=" + order, "assetId");
        EXPECT_EQ(ids.size(), 1);
        return look("/api/v1/assets/" + (ids.empty() ? "" : ids.front()));
    }
    [[nodiscard]] static std::string changing(const std::string& change) { return R"({"change":")" + change + "\"}"; }
};

TEST_P(OrdersAssets, OfManyOrdersOfOneInstanceOneIsCompleted) {
    start();
    constexpr int count_of_orders = 32;
    std::vector<std::string> order_ids;
    std::vector<TaskAt> last;
    for (int i = 0; i < count_of_orders; ++i) {
        order_ids.push_back(make_order({item_on("line-4711")}));
        last.push_back(all_but_the_last(order_ids.back()));
    }
    std::mutex mutex;
    std::vector<std::string> named;
    const auto told = at_once(count_of_orders, [&](int client) {
        HttpResponse answer = command(last[static_cast<std::size_t>(client)].seen(), "complete");
        const std::lock_guard lock(mutex);
        if (answer.status != 200) named.push_back(answer.member("existingId"));
        return answer;
    });
    EXPECT_THAT(told,
                UnorderedElementsAre(Pair("200", 1), Pair("409 DUPLICATE_BUSINESS_COMMAND", count_of_orders - 1)));
    const auto active = members("/api/v1/assets?state=ACTIVE", "assetId");
    ASSERT_EQ(active.size(), 1);
    EXPECT_THAT(named, ::testing::Each(active.front()));
    EXPECT_EQ(count("SELECT count(*) FROM orders_asset"), 1);
    EXPECT_EQ(events("asset.created"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE state = 'COMPLETED'"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE state = 'IN_PROGRESS'"), count_of_orders - 1);
    expect_consistent_orders();
}

TEST_P(OrdersAssets, AnInstanceIsFreeAgainWhenItsAssetHasEnded) {
    start();
    const Seen first = make_asset();
    const std::string order = make_order({Journey::cheap, item_on("line-1")});
    const TaskAt last = all_but_the_last(order);
    const HttpResponse refused = command(last.seen(), "complete");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ("/api/v1/assets/" + refused.member("existingId"), first.path);
    EXPECT_THAT(refused.member("detail"), HasSubstr("line-1"));
    EXPECT_EQ(get(last.seen().path).member("state"), "READY") << "the whole command did nothing";
    EXPECT_EQ(get("/api/v1/orders/" + order).member("openTaskCount"), "1");
    EXPECT_THAT(members("/api/v1/assets?orderId=" + order, "assetId"), IsEmpty());
    expect_consistent_orders();
    // One that is suspended is still the customer's.
    ASSERT_EQ(command(first, "modify", changing("SUSPEND")).status, 200);
    EXPECT_EQ(command(last.seen(), "complete").status, 409);
    ASSERT_EQ(command(look(first.path), "modify", changing("END")).status, 200);
    EXPECT_EQ(command(last.seen(), "complete").status, 200);
    EXPECT_EQ(members("/api/v1/assets?orderId=" + order, "assetId").size(), 2);
    expect_consistent_orders();
}

TEST_P(OrdersAssets, ARepairThatWouldMakeASecondOneIsRefusedToo) {
    start();
    const Seen first = make_asset();
    const std::string order = make_order({item_on("line-1")});
    const TaskAt last = all_but_the_last(order);
    ASSERT_EQ(command(last.seen(), "fail", R"({"reason":"taken"})").status, 200);
    const HttpResponse refused = command(look_at_order(order), "repair", repairing("SKIP_TASK", last.id));
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND") << refused.body;
    EXPECT_EQ("/api/v1/assets/" + refused.member("existingId"), first.path);
    EXPECT_EQ(count("SELECT count(*) FROM orders_repair"), 0);
    EXPECT_EQ(get("/api/v1/orders/" + order).member("state"), "HELD");
}

TEST_P(OrdersAssets, AnItemNeverBringsASecondAsset) {
    start();
    const std::string order = make_order({item_on("line-1")});
    const TaskAt last = all_but_the_last(order);
    // Ended, so that the instance itself is free.
    run("INSERT INTO orders_asset (tenant, id, order_id, item_id, customer_id, instance_key, sku, quantity, state,"
        " version, created_at) SELECT head.tenant, head.id, head.id, item.id, head.customer_id, item.instance_key,"
        " item.sku, item.quantity, 'ENDED', 1, head.created_at FROM orders_order AS head, orders_order_item AS item");
    const HttpResponse refused = command(last.seen(), "complete");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(refused.member("existingId"), order) << "which is the id that the row was given";
    EXPECT_EQ(events("asset.created"), 0);
}

TEST_P(OrdersAssets, AnAssetIsChangedSuspendedResumedAndEnded) {
    start();
    Seen asset = make_asset();
    const auto take = [&](const std::string& body) {
        HttpResponse answer = command(asset, "modify", body);
        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(get(asset.path).body, answer.body);
        asset.etag = answer.header("ETag").value_or("");
        return answer.member("state") + " " + answer.member("quantity") + " " + answer.member("version");
    };
    EXPECT_EQ(take(R"({"change":"SET_QUANTITY","quantity":5,"reason":"more"})"), "ACTIVE 5 2");
    EXPECT_EQ(take(changing("SUSPEND")), "SUSPENDED 5 3");
    EXPECT_EQ(take(changing("RESUME")), "ACTIVE 5 4");
    EXPECT_EQ(take(changing("END")), "ENDED 5 5");
    for (const char* change : {"SUSPEND", "RESUME", "END"}) {
        const HttpResponse refused = command(asset, "modify", changing(change));
        EXPECT_EQ(refused.code(), "INVALID_STATE_TRANSITION") << refused.body;
        EXPECT_EQ(refused.member("currentState"), "ENDED");
    }
    for (const char* type : {"asset.changed", "asset.suspended", "asset.resumed", "asset.ended"})
        EXPECT_EQ(events(type), 1) << type;
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE kind = 'asset'"), 5);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE kind = 'asset' AND reason = 'more'"), 1);
}

TEST_P(OrdersAssets, OfManyWhoSawTheSameVersionOneChangesIt) {
    start();
    const Seen asset = make_asset();
    const auto told = at_once(32, [&](int client) {
        return command(asset, "modify", R"({"change":"SET_QUANTITY","quantity":)" + std::to_string(client + 2) + "}");
    });
    EXPECT_THAT(told, UnorderedElementsAre(Pair("200", 1), Pair("412 PRECONDITION_FAILED", 31)));
    EXPECT_EQ(get(asset.path).member("version"), "2");
    EXPECT_EQ(events("asset.changed"), 1);
}

TEST_P(OrdersAssets, AssetsAreFoundByWhatTheyAre) {
    start();
    const Seen first = make_asset("line-1");
    const Seen second = make_asset("line-2");
    ASSERT_EQ(command(second, "modify", changing("SUSPEND")).status, 200);
    const std::string order = get(first.path).member("orderId");
    const std::string id = get(first.path).member("assetId");
    EXPECT_EQ(members("/api/v1/assets?state=ACTIVE&customerId=c-1", "assetId"), std::vector<std::string>{id});
    EXPECT_EQ(members("/api/v1/assets?orderId=" + order, "assetId"), std::vector<std::string>{id});
    EXPECT_EQ(members("/api/v1/assets?state=SUSPENDED", "instanceKey"), std::vector<std::string>{"line-2"});
    EXPECT_THAT(members("/api/v1/assets?customerId=nobody", "assetId"), IsEmpty());
    const HttpResponse page = get("/api/v1/assets?limit=1");
    EXPECT_EQ(members("/api/v1/assets?limit=1&cursor=" + page.member("nextCursor"), "instanceKey"),
              std::vector<std::string>{"line-2"});
    for (const char* query : {"state=HELD", "orderId=7", "customerId=", "quoteId=x", "limit=101", "cursor=07"})
        EXPECT_EQ(get(std::string("/api/v1/assets?") + query).status, 400) << query;
    EXPECT_EQ(get("/api/v1/assets/7").status, 400);
    EXPECT_EQ(get("/api/v1/assets/" + order).status, 404);
    EXPECT_EQ(get(first.path, {{"X-Tenant-Id", "other"}}).status, 404);
    EXPECT_EQ(get(first.path, {{"If-None-Match", first.etag}}).status, 304);
}

TEST_P(OrdersAssets, WhatIsMalformedIsRefusedWithAReason) {
    start();
    const Seen asset = make_asset();
    for (const char* body : {"{}", R"({"change":"BREAK"})", R"({"change":"SET_QUANTITY","quantity":0})",
                             R"({"change":"SET_QUANTITY","quantity":"5"})", R"({"change":"END","reason":""})",
                             R"({"change":"END","force":true})"}) {
        const HttpResponse refused = command(asset, "modify", body);
        EXPECT_EQ(refused.status, 400) << body;
        EXPECT_NE(refused.member("detail"), "") << body;
    }
    for (const char* body : {R"({"change":"SET_QUANTITY"})", R"({"change":"END","quantity":1})"}) {
        const HttpResponse refused = command(asset, "modify", body);
        EXPECT_EQ(refused.status, 422) << body;
        EXPECT_EQ(refused.member("field"), "quantity") << body;
    }
    EXPECT_EQ(post(asset.path + "/modify", fresh_key(), changing("END")).status, 428);
    EXPECT_EQ(command({.path = asset.path, .etag = "\"asset-version-2\""}, "modify", changing("END")).status, 412);
    EXPECT_EQ(get(asset.path).member("version"), "1");
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersAssets, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
