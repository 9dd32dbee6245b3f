// What is done for an order: completing, failing and retrying its tasks, alone and all at once.

#include "tests/orders/order_journey.hpp"

#include <algorithm>

namespace orders::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class OrdersTasks : public OrderJourneyTest {};

TEST_P(OrdersTasks, FromQuoteToAssetsEveryStepIsTakenOnceAndWrittenDown) {
    start();
    const std::string order = make_order({Journey::cheap, item_on("line-7")});
    const TaskAt first = task_of(order, "RESERVE");
    const HttpResponse reserved = command(first.seen(), "complete");
    EXPECT_EQ(reserved.status, 200) << reserved.body;
    EXPECT_EQ(reserved.header("ETag"), "\"task-version-2\"");
    EXPECT_EQ(reserved.member("state"), "COMPLETED");
    EXPECT_EQ(get(first.seen().path).body, reserved.body);
    EXPECT_EQ(state_of(order), "IN_PROGRESS");
    finish(order);
    const HttpResponse done = get("/api/v1/orders/" + order);
    EXPECT_EQ(done.member("state") + done.member("openTaskCount") + done.member("version"), "COMPLETED06");
    EXPECT_EQ(members("/api/v1/assets?orderId=" + order, "state"), (std::vector<std::string>{"ACTIVE", "ACTIVE"}));
    EXPECT_EQ(events("task.completed"), 5);
    EXPECT_EQ(events("task.ready"), 3);
    EXPECT_EQ(events("order.progressed"), 4);
    EXPECT_EQ(events("order.completed"), 1);
    EXPECT_EQ(events("asset.created"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE kind = 'task'"), 13) << "five were made";
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE kind = 'asset' AND from_state = ''"), 2);
    expect_consistent_orders();
    // It is over.
    const HttpResponse cancelled = command(look_at_order(order), "cancel", because);
    EXPECT_EQ(cancelled.code(), "INVALID_STATE_TRANSITION") << cancelled.body;
    EXPECT_EQ(cancelled.member("currentState"), "COMPLETED");
}

TEST_P(OrdersTasks, ARepeatIsReplayedAndAnotherKeyLearnsTheState) {
    start({.config = "[limits]\ncache_bytes = 0\n"});
    const TaskAt task = task_of(make_order(), "RESERVE");
    const HttpResponse first = post(task.seen().path + "/complete", "k", "{}", task.seen().guard());
    ASSERT_EQ(first.status, 200) << first.body;
    const HttpResponse repeat = post(task.seen().path + "/complete", "k", "", task.seen().guard());
    EXPECT_EQ(repeat.code(), "IDEMPOTENCY_KEY_CONFLICT") << "no body and an empty object are two requests";
    EXPECT_EQ(post(task.seen().path + "/complete", "k", "{}", task.seen().guard()).body, first.body);
    const HttpResponse other = command(task.seen(), "complete");
    EXPECT_EQ(other.code(), "INVALID_STATE_TRANSITION") << other.body;
    EXPECT_EQ(other.member("currentState") + other.member("currentVersion"), "COMPLETED2");
    EXPECT_EQ(events("task.completed"), 1);
}

TEST_P(OrdersTasks, TasksOfOneOrderCompletedAtOnceAreAllCounted) {
    start();
    constexpr int items = 4;
    constexpr int clients = 32;
    const std::string order = make_order(std::vector<std::string>(items, Journey::cheap));
    for (const char* kind : {"RESERVE", "PROVISION"}) {
        std::vector<TaskAt> ready = tasks_of(order);
        std::erase_if(ready, [&](const TaskAt& task) { return task.kind != kind; });
        ASSERT_EQ(ready.size(), items);
        const auto told = at_once(clients, [&](int client) {
            return command(ready[static_cast<std::size_t>(client % items)].seen(), "complete");
        });
        EXPECT_THAT(told,
                    UnorderedElementsAre(Pair("200", items), Pair("409 INVALID_STATE_TRANSITION", clients - items)));
        expect_consistent_orders();
    }
    EXPECT_EQ(task_of(order, "ACTIVATE").state, "READY");
    const HttpResponse read = get("/api/v1/orders/" + order);
    EXPECT_EQ(read.member("openTaskCount"), "1");
    EXPECT_EQ(read.member("version"), std::to_string(1 + 2 * items));
    EXPECT_EQ(events("task.completed"), 2 * items);
    EXPECT_EQ(events("task.ready"), items + 1);
    finish(order);
    expect_consistent_orders();
}

TEST_P(OrdersTasks, ManyTasksOfOneOrderEachCompletedByItsOwnWorkerGetThereInTheEnd) {
    start();
    constexpr int items = 16;
    const std::string order = make_order(std::vector<std::string>(items, Journey::cheap));
    std::vector<TaskAt> ready = tasks_of(order);
    std::erase_if(ready, [](const TaskAt& task) { return task.kind != "RESERVE"; });
    const auto told =
        at_once(items, [&](int client) { return command(ready[static_cast<std::size_t>(client)].seen(), "complete"); });
    EXPECT_THAT(told, UnorderedElementsAre(Pair("200", items)));
    EXPECT_EQ(get("/api/v1/orders/" + order).member("openTaskCount"), std::to_string(items + 1));
    EXPECT_EQ(events("task.ready"), items);
    expect_consistent_orders();
}

TEST_P(OrdersTasks, WhatWaitsForAnotherTaskCannotBeCompleted) {
    start();
    const std::string order = make_order();
    const TaskAt waiting = task_of(order, "PROVISION");
    const HttpResponse refused = command(waiting.seen(), "complete");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.member("currentState"), "WAITING");
    EXPECT_THAT(get(waiting.seen().path).body, HasSubstr(task_of(order, "RESERVE").id)) << "it says what for";
    EXPECT_EQ(command(waiting.seen(), "fail", because).status, 409);
    EXPECT_EQ(command(waiting.seen(), "retry").status, 409);
    expect_consistent_orders();
}

TEST_P(OrdersTasks, WhoeverSawAnOlderVersionOfATaskIsTold) {
    start();
    const auto [order, failed] = make_held_order();
    TaskAt old = failed;
    old.version = 1;
    const HttpResponse refused = command(old.seen(), "retry");
    EXPECT_EQ(refused.status, 412) << refused.body;
    EXPECT_EQ(refused.member("currentETag"), "\"task-version-2\"");
    EXPECT_EQ(post(failed.seen().path + "/retry", fresh_key(), "{}").status, 428);
    EXPECT_EQ(state_of(order), "HELD");
}

TEST_P(OrdersTasks, AFailureHoldsTheOrderAndARetryLetsItGoOn) {
    start();
    const auto [order, failed] = make_held_order();
    EXPECT_EQ(state_of(order), "HELD");
    EXPECT_EQ(get(failed.seen().path).member("failure"), "none left");
    const HttpResponse retried = command(failed.seen(), "retry");
    EXPECT_EQ(retried.status, 200) << retried.body;
    EXPECT_EQ(retried.member("state") + retried.member("attempt") + retried.member("failure"), "READY2");
    EXPECT_EQ(state_of(order), "IN_PROGRESS");
    EXPECT_EQ(count("SELECT count(*) FROM orders_task_attempt WHERE attempt = 2"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE operation = 'task.fail' AND reason = 'none left'"), 2)
        << "of the task and of the order";
    finish(order);
    EXPECT_EQ(state_of(order), "COMPLETED");
    EXPECT_EQ(events("task.failed") + events("task.retried") + events("order.held"), 3);
    expect_consistent_orders();
}

TEST_P(OrdersTasks, OfManyWhoRetryOneTaskOneBeginsTheAttempt) {
    start();
    const auto [order, failed] = make_held_order();
    const auto told = at_once(32, [&, &task = failed](int) { return command(task.seen(), "retry"); });
    EXPECT_THAT(told, UnorderedElementsAre(Pair("200", 1), Pair("409 INVALID_STATE_TRANSITION", 31)));
    EXPECT_EQ(count("SELECT count(*) FROM orders_task_attempt"), 1);
    EXPECT_EQ(get(failed.seen().path).member("attempt"), "2");
    EXPECT_EQ(events("task.retried"), 1);
    expect_consistent_orders();
}

TEST_P(OrdersTasks, AnAttemptThatAnotherCommandBeganIsNotBegunAgain) {
    start();
    const auto [order, failed] = make_held_order();
    run("INSERT INTO orders_task_attempt (tenant, task_id, attempt, command_id, begun_at)"
        " SELECT tenant, id, 2, 'cmd_of_another', created_at FROM orders_task WHERE state = 'FAILED'");
    for (const char* step : {"retry", "repair"}) {
        const HttpResponse refused = step == std::string("retry")
                                         ? command(failed.seen(), step)
                                         : command(look_at_order(order), step, repairing("RESET_TASK", failed.id));
        EXPECT_EQ(refused.status, 409) << refused.body;
        EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
        EXPECT_EQ(refused.member("existingId"), "cmd_of_another");
    }
    EXPECT_EQ(state_of(order), "HELD");
    EXPECT_EQ(count("SELECT count(*) FROM orders_repair"), 0);
    EXPECT_EQ(get(failed.seen().path).member("attempt"), "1");
}

TEST_P(OrdersTasks, OrdersAndTasksAreFoundByWhatTheyAre) {
    start();
    const std::string first = make_order();
    const auto [held, failed] = make_held_order();
    const std::string quote = get("/api/v1/orders/" + first).member("quoteId");
    EXPECT_EQ(members("/api/v1/orders", "orderId"), (std::vector<std::string>{first, held}));
    EXPECT_EQ(members("/api/v1/orders?state=HELD", "orderId"), std::vector<std::string>{held});
    EXPECT_EQ(members("/api/v1/orders?quoteId=" + quote, "orderId"), std::vector<std::string>{first});
    EXPECT_EQ(members("/api/v1/orders?customerId=c-1&state=CREATED", "orderId"), std::vector<std::string>{first});
    EXPECT_THAT(members("/api/v1/orders?customerId=nobody", "orderId"), ::testing::IsEmpty());
    EXPECT_EQ(members("/api/v1/fulfillment-tasks?state=FAILED", "taskId"), std::vector<std::string>{failed.id});
    EXPECT_THAT(members("/api/v1/fulfillment-tasks?orderId=" + held, "orderId"), Each(held));
    // Page by page.
    std::vector<std::string> walked;
    std::string target = "/api/v1/fulfillment-tasks?limit=4";
    for (std::string cursor; walked.size() < 6;) {
        for (const std::string& id : members(target + cursor, "taskId")) walked.push_back(id);
        const std::string next = get(target + cursor).member("nextCursor");
        if (next.empty()) break;
        cursor = "&cursor=" + next;
    }
    EXPECT_EQ(walked.size(), 6);
    EXPECT_TRUE(std::ranges::is_sorted(walked));
    for (const char* query : {"orders?state=OPEN", "orders?quoteId=7", "orders?customerId=a%20b", "orders?colour=red",
                              "orders?limit=0", "orders?cursor=zz", "fulfillment-tasks?state=HELD",
                              "fulfillment-tasks?orderId=", "orders?state=HELD&state=HELD"}) {
        const HttpResponse refused = get(std::string("/api/v1/") + query);
        EXPECT_EQ(refused.status, 400) << query;
        EXPECT_NE(refused.member("detail"), "") << query;
    }
    EXPECT_EQ(get("/api/v1/orders/7").status, 400);
    EXPECT_EQ(get("/api/v1/orders/" + failed.id).status, 404);
    EXPECT_EQ(get("/api/v1/fulfillment-tasks/" + first).status, 404);
    EXPECT_EQ(get("/api/v1/orders/" + first, {{"X-Tenant-Id", "other"}}).status, 404);
}

TEST_P(OrdersTasks, WhatIsMalformedIsRefusedWithAReason) {
    start();
    const std::string order = make_order();
    const Seen task = task_of(order, "RESERVE").seen();
    EXPECT_EQ(command(task, "fail", "{}").status, 400);
    EXPECT_EQ(command(task, "fail", R"({"reason":""})").status, 400);
    EXPECT_EQ(command(task, "fail", R"({"reason":"a\nb"})").status, 400);
    EXPECT_EQ(command(task, "complete", R"({"reason":"r"})").status, 400) << "it has no members";
    EXPECT_EQ(command(task, "complete", "[]").status, 400);
    EXPECT_EQ(command({.path = task.path, .etag = "\"order-version-1\""}, "complete").status, 412);
    EXPECT_EQ(command({.path = "/api/v1/fulfillment-tasks/x", .etag = task.etag}, "retry").status, 400);
    EXPECT_EQ(command({.path = "/api/v1/fulfillment-tasks/" + order, .etag = task.etag}, "complete").status, 404);
    EXPECT_EQ(command(look_at_order(order), "cancel").status, 400);
    EXPECT_EQ(post("/api/v1/orders/" + order + "/cancel", fresh_key(), because).status, 428);
    EXPECT_EQ(state_of(order), "CREATED");
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersTasks, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
