// The reference service with a relay in it: what a command tells arrives at a receiver soon after its answer.

#include "semel/testing/temp_dir.hpp"
#include "semel/webhook/signature.hpp"
#include "tests/orders/http_client.hpp"
#include "tests/orders/service.hpp"
#include "tests/webhook/receiver_realtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>

namespace semel::webhook {
namespace {

using namespace std::chrono_literals;
using orders::testing::Service;
using ::testing::HasSubstr;

const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

orders::testing::HttpResponse pay(const Service& service, const std::string& key) {
    const auto answered = orders::testing::call(
        service.port(), {.method = "POST",
                         .target = "/api/v1/payments",
                         .headers = {{"Idempotency-Key", key}, {"Content-Type", "application/json"}},
                         .body = R"({"reference":")" + key + R"(","amount":"10.00","currency":"EUR"})"});
    EXPECT_TRUE(answered) << answered.error().describe();
    return answered ? *answered : orders::testing::HttpResponse();
}

bool eventually(const std::function<bool()>& so, Duration limit = 20s) {
    const Instant end = system_clock().now() + limit;
    while (!so()) {
        if (system_clock().now() > end) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

class OrdersRelayReal : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = testing::TempDir::make("orders-relay");
        ASSERT_TRUE(made) << made.error().describe();
        directory.emplace(*std::move(made));
    }
    [[nodiscard]] Result<Service> start(const std::string& to, const std::string& more = "") const {
        return Service::start(
            {.database = "sqlite:" + (directory->path() / "orders.db").string(),
             .config = "[relay]\nallow_private = true\nto = \"" + to + "\"\nsecret = \"" + secret + "\"\n" + more});
    }
    std::optional<testing::TempDir> directory;
};

TEST_F(OrdersRelayReal, TellsOfACommandWellBeforeTheNextPollAndSignsIt) {
    Receiver receiver([](const Received&, const std::stop_token&) { return plain("200 OK"); });
    auto service = start(receiver.url());
    ASSERT_TRUE(service) << service.error().describe();
    ASSERT_EQ(pay(*service, "first").status, 201);
    ASSERT_TRUE(eventually([&] { return receiver.requests().size() == 1; })) << service->error_output();
    // By now it holds its partitions and waits for the bell or the poll, a second at most. Were there no bell, twenty
    // events in a row would take half a second each on average.
    const Instant begun = system_clock().now();
    for (std::size_t i = 0; i < 20; ++i) {
        ASSERT_EQ(pay(*service, "k-" + std::to_string(i)).status, 201);
        ASSERT_TRUE(eventually([&] { return receiver.requests().size() == i + 2; }));
    }
    EXPECT_LT(system_clock().now() - begun, 5s);
    const std::vector<Secret> known{Secret::parse(secret).value()};
    std::set<std::string> ids;
    for (const Received& one : receiver.requests()) {
        EXPECT_EQ(one.field("ce-type"), "payment.created");
        EXPECT_EQ(one.field("ce-source"), "/semel-orders");
        EXPECT_TRUE(
            verify({.id = one.field("webhook-id"), .timestamp = one.field("webhook-timestamp"), .body = one.body},
                   one.field("webhook-signature"), known, system_clock().wall()));
        ids.insert(one.field("webhook-id"));
    }
    EXPECT_EQ(ids.size(), 21U);
    const auto exit = service->stop();
    ASSERT_TRUE(exit) << exit.error().describe();
    EXPECT_TRUE(exit->success()) << exit->text();
}

TEST_F(OrdersRelayReal, KeepsEventsWhileTheReceiverIsAwayAlsoOverARestart) {
    std::atomic<bool> there = false;
    Receiver receiver([&](const Received&, const std::stop_token&) {
        return there ? plain("200 OK") : plain("503 Service Unavailable");
    });
    auto service = start(receiver.url());
    ASSERT_TRUE(service) << service.error().describe();
    ASSERT_EQ(pay(*service, "a").status, 201) << "a receiver that is away holds nobody up";
    ASSERT_TRUE(eventually([&] { return !receiver.requests().empty(); }));
    EXPECT_TRUE(eventually([&] { return service->error_output().find("503") != std::string::npos; }));
    ASSERT_TRUE(service->stop());
    const std::size_t refused = receiver.requests().size();
    there = true;
    ASSERT_TRUE(service->start_again());
    ASSERT_TRUE(eventually([&] { return receiver.requests().size() > refused; })) << service->error_output();
    const auto requests = receiver.requests();
    EXPECT_EQ(requests.front().field("webhook-id"), requests.back().field("webhook-id")) << "the same event, again";
}

TEST_F(OrdersRelayReal, PublishesNothingThatDoesNotKeepTheContractsOfItsFolder) {
    Receiver receiver([](const Received&, const std::stop_token&) { return plain("200 OK"); });
    const auto contract = directory->path() / "payment.created.v1.json";
    std::ofstream(contract) << R"({"properties":{"amount":{"pattern":"^1[.]"}}})";
    auto service = start(receiver.url(), "contracts = \"" + directory->path().string() + "\"\n");
    ASSERT_TRUE(service) << service.error().describe();
    ASSERT_EQ(pay(*service, "ten").status, 201);
    EXPECT_TRUE(eventually([&] { return service->error_output().find("set aside") != std::string::npos; }));
    EXPECT_THAT(service->error_output(), HasSubstr("[amount]"));
    ASSERT_TRUE(service->stop());
    std::ofstream(contract) << "{}";
    ASSERT_TRUE(service->start_again());
    ASSERT_EQ(pay(*service, "after").status, 201);
    ASSERT_TRUE(eventually([&] { return !receiver.requests().empty(); })) << service->error_output();
    ASSERT_EQ(receiver.requests().size(), 1U) << "what was set aside waits for a person";
    EXPECT_THAT(receiver.requests().front().body, HasSubstr("after"));
}

TEST_F(OrdersRelayReal, DoesNotStartWithAReceiverThatItMayNotTalkTo) {
    const auto refused = Service::start({.database = "sqlite:" + (directory->path() / "orders.db").string(),
                                         .config = "[relay]\nto = \"https://127.0.0.1/\"\n"});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().describe(), HasSubstr("loopback"));
}

}  // namespace
}  // namespace semel::webhook
