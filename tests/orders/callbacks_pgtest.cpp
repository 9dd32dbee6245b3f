// What other systems tell us: signed, done once for each of their ids, and once for each fact.

#include "tests/orders/fixture.hpp"
#include "tests/orders/journey.hpp"
#include "tests/orders/signed_callback.hpp"

#include <nlohmann/json.hpp>

#include <atomic>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class OrdersCallbacks : public OrdersTest {
protected:
    void start_with_integration() { start({.config = std::string(callback_config)}); }

    [[nodiscard]] HttpResponse tell(const SignedCallback& callback) const { return send(callback.request()); }
    [[nodiscard]] static std::string completed(const std::string& task, int attempt = 1) {
        return R"({"type":"task.completed","taskId":")" + task + R"(","attempt":)" + std::to_string(attempt) + "}";
    }
    [[nodiscard]] static std::string failed(const std::string& task, const std::string& reason = "no line",
                                            int attempt = 1) {
        return R"({"type":"task.failed","taskId":")" + task + R"(","attempt":)" + std::to_string(attempt) +
               R"(,"reason":")" + reason + "\"}";
    }
    /// The next attempt of a task that failed.
    void retry(const std::string& task) const {
        const std::string path = "/api/v1/fulfillment-tasks/" + task;
        const HttpResponse again = post(path + "/retry", "retry", "{}", {{"If-Match", *get(path).header("ETag")}});
        EXPECT_EQ(again.status, 200) << again.body;
    }

    /// A READY task of a new order.
    [[nodiscard]] std::string ready_task() const {
        Journey journey([this](const HttpRequest& request) { return send(request); });
        const QuoteAt quote = journey.accepted();
        const HttpResponse converted = post(quote.path("/convert-to-order"), "convert", "{}", quote.seen());
        EXPECT_EQ(converted.status, 201) << converted.body;
        const std::string order = converted.member("orderId");
        const HttpResponse tasks = get("/api/v1/fulfillment-tasks?state=READY&orderId=" + order);
        EXPECT_EQ(tasks.status, 200) << tasks.body;
        return json::parse(tasks.body).at("items").at(0).at("taskId").get<std::string>();
    }
    [[nodiscard]] std::string state_of(const std::string& task) const {
        return get("/api/v1/fulfillment-tasks/" + task).member("state");
    }
};

TEST_P(OrdersCallbacks, AreAppliedOnceHoweverOftenTheyAreDelivered) {
    start_with_integration();
    const std::string task = ready_task();
    const auto now = semel::system_clock().wall();
    const HttpResponse first = tell({.id = "msg-1", .body = completed(task), .sent = now - 2s});
    ASSERT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(first.member("outcome"), "APPLIED");
    EXPECT_EQ(state_of(task), "COMPLETED");
    // A later delivery has another timestamp, and so another signature.
    const HttpResponse second = tell({.id = "msg-1", .body = completed(task), .sent = now});
    EXPECT_EQ(second.status, 200);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(second.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(events("task.completed"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_callback"), 1);
}

TEST_P(OrdersCallbacks, TheSameFactUnderAnotherIdChangesNothing) {
    start_with_integration();
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = completed(task)}).member("outcome"), "APPLIED");
    const HttpResponse again = tell({.id = "msg-2", .body = completed(task)});
    EXPECT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(again.member("outcome"), "ALREADY_DONE");
    EXPECT_EQ(events("task.completed"), 1);
}

TEST_P(OrdersCallbacks, AnIdIsRememberedLongerThanItsReply) {
    start({.config = std::string(callback_config) + "[limits]\ncache_bytes = 0\n"});
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = failed(task)}).member("outcome"), "APPLIED");
    retry(task);
    run(GetParam() == Target::sqlite ? "DELETE FROM semel_command_record" : "DELETE FROM semel.command_record");
    // Delivered once more, weeks later: the new attempt must not fail of the old one's failure.
    const HttpResponse late = tell({.id = "msg-1", .body = failed(task)});
    EXPECT_EQ(late.status, 200) << late.body;
    EXPECT_EQ(late.member("outcome"), "ALREADY_DONE");
    EXPECT_EQ(state_of(task), "READY");
}

