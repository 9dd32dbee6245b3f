// When an order does not go as it should: it is cancelled, or a person sets it going again.

#include "semel/idempotency/identity.hpp"
#include "tests/orders/order_journey.hpp"

namespace orders::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class OrdersRepair : public OrderJourneyTest {};

TEST_P(OrdersRepair, ACancelledOrderTakesItsOpenTasksAlong) {
    start();
    const std::string order = make_order({Journey::cheap, Journey::cheap});
    ASSERT_EQ(command(task_of(order, "RESERVE").seen(), "complete").status, 200);
    const Seen seen = look_at_order(order);
    const HttpResponse cancelled = command(seen, "cancel", because);
    EXPECT_EQ(cancelled.status, 200) << cancelled.body;
    EXPECT_EQ(cancelled.member("state") + cancelled.member("openTaskCount"), "CANCELLED0");
    EXPECT_EQ(get(seen.path).body, cancelled.body);
    EXPECT_EQ(events("task.cancelled"), 4);
    EXPECT_EQ(events("order.cancelled"), 1);
    EXPECT_EQ(
        count("SELECT count(*) FROM orders_cancellation WHERE reason = 'none left' AND cancelled_by = 'anonymous'"), 1);
    for (const TaskAt& task : tasks_of(order)) {
        const HttpResponse refused = command(task.seen(), "complete");
        EXPECT_EQ(refused.code(), "INVALID_STATE_TRANSITION") << refused.body;
    }
    const HttpResponse again = command(look_at_order(order), "cancel", because);
    EXPECT_EQ(again.code(), "DUPLICATE_BUSINESS_COMMAND") << again.body;
    EXPECT_THAT(again.member("existingId"), HasSubstr("cmd_"));
    expect_consistent_orders();
}

TEST_P(OrdersRepair, OfManyWhoCancelOneOrderOneDoes) {
    start();
    const Seen order = look_at_order(make_order());
    const auto told = at_once(32, [&](int) { return command(order, "cancel", because); });
    EXPECT_THAT(told, UnorderedElementsAre(Pair("200", 1), Pair("409 DUPLICATE_BUSINESS_COMMAND", 31)));
    EXPECT_EQ(count("SELECT count(*) FROM orders_cancellation"), 1);
    EXPECT_EQ(events("order.cancelled"), 1);
    EXPECT_EQ(events("task.cancelled"), 3);
    expect_consistent_orders();
}

TEST_P(OrdersRepair, ACancellationThatIsOnRecordIsNotMadeAgain) {
    start();
    const std::string order = make_order();
    run("INSERT INTO orders_cancellation (tenant, order_id, command_id, reason, cancelled_by, cancelled_at)"
        " SELECT tenant, id, 'cmd_of_another', 'r', 'somebody', created_at FROM orders_order");
    const HttpResponse refused = command(look_at_order(order), "cancel", because);
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(refused.member("existingId"), "cmd_of_another");
    EXPECT_EQ(state_of(order), "CREATED");
}

TEST_P(OrdersRepair, CompletedAndCancelledAtOnceAnOrderHasOneEnd) {
    start();
    int completions = 0;
    constexpr int rounds = 12;
    for (int round = 0; round < rounds; ++round) {
        const std::string order = make_order({item_on("line-" + std::to_string(round))});
        const TaskAt last = all_but_the_last(order);
        const Seen seen = look_at_order(order);
        const auto told = at_once(4, [&](int client) {
            return client % 2 == round % 2 ? command(last.seen(), "complete") : command(seen, "cancel", because);
        });
        EXPECT_EQ(told.contains("200") ? told.at("200") : 0, 1) << "one of the four ends it";
        const std::string state = state_of(order);
        const auto assets = members("/api/v1/assets?orderId=" + order, "state");
        if (state == "COMPLETED") {
            ++completions;
            EXPECT_THAT(assets, ::testing::ElementsAre("ACTIVE"));
            EXPECT_THAT(told, UnorderedElementsAre(Pair("200", 1), Pair("409 INVALID_STATE_TRANSITION", 3)));
        } else {
            EXPECT_EQ(state, "CANCELLED");
            EXPECT_THAT(assets, ::testing::IsEmpty());
            EXPECT_THAT(told, UnorderedElementsAre(Pair("200", 1), Pair("409 INVALID_STATE_TRANSITION", 2),
                                                   Pair("409 DUPLICATE_BUSINESS_COMMAND", 1)));
        }
    }
    EXPECT_EQ(events("order.completed"), completions);
    EXPECT_EQ(events("order.cancelled"), rounds - completions);
    expect_consistent_orders();
}

