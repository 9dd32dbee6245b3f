// Messages that come in by webhook: what is signed counts, and a sender is told only what has become true.

#include "semel/testing/manual_clock.hpp"
#include "semel/webhook/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>

namespace semel::webhook {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::array<Secret, 1> our_secret{Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value()};
const std::array<Secret, 1> their_secret{Secret::parse("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").value()};
const Timestamp signed_at{std::chrono::sys_days(std::chrono::year(2026) / 11 / 15)};

/// A request with these headers, signed at `signed_at`.
struct SignedRequest {
    std::string body;
    std::vector<CloudEventAttribute> headers;

    SignedRequest(const std::string& id, std::string text, std::vector<CloudEventAttribute> others = {},
                  std::span<const Secret> secrets = our_secret)
        : body(std::move(text)), headers(std::move(others)) {
        const std::string time = std::to_string(
            std::chrono::sys_time<std::chrono::seconds>(std::chrono::floor<std::chrono::seconds>(signed_at))
                .time_since_epoch()
                .count());
        headers.push_back({"Webhook-Id", id});
        headers.push_back({"WEBHOOK-TIMESTAMP", time});
        headers.push_back({"webhook-signature", sign({.id = id, .timestamp = time, .body = body}, secrets)});
    }
    [[nodiscard]] Inbound inbound() const { return {.headers = headers, .body = body}; }
};

TEST(ReceivedByWebhook, ACloudEventInBinaryModeIsReadFromHeadersAndBody) {
    const SignedRequest request("m-1", R"({"a":1.50})",
                                {{"Content-Type", "application/json"},
                                 {"ce-specversion", "1.0"},
                                 {"ce-id", "m-1"},
                                 {"Ce-Type", "order.created"},
                                 {"ce-tenant", "caf%C3%A9"},
                                 {"ce-subject", "order/7"},
                                 {"traceparent", "00-abc"}});
    const auto message = received_from(request.inbound(), our_secret, signed_at);
    ASSERT_TRUE(message) << message.error().describe();
    EXPECT_EQ(message->id, "m-1");
    EXPECT_EQ(message->type, "order.created");
    EXPECT_EQ(message->tenant, "caf\xc3\xa9");
    EXPECT_EQ(message->payload, R"({"a":1.50})");
    EXPECT_THAT(message->key, HasSubstr("order/7"));
    EXPECT_THAT(message->headers, HasSubstr(R"("traceparent":"00-abc")"));
}

TEST(ReceivedByWebhook, ACloudEventInStructuredModeIsReadFromTheBodyAlone) {
    const SignedRequest request(
        "m-1",
        R"({"specversion":"1.0","id":"m-1","type":"order.created","tenant":"shop","source":"/x","data":{"a":1}})",
        {{"Content-Type", "application/cloudevents+json"}, {"ce-type", "order.completed"}, {"ce-tenant", "forged"}});
    const auto message = received_from(request.inbound(), our_secret, signed_at);
    ASSERT_TRUE(message) << message.error().describe();
    EXPECT_EQ(message->type, "order.created");
    EXPECT_EQ(message->tenant, "shop");
    EXPECT_EQ(message->payload, R"({"a":1})");
}

TEST(ReceivedByWebhook, AnythingElseIsAMessageUnderItsWebhookId) {
    const SignedRequest request("m-1", "not even JSON");
    const auto message = received_from(request.inbound(), our_secret, signed_at);
    ASSERT_TRUE(message) << message.error().describe();
    EXPECT_EQ(message->id, "m-1");
    EXPECT_EQ(message->type, "");
    EXPECT_EQ(message->payload, "not even JSON");
}

TEST(ReceivedByWebhook, TheSignedIdIsTheOneThatCounts) {
    const SignedRequest request("m-1", "{}", {{"ce-specversion", "1.0"}, {"ce-id", "another"}, {"ce-type", "t"}});
    EXPECT_EQ(received_from(request.inbound(), our_secret, signed_at).value().id, "m-1");
}

TEST(ReceivedByWebhook, WhatOnlyProvesWhoSentItIsNoPartOfTheMessage) {
    const SignedRequest request(
        "m-1", "{}", {{"Authorization", "Bearer sesame"}, {"cookie", "session=sesame"}, {"x-colour", "red"}});
    const auto message = received_from(request.inbound(), our_secret, signed_at);
    ASSERT_TRUE(message);
    EXPECT_THAT(message->headers, AllOf(HasSubstr("red"), Not(HasSubstr("sesame")), Not(HasSubstr("v1,"))));
}

TEST(ReceivedByWebhook, IsRefusedWithoutAnIdAValidSignatureOrAtAnotherTime) {
    const SignedRequest good("m-1", "{}");
    ASSERT_TRUE(received_from(good.inbound(), our_secret, signed_at));
    const auto refused = [](const SignedRequest& request, std::span<const Secret> secrets, Timestamp now) {
        const auto message = received_from(request.inbound(), secrets, now);
        EXPECT_FALSE(message);
        return !message && message.error().fault == Fault::rejected && !message.error().message.empty();
    };
    EXPECT_TRUE(refused(good, their_secret, signed_at));
    EXPECT_TRUE(refused(good, our_secret, signed_at + 6min));
    EXPECT_TRUE(refused(good, our_secret, signed_at - 6min));
    for (std::size_t missing = 0; missing < good.headers.size(); ++missing) {
        SignedRequest less = good;
        less.headers.erase(less.headers.begin() + static_cast<std::ptrdiff_t>(missing));
        EXPECT_TRUE(refused(less, our_secret, signed_at)) << good.headers[missing].name;
    }
    SignedRequest altered = good;
    altered.body += ' ';
    EXPECT_TRUE(refused(altered, our_secret, signed_at));
    EXPECT_TRUE(refused(SignedRequest("", "{}"), our_secret, signed_at)) << "an id that is empty is none";
}

/// Long enough for any machine; nothing here waits that long unless it is broken.
constexpr Duration patience = 30s;

class WebhookSourceReal : public ::testing::Test {
protected:
    [[nodiscard]] static ReceivedMessage message(const std::string& id) {
        ReceivedMessage made;
        made.id = id;
        return made;
    }
    [[nodiscard]] static Deadline soon(Duration limit = patience) {
        return Deadline::after(system_clock().now(), limit);
    }
    /// Whoever got a request and waits for what becomes of it.
    [[nodiscard]] std::future<Status> offering(const std::string& id, Duration limit = patience) {
        return std::async(std::launch::async, [this, id, limit] { return source.offer(message(id), soon(limit)); });
    }
    /// The next one that is delivered.
    [[nodiscard]] Delivery next() {
        auto deliveries = source.receive(1, soon());
        EXPECT_TRUE(deliveries && deliveries->size() == 1);
        return deliveries && !deliveries->empty() ? deliveries->front() : Delivery{};
    }
    [[nodiscard]] static bool waits(const std::future<Status>& offer) {
        return offer.wait_for(50ms) == std::future_status::timeout;
    }
    [[nodiscard]] static Fault fault_of(const Status& status) {
        EXPECT_FALSE(status);
        return status ? Fault::broken : status.error().fault;
    }