TEST_P(OrdersCallbacks, WhatIsToldOfAnEarlierAttemptIsNotTakenForThePresentOne) {
    start_with_integration();
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = failed(task)}).member("outcome"), "APPLIED");
    retry(task);
    for (const std::string& late : {failed(task), completed(task)}) {
        const HttpResponse answer = tell({.id = "late-" + std::to_string(late.size()), .body = late});
        EXPECT_EQ(answer.status, 200) << answer.body;
        EXPECT_EQ(answer.member("outcome"), "SUPERSEDED");
        EXPECT_EQ(state_of(task), "READY");
    }
    const HttpResponse early = tell({.id = "early", .body = completed(task, 3)});
    EXPECT_EQ(early.status, 422) << early.body;
    EXPECT_EQ(tell({.id = "present", .body = completed(task, 2)}).member("outcome"), "APPLIED");
}

TEST_P(OrdersCallbacks, ARepeatIsAnsweredWhereOnlyATombstoneIsLeft) {
    start({.config = std::string(callback_config) +
                     "[limits]\ncache_bytes = 0\n[retention]\ndefault = \"1m\"\npass = \"1s\"\n"});
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = completed(task)}).member("outcome"), "APPLIED");
    run(GetParam() == Target::sqlite
            ? "UPDATE semel_command_record SET expires_at = expires_at - 120000000"
            : "UPDATE semel.command_record SET expires_at = expires_at - interval '2 minutes'");
    HttpResponse late;
    for (int i = 0; i < 100 && late.header("Idempotency-Replayed").value_or("") != "true"; ++i)
        late = tell({.id = "msg-1", .body = completed(task)});
    EXPECT_EQ(late.status, 200) << late.body;
    EXPECT_EQ(late.member("outcome"), "ALREADY_DONE");
}

TEST_P(OrdersCallbacks, OneIdWithTwoContentsIsAConflict) {
    start_with_integration();
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = completed(task)}).status, 200);
    const HttpResponse other = tell({.id = "msg-1", .body = failed(task)});
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(state_of(task), "COMPLETED");
}

TEST_P(OrdersCallbacks, WhatComesBeforeItsTimeIsTakenWhenItIsDeliveredAgain) {
    start_with_integration();
    const std::string ready = ready_task();
    const json waiting_tasks = json::parse(get("/api/v1/fulfillment-tasks?state=WAITING").body);
    std::string waiting;
    for (const json& task : waiting_tasks.at("items"))
        if (task.at("kind") == "PROVISION") waiting = task.at("taskId").get<std::string>();
    ASSERT_NE(waiting, "");
    const HttpResponse early = tell({.id = "early", .body = completed(waiting)});
    EXPECT_EQ(early.status, 409) << early.body;
    EXPECT_EQ(early.code(), "INVALID_STATE_TRANSITION");
    EXPECT_EQ(early.member("currentState"), "WAITING");
    ASSERT_EQ(tell({.id = "ready", .body = completed(ready)}).status, 200);
    const HttpResponse again = tell({.id = "early", .body = completed(waiting)});
    EXPECT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(again.member("outcome"), "APPLIED");
}

TEST_P(OrdersCallbacks, OfManyAtOnceOneIsApplied) {
    start_with_integration();
    const std::string task = ready_task();
    std::atomic<int> applied = 0;
    {
        std::vector<std::jthread> senders;
        for (int i = 0; i < 32; ++i)
            senders.emplace_back([&, i] {
                // Four facts' worth of ids, each delivered eight times.
                const HttpResponse answer = tell({.id = "msg-" + std::to_string(i % 4), .body = completed(task)});
                if (answer.status == 409) {
                    EXPECT_EQ(answer.code(), "REQUEST_ALREADY_IN_PROGRESS") << answer.body;
                    return;
                }
                EXPECT_EQ(answer.status, 200) << answer.body;
                if (answer.member("outcome") == "APPLIED" && !answer.header("Idempotency-Replayed")) ++applied;
            });
    }
    EXPECT_EQ(applied, 1);
    EXPECT_EQ(events("task.completed"), 1);
}