TEST_P(OrdersRepair, APersonSkipsATaskThatFailed) {
    start();
    const auto [order, failed] = make_held_order();
    const HttpResponse repaired = command(look_at_order(order), "repair", repairing("SKIP_TASK", failed.id));
    EXPECT_EQ(repaired.status, 200) << repaired.body;
    EXPECT_EQ(repaired.member("state") + repaired.member("failedTaskCount"), "IN_PROGRESS0");
    EXPECT_EQ(get(failed.seen().path).member("state"), "COMPLETED");
    EXPECT_EQ(task_of(order, "PROVISION").state, "READY");
    EXPECT_EQ(events("task.skipped") + events("order.repaired"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_repair WHERE action = 'SKIP_TASK' AND reason = 'seen to by hand'"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE operation = 'order.repair' AND kind = 'order'"
                    " AND from_state = 'HELD' AND to_state = 'IN_PROGRESS' AND reason = 'seen to by hand'"),
              1);
    const TaskAt last = all_but_the_last(order);
    ASSERT_EQ(command(last.seen(), "fail", because).status, 200);
    const HttpResponse completed = command(look_at_order(order), "repair", repairing("SKIP_TASK", last.id));
    EXPECT_EQ(completed.member("state"), "COMPLETED") << completed.body;
    EXPECT_EQ(members("/api/v1/assets?orderId=" + order, "state").size(), 1);
    EXPECT_EQ(events("order.completed"), 1);
    expect_consistent_orders();
}

TEST_P(OrdersRepair, APersonBeginsATaskThatFailedAnew) {
    start();
    const auto [order, failed] = make_held_order();
    const HttpResponse repaired = command(look_at_order(order), "repair", repairing("RESET_TASK", failed.id));
    EXPECT_EQ(repaired.status, 200) << repaired.body;
    const HttpResponse task = get(failed.seen().path);
    EXPECT_EQ(task.member("state") + task.member("attempt"), "READY2");
    EXPECT_EQ(count("SELECT count(*) FROM orders_task_attempt"), 1);
    EXPECT_EQ(events("task.retried") + events("order.repaired"), 2);
    finish(order);
    expect_consistent_orders();
}

TEST_P(OrdersRepair, OnlyWhatIsBrokenIsRepaired) {
    start();
    const std::string healthy = make_order();
    const TaskAt ready = task_of(healthy, "RESERVE");
    const HttpResponse refused = command(look_at_order(healthy), "repair", repairing("SKIP_TASK", ready.id));
    EXPECT_EQ(refused.code(), "INVALID_STATE_TRANSITION") << refused.body;
    EXPECT_EQ(refused.member("currentState"), "CREATED");
    const auto [order, failed] = make_held_order();
    const Seen seen = look_at_order(order);
    const HttpResponse strange = command(seen, "repair", repairing("SKIP_TASK", ready.id));
    EXPECT_EQ(strange.status, 422) << strange.body;
    EXPECT_EQ(strange.member("field"), "taskId");
    const TaskAt waiting = task_of(order, "ACTIVATE");
    EXPECT_EQ(command(seen, "repair", repairing("SKIP_TASK", waiting.id)).member("currentState"), "WAITING");
    const Seen old{.path = seen.path, .etag = "\"order-version-1\""};
    EXPECT_EQ(command(old, "repair", repairing("SKIP_TASK", failed.id)).status, 412);
    for (const std::string& body :
         {std::string(R"({"action":"SKIP_TASK","reason":"r"})"), repairing("DELETE_TASK", failed.id),
          repairing("SKIP_TASK", "7"), R"({"action":"SKIP_TASK","taskId":")" + failed.id + "\"}"})
        EXPECT_EQ(command(seen, "repair", body).status, 400) << body;
    EXPECT_EQ(state_of(order), "HELD");
    EXPECT_EQ(count("SELECT count(*) FROM orders_repair"), 0);
}

TEST_P(OrdersRepair, ARepairIsNotDoneAgainWhenItsReplyIsNoLongerKept) {
    start();
    const auto [order, failed] = make_held_order();
    const std::string id = semel::Identity::of("public", "anonymous", "order.repair", "k").value().command_id();
    const auto noted = semel::transact(database(), [&](semel::Transaction& tx) -> semel::Status {
        tx.post(
            "INSERT INTO orders_repair (tenant, command_id, order_id, task_id, action, reason, repaired_by,"
            " repaired_at) SELECT tenant, $1, id, id, 'SKIP_TASK', 'r', 'somebody', created_at FROM orders_order",
            id);
        return tx.flush();
    });
    ASSERT_TRUE(noted.committed());
    const Seen seen = look_at_order(order);
    const HttpResponse refused = post(seen.path + "/repair", "k", repairing("SKIP_TASK", failed.id), seen.guard());
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(refused.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(refused.member("existingId"), id);
    EXPECT_EQ(state_of(order), "HELD");
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersRepair, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