    WebhookSource source{2};
};

TEST_F(WebhookSourceReal, ASenderIsToldOnlyWhenTheConsumerIsDone) {
    auto offer = offering("m-1");
    const Delivery delivery = next();
    EXPECT_EQ(delivery.message.id, "m-1");
    EXPECT_TRUE(waits(offer)) << "it is delivered, and not done";
    ASSERT_TRUE(source.acknowledge(std::array{delivery.tag}));
    EXPECT_TRUE(offer.get());
}

TEST_F(WebhookSourceReal, WhatIsGivenBackIsToBeSentAgain) {
    auto offer = offering("m-1");
    const Delivery delivery = next();
    ASSERT_TRUE(source.give_back(std::array{delivery.tag}));
    EXPECT_EQ(fault_of(offer.get()), Fault::unavailable);
    // It is the sender's again: here it does not come again by itself.
    EXPECT_TRUE(source.receive(1, soon(20ms)).value().empty());
    auto again = offering("m-1");
    const Delivery second = next();
    EXPECT_NE(second.tag, delivery.tag);
    ASSERT_TRUE(source.acknowledge(std::array{second.tag}));
    EXPECT_TRUE(again.get());
}

TEST_F(WebhookSourceReal, AtTheDeadlineItIsUnavailableIfNobodyBeganAndUnknownIfSomebodyDid) {
    EXPECT_EQ(fault_of(source.offer(message("m-1"), soon(20ms))), Fault::unavailable);
    EXPECT_TRUE(source.receive(1, soon(20ms)).value().empty()) << "nobody waits for it any more";
    auto begun = offering("m-2", 500ms);
    const Delivery delivery = next();
    EXPECT_EQ(fault_of(begun.get()), Fault::unknown);
    // The consumer is done too late: nobody listens, and nothing breaks.
    EXPECT_TRUE(source.acknowledge(std::array{delivery.tag}));
    EXPECT_TRUE(source.give_back(std::array{delivery.tag, DeliveryTag{99}}));
}

TEST_F(WebhookSourceReal, MoreThanItMayHoldAreTurnedAwayAtOnce) {
    auto first = offering("m-1");
    const Delivery one = next();
    auto second = offering("m-2");
    const Delivery two = next();
    EXPECT_EQ(fault_of(source.offer(message("m-3"), soon())), Fault::throttled);
    ASSERT_TRUE(source.acknowledge(std::array{one.tag}));
    EXPECT_TRUE(first.get());
    auto third = offering("m-3");
    const Delivery three = next();
    EXPECT_EQ(three.message.id, "m-3") << "there is room again";
    ASSERT_TRUE(source.acknowledge(std::array{three.tag, two.tag}));
    EXPECT_TRUE(second.get());
    EXPECT_TRUE(third.get());
}

TEST_F(WebhookSourceReal, OnceClosedItTurnsAwayWhatIsNotBegunAndLetsTheRestEnd) {
    auto begun = offering("m-1");
    const Delivery delivery = next();
    auto waiting = offering("m-2");
    EXPECT_TRUE(waits(waiting));
    source.close();
    EXPECT_EQ(fault_of(waiting.get()), Fault::unavailable);
    EXPECT_EQ(fault_of(source.offer(message("m-3"), soon())), Fault::unavailable);
    EXPECT_TRUE(waits(begun));
    ASSERT_TRUE(source.acknowledge(std::array{delivery.tag}));
    EXPECT_TRUE(begun.get());
    EXPECT_TRUE(source.receive(1, soon(20ms)).value().empty());
}

TEST_F(WebhookSourceReal, PausedItDeliversNothingAndKeepsWhatIsOffered) {
    source.pause();
    auto offer = offering("m-1");
    EXPECT_TRUE(source.receive(1, soon(50ms)).value().empty());
    EXPECT_TRUE(waits(offer));
    auto receiving = std::async(std::launch::async, [this] { return next(); });
    source.resume();
    const Delivery delivery = receiving.get();
    EXPECT_EQ(delivery.message.id, "m-1");
    ASSERT_TRUE(source.acknowledge(std::array{delivery.tag}));
    EXPECT_TRUE(offer.get());
}

TEST_F(WebhookSourceReal, AWakeEndsAReceiveThatWaitsOrTheNextOne) {
    source.wake();
    const Instant begun = system_clock().now();
    EXPECT_TRUE(source.receive(1, soon()).value().empty());
    auto receiving = std::async(std::launch::async, [this] { return source.receive(1, soon()); });
    EXPECT_EQ(receiving.wait_for(50ms), std::future_status::timeout);
    source.wake();
    EXPECT_TRUE(receiving.get().value().empty());
    EXPECT_LT(system_clock().now() - begun, patience / 2);
}

TEST_F(WebhookSourceReal, ALimitOfZeroGivesNothing) {
    auto offer = offering("m-1");
    EXPECT_TRUE(source.receive(0, soon(20ms)).value().empty());
    const Delivery delivery = next();
    ASSERT_TRUE(source.acknowledge(std::array{delivery.tag}));
    EXPECT_TRUE(offer.get());
}

TEST_F(WebhookSourceReal, ManyOffersAtOnceAreEachToldTheirOwn) {
    WebhookSource wide;
    std::vector<std::future<Status>> offers;
    for (int i = 0; i < 32; ++i)
        offers.push_back(
            std::async(std::launch::async, [&wide, i] { return wide.offer(message(std::to_string(i)), soon()); }));
    std::vector<bool> acknowledged(32, false);
    for (int ended = 0; ended < 32;) {
        const auto deliveries = wide.receive(5, soon());
        ASSERT_TRUE(deliveries && !deliveries->empty() && deliveries->size() <= 5);
        for (const Delivery& one : *deliveries) {
            const auto number = static_cast<std::size_t>(std::stoi(one.message.id));
            acknowledged[number] = number % 3 != 0;
            ASSERT_TRUE(acknowledged[number] ? wide.acknowledge(std::array{one.tag})
                                             : wide.give_back(std::array{one.tag}));
            ++ended;
        }
    }
    for (std::size_t i = 0; i < offers.size(); ++i) EXPECT_EQ(offers[i].get().has_value(), acknowledged[i]) << i;
}

TEST(WebhookSourceYoung, TakesEveryMessageForARepeatUntilItIsOldEnough) {
    testing::ManualClock clock;
    WebhookSource source(WebhookSource::offered_default, clock);
    const auto redelivered = [&] {
        std::promise<Status> told;
        std::thread sender([&] { told.set_value(source.offer({.id = "m"}, Deadline::never())); });
        auto got = source.receive(1, Deadline::never());
        while (got && got->empty()) got = source.receive(1, Deadline::never());
        const Delivery delivery = got.value().front();
        EXPECT_TRUE(source.acknowledge(std::array{delivery.tag}));
        EXPECT_TRUE(told.get_future().get());
        sender.join();
        return delivery.redelivered;
    };
    EXPECT_TRUE(redelivered());
    clock.advance(WebhookSource::suspicion);
    EXPECT_FALSE(redelivered());
}

}  // namespace
}  // namespace semel::webhook
