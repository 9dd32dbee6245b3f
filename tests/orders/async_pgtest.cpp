// Commands that are handed in and executed later: one key is one command, however it is sent.

#include "tests/orders/fixture.hpp"

namespace orders::testing {
namespace {

using namespace std::chrono_literals;

class OrdersAsync : public OrdersTest {};

TEST_P(OrdersAsync, AClientWhoDoesNotWaitIsToldWhereToLook) {
    start();
    const Fields prefer{{"Prefer", "respond-async"}};
    const HttpResponse handed_in = post("/api/v1/payments", "k", payment_body("r"), prefer);
    ASSERT_EQ(handed_in.status, 202) << handed_in.body;
    EXPECT_EQ(handed_in.header("Preference-Applied"), "respond-async");
    const std::string status = handed_in.header("Location").value_or("");
    EXPECT_EQ(status, "/api/v1/commands/" + handed_in.member("commandId"));
    HttpResponse stands = get(status);
    for (int i = 0; i < 1500 && stands.member("status") != "succeeded"; ++i) {
        pause_for(20ms);
        stands = get(status);
    }
    EXPECT_EQ(stands.member("status"), "succeeded") << stands.body;
    EXPECT_EQ(stands.member("replyStatus"), "201");
    const HttpResponse made = get(stands.member("resource"));
    EXPECT_EQ(made.status, 200);
    EXPECT_EQ(made.member("reference"), "r");
    // However it is repeated, it is one command with one reply.
    for (const Fields& headers : {prefer, Fields{}}) {
        const HttpResponse repeat = post("/api/v1/payments", "k", payment_body("r"), headers);
        EXPECT_EQ(repeat.status, 201) << repeat.body;
        EXPECT_EQ(repeat.body, made.body);
        EXPECT_EQ(repeat.header("Location"), stands.member("resource"));
        EXPECT_EQ(repeat.header("Idempotency-Replayed"), "true");
    }
    EXPECT_EQ(post("/api/v1/payments", "k", payment_body("other"), prefer).code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(post("/api/v1/payments", "bad", "{}", prefer).status, 400);
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 1);
    EXPECT_EQ(events("payment.created"), 1);
}

TEST_P(OrdersAsync, HandedInManyTimesItIsExecutedOnceAndAnEarlierPaymentIsFound) {
    start();
    const Fields prefer{{"Prefer", "respond-async"}};
    const HttpResponse first = post("/api/v1/payments", "first", payment_body("taken"));
    ASSERT_EQ(first.status, 201);
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 8; ++i)
            clients.emplace_back([&, i] {
                const std::string key = "k" + std::to_string(i % 4);
                const HttpResponse answer =
                    post("/api/v1/payments", key, payment_body(i % 4 == 0 ? "taken" : "free"), prefer);
                EXPECT_THAT(answer.status, ::testing::AnyOf(200, 201, 202)) << answer.body;
            });
    }
    int created = 0;
    for (int i = 0; i < 4; ++i) {
        const HttpRequest again =
            posting("/api/v1/payments", "k" + std::to_string(i), payment_body(i == 0 ? "taken" : "free"));
        HttpResponse answer = send(again);
        for (int tries = 0; tries < 1500 && answer.status == 409; ++tries) {
            pause_for(20ms);
            answer = send(again);
        }
        EXPECT_THAT(answer.status, ::testing::AnyOf(200, 201)) << answer.body;
        EXPECT_EQ(answer.member("paymentId") == first.member("paymentId"), i == 0);
        if (answer.status == 201) ++created;
    }
    EXPECT_EQ(created, 1) << "three keys for one reference: one made it, the others found it";
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 2);
    EXPECT_EQ(events("payment.created"), 2);
}

TEST_P(OrdersAsync, WhatWasAcceptedIsExecutedAfterACrash) {
    // The worker dies with the command in its hands; another may take it when the lease has run out.
    start({.environment = {"SEMEL_FAILPOINTS=worker.after_take=kill"}});
    const HttpRequest request = posting("/api/v1/payments", "k", payment_body("r"), {{"Prefer", "respond-async"}});
    // Accepted or cut off: that is for the retry to find out.
    std::ignore = call(service->port(), request);
    EXPECT_EQ(service->await_end().value().signal, SIGKILL);
    start();
    HttpResponse answer = send(request);
    for (int i = 0; i < 3000 && answer.status != 201; ++i) {
        ASSERT_EQ(answer.status, 202) << answer.body;
        pause_for(20ms);
        answer = send(request);
    }
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 1);
    EXPECT_EQ(events("payment.created"), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersAsync, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