TEST_P(OrdersCallbacks, WhatIsNotSignedIsNotBelieved) {
    start_with_integration();
    const std::string task = ready_task();
    const SignedCallback good{.id = "msg-1", .body = completed(task)};
    HttpRequest unsigned_request = good.request();
    unsigned_request.headers = {{"Content-Type", "application/json"}};
    EXPECT_EQ(send(unsigned_request).code(), "UNAUTHENTICATED");
    HttpRequest changed = good.request();
    changed.body = failed(task);
    EXPECT_EQ(send(changed).status, 401);
    EXPECT_EQ(tell({.id = "msg-1", .body = completed(task), .secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}).status,
              401);
    const HttpResponse old =
        tell({.id = "msg-1", .body = completed(task), .sent = semel::system_clock().wall() - 10min});
    EXPECT_EQ(old.status, 401);
    EXPECT_THAT(old.member("detail"), ::testing::HasSubstr("five minutes"));
    HttpRequest twice = good.request();
    twice.headers.emplace_back("webhook-id", "msg-2");
    EXPECT_EQ(send(twice).status, 401);
    HttpRequest elsewhere = good.request();
    elsewhere.target = "/api/v1/callbacks/nobody";
    EXPECT_EQ(send(elsewhere).status, 404);
    EXPECT_EQ(state_of(task), "READY");
    EXPECT_EQ(count("SELECT count(*) FROM orders_callback"), 0);
    // A replay is for those who can sign it, too.
    ASSERT_EQ(tell(good).status, 200);
    HttpRequest replayed = good.request();
    replayed.headers.back().second = "v1,AAAA";
    EXPECT_EQ(send(replayed).status, 401);
}

TEST_P(OrdersCallbacks, MalformedOnesAreToldSo) {
    start_with_integration();
    const std::string task = ready_task();
    for (const std::string& body :
         {std::string("{}"), std::string("[]"), std::string("{"), R"({"type":"task.lost","taskId":")" + task + "\"}",
          std::string(R"({"type":"task.completed","taskId":"7"})"),
          R"({"type":"task.failed","taskId":")" + task + "\"}",
          R"({"type":"task.completed","extra":1,"taskId":")" + task + "\"}"}) {
        const HttpResponse answer = tell({.id = "odd", .body = body});
        EXPECT_EQ(answer.status, 400) << body << answer.body;
        EXPECT_NE(answer.member("detail"), "") << body;
    }
    const HttpResponse nobody = tell({.id = "odd", .body = completed("0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12")});
    EXPECT_EQ(nobody.status, 404) << nobody.body;
}

TEST_P(OrdersCallbacks, AreAuditedAsTheirSenders) {
    start_with_integration();
    const std::string task = ready_task();
    ASSERT_EQ(tell({.id = "msg-1", .body = failed(task, "line is broken")}).status, 200);
    const HttpResponse audit = get("/api/v1/audit?resource=fulfillment-tasks/" + task);
    const json lines = json::parse(audit.body).at("items");
    EXPECT_EQ(lines.at(0).at("operation"), "quote.convert") << "it was made then";
    const json& line = lines.back();
    EXPECT_EQ(line.at("caller"), "integration:provisioner");
    EXPECT_EQ(line.at("operation"), "callback.receive");
    EXPECT_EQ(line.at("toState"), "FAILED");
    EXPECT_EQ(line.at("reason"), "line is broken");
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersCallbacks, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
