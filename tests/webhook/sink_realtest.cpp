#include "semel/webhook/sink.hpp"
#include "tests/webhook/receiver_realtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace semel::webhook {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string one_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string other_secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

Message event(const std::string& aggregate, int version) {
    Message message;
    message.id = new_uuid();
    message.tenant = "shop";
    message.aggregate = {.type = "order", .id = aggregate, .version = version};
    message.type = "order.changed";
    message.payload = R"({"version":)" + std::to_string(version) + "}";
    message.headers = "{}";
    message.created_at = system_clock().wall();
    return message;
}

std::unique_ptr<WebhookSink> sink_to(const std::string& url, SinkOptions options = {}) {
    options.url = url;
    options.allow_private = true;
    auto made = WebhookSink::create(std::move(options));
    EXPECT_TRUE(made) << made.error().describe();
    return *std::move(made);
}

Deadline within(Duration limit) { return Deadline::after(system_clock().now(), limit); }

std::optional<std::string> take(const Received&, const std::stop_token&) { return plain("204 No Content"); }

TEST(WebhookSinkReal, SendsACloudEventSignedWithTheOldAndTheNewSecret) {
    Receiver receiver(take);
    const std::vector<Secret> secrets{Secret::parse(one_secret).value(), Secret::parse(other_secret).value()};
    const auto sink = sink_to(receiver.url("/in?shop=1"), {.event = {.source = "/shop"}, .secrets = secrets});
    const std::vector<Message> messages{event("o-1", 7)};
    const auto answers = sink->publish(messages, within(5s));
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_TRUE(answers[0]) << answers[0].error().describe();
    const auto requests = receiver.requests();
    ASSERT_EQ(requests.size(), 1U);
    const Received& got = requests[0];
    EXPECT_THAT(got.head, HasSubstr("POST /in?shop=1 HTTP/1.1\r\n"));
    EXPECT_EQ(got.body, messages[0].payload);
    EXPECT_EQ(got.field("ce-specversion"), "1.0");
    EXPECT_EQ(got.field("ce-id"), messages[0].id.text());
    EXPECT_EQ(got.field("ce-source"), "/shop");
    EXPECT_EQ(got.field("ce-type"), "order.changed");
    EXPECT_EQ(got.field("ce-subject"), "order/o-1");
    EXPECT_EQ(got.field("content-type"), "application/json");
    EXPECT_EQ(got.field("webhook-id"), messages[0].id.text());
    EXPECT_EQ(got.field("expect"), "");
    const std::string timestamp = got.field("webhook-timestamp");
    for (const Secret& secret : secrets) {
        const Status genuine = verify({.id = got.field("webhook-id"), .timestamp = timestamp, .body = got.body},
                                      got.field("webhook-signature"), {&secret, 1}, system_clock().wall());
        EXPECT_TRUE(genuine) << genuine.error().describe();
    }
}

TEST(WebhookSinkReal, SendsOneDocumentInStructuredMode) {
    Receiver receiver(take);
    const auto sink = sink_to(receiver.url(), {.mode = Mode::structured});
    const std::vector<Message> messages{event("o-1", 7)};
    ASSERT_TRUE(sink->publish(messages, within(5s))[0]);
    const Received got = receiver.requests().at(0);
    EXPECT_EQ(got.field("content-type"), "application/cloudevents+json");
    EXPECT_EQ(got.body, structured_cloud_event(messages[0], {.source = "/semel"}).value());
    EXPECT_EQ(got.field("webhook-signature"), "") << "there is no secret";
}

TEST(WebhookSinkReal, KeepsTheOrderOfAnAggregateAndSendsDifferentOnesSideBySide) {
    std::atomic<int> now_here = 0;
    std::atomic<int> most_here = 0;
    std::mutex mutex;
    std::map<std::string, std::vector<std::string>> bodies;
    std::map<std::string, int> inside;
    bool overlapped = false;
    Receiver receiver([&](const Received& request, const std::stop_token&) {
        const std::string subject = request.field("ce-subject");
        most_here = std::max<int>(most_here, ++now_here);
        {
            const std::lock_guard guard(mutex);
            bodies[subject].push_back(request.body);
            overlapped = overlapped || ++inside[subject] > 1;
        }
        std::this_thread::sleep_for(3ms);
        const std::lock_guard guard(mutex);
        --inside[subject];
        --now_here;
        return plain("200 OK");
    });
    const auto sink = sink_to(receiver.url(), {.parallel = 4});
    std::vector<Message> messages;
    std::map<std::string, std::vector<std::string>> expected;
    for (int version = 1; version <= 20; ++version)
        for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
            messages.push_back(event(id, version));
            expected[std::string("order/") + id].push_back(messages.back().payload);
        }
    for (const Status& one : sink->publish(messages, within(20s))) ASSERT_TRUE(one) << one.error().describe();
    EXPECT_EQ(bodies, expected);
    EXPECT_FALSE(overlapped);
    EXPECT_GT(most_here, 1);
    EXPECT_LE(most_here, 4);
    EXPECT_LE(receiver.connections(), 4) << "connections are used again";
}

TEST(WebhookSinkReal, KeepsItsConnectionFromBatchToBatch) {
    Receiver receiver(take);
    const auto sink = sink_to(receiver.url());
    for (int version = 1; version <= 10; ++version) {
        const std::vector<Message> messages{event("o-1", version), event("o-1", version + 100)};
        for (const Status& one : sink->publish(messages, within(5s))) ASSERT_TRUE(one) << one.error().describe();
    }
    EXPECT_EQ(receiver.connections(), 1);
}

TEST(WebhookSinkReal, SendsNothingBehindARefusedEventOfTheSameAggregate) {
    Receiver receiver([](const Received& request, const std::stop_token&) {
        return request.body == R"({"version":2})" ? plain("422 Unprocessable") : plain("200 OK");
    });
    const auto sink = sink_to(receiver.url());
    const std::vector<Message> messages{event("a", 1), event("a", 2), event("a", 3), event("b", 1)};
    const auto answers = sink->publish(messages, within(5s));
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(answers[1].error().fault, Fault::rejected);
    EXPECT_EQ(answers[1].error().cause.code, "422");
    EXPECT_EQ(answers[2].error().message, behind_unacknowledged().message);
    EXPECT_TRUE(answers[3]);
    EXPECT_EQ(receiver.requests().size(), 3U);
}

TEST(WebhookSinkReal, KnowsNotWhatBecameOfARequestThatIsNotAnsweredInTime) {
    Receiver receiver([](const Received&, const std::stop_token& stop) -> std::optional<std::string> {
        while (!stop.stop_requested()) std::this_thread::sleep_for(5ms);
        return std::nullopt;
    });
    const auto sink = sink_to(receiver.url(), {.request_limit = 200ms});
    const Instant begun = system_clock().now();
    const auto answers = sink->publish(std::vector<Message>{event("a", 1), event("a", 2)}, within(10s));
    EXPECT_LT(system_clock().now() - begun, 5s);
    EXPECT_EQ(answers[0].error().fault, Fault::unknown);
    EXPECT_EQ(answers[0].error().cause.timeout, Timeout::request);
    EXPECT_EQ(answers[1].error().message, behind_unacknowledged().message);
    EXPECT_EQ(receiver.requests().size(), 1U);
}

TEST(WebhookSinkReal, KnowsNotWhatBecameOfARequestWhoseConnectionWasCut) {
    Receiver receiver([](const Received&, const std::stop_token&) { return std::nullopt; });
    const auto sink = sink_to(receiver.url());
    const auto answers = sink->publish(std::vector<Message>{event("a", 1)}, within(5s));
    EXPECT_EQ(answers[0].error().fault, Fault::unknown) << answers[0].error().describe();
}

TEST(WebhookSinkReal, TakesTheStatusForTheAnswerEvenIfTheRestIsCutOrNeverEnds) {
    Receiver cut([](const Received&, const std::stop_token&) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + std::string(100'000, 'x');
    });
    const auto answers = sink_to(cut.url())->publish(std::vector<Message>{event("a", 1)}, within(5s));
    EXPECT_TRUE(answers[0]) << answers[0].error().describe();
    Receiver refusing([](const Received&, const std::stop_token&) {
        return "HTTP/1.1 500 Oops\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x');
    });
    const auto refused = sink_to(refusing.url())->publish(std::vector<Message>{event("a", 1)}, within(5s));
    EXPECT_EQ(refused[0].error().fault, Fault::unavailable);
    EXPECT_LE(refused[0].error().native.size(), 4096U);
}

TEST(WebhookSinkReal, SaysUnavailableAndTriesOnlyAFewWhenNobodyListens) {
    std::string url;
    {
        const Receiver gone(take);
        url = gone.url();
    }
    std::vector<Message> messages;
    for (int i = 0; i < 200; ++i) messages.push_back(event(std::to_string(i), 1));
    const Instant begun = system_clock().now();
    for (const Status& one : sink_to(url)->publish(messages, within(10s))) {
        ASSERT_FALSE(one);
        EXPECT_EQ(one.error().fault, Fault::unavailable);
    }
    EXPECT_LT(system_clock().now() - begun, 3s);
}

TEST(WebhookSinkReal, RefusesToFollowARedirect) {
    Receiver target(take);
    Receiver receiver([&](const Received&, const std::stop_token&) {
        return plain("307 Temporary Redirect", "Location: " + target.url() + "\r\n");
    });
    const auto answers = sink_to(receiver.url())->publish(std::vector<Message>{event("a", 1)}, within(5s));
    EXPECT_EQ(answers[0].error().fault, Fault::rejected);
    EXPECT_THAT(answers[0].error().message, HasSubstr("redirects are not followed"));
    EXPECT_EQ(answers[0].error().native, target.url());
    EXPECT_EQ(target.connections(), 0);
}

TEST(WebhookSinkReal, StopsWhenItIsAskedForLessAndSaysForHowLong) {
    Receiver receiver(
        [](const Received&, const std::stop_token&) { return plain("429 Too Many Requests", "retry-after: 17\r\n"); });
    const auto sink = sink_to(receiver.url(), {.parallel = 2});
    std::vector<Message> messages;
    for (int i = 0; i < 50; ++i) messages.push_back(event(std::to_string(i), 1));
    for (const Status& one : sink->publish(messages, within(5s))) {
        ASSERT_FALSE(one);
        EXPECT_EQ(one.error().fault, Fault::throttled);
        EXPECT_EQ(one.error().cause.retry_after, 17s);
    }
    EXPECT_LE(receiver.requests().size(), 3U);
}

TEST(WebhookSinkReal, EndsAtTheDeadlineWithWhatWasAcknowledgedUntilThen) {
    Receiver receiver([](const Received&, const std::stop_token&) {
        std::this_thread::sleep_for(20ms);
        return plain("200 OK");
    });
    const auto sink = sink_to(receiver.url());
    std::vector<Message> messages;
    for (int version = 1; version <= 100; ++version) messages.push_back(event("a", version));
    const Instant begun = system_clock().now();
    const auto answers = sink->publish(messages, within(600ms));
    EXPECT_LT(system_clock().now() - begun, 900ms);
    std::size_t acknowledged = 0;
    while (acknowledged < answers.size() && answers[acknowledged]) ++acknowledged;
    EXPECT_GT(acknowledged, 2U);
    ASSERT_LT(acknowledged, 60U);
    EXPECT_EQ(receiver.requests().size(), acknowledged) << "nothing was cut off in the middle";
    for (std::size_t i = acknowledged; i < answers.size(); ++i) EXPECT_EQ(answers[i].error().fault, Fault::unavailable);
}

TEST(WebhookSinkReal, DoesNotConnectToANameThatLeadsToThisMachine) {
    Receiver receiver(take);
    auto made = WebhookSink::create({.url = "https://localhost:" + std::to_string(receiver.port()) + "/in"});
    ASSERT_TRUE(made) << made.error().describe();
    const auto answers = (*made)->publish(std::vector<Message>{event("a", 1)}, within(5s));
    EXPECT_EQ(answers[0].error().fault, Fault::unavailable);
    EXPECT_THAT(answers[0].error().message, HasSubstr("loopback"));
    EXPECT_EQ(receiver.connections(), 0);
}

TEST(WebhookSinkReal, IgnoresAProxyOfTheEnvironment) {
    Receiver receiver(take);
    Receiver proxy(take);
    ::setenv("http_proxy", proxy.url("").c_str(), 1);
    ::setenv("ALL_PROXY", proxy.url("").c_str(), 1);
    const auto answers = sink_to(receiver.url())->publish(std::vector<Message>{event("a", 1)}, within(5s));
    ::unsetenv("http_proxy");
    ::unsetenv("ALL_PROXY");
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(proxy.connections(), 0);
    EXPECT_EQ(receiver.requests().size(), 1U);
}

TEST(WebhookSinkReal, WritesNoLineBreakOfAnEventIntoItsHeaders) {
    Receiver receiver(take);
    Message hostile = event("a\r\nx-evil: 1", 1);
    const auto answers = sink_to(receiver.url())->publish(std::vector<Message>{hostile}, within(5s));
    EXPECT_TRUE(answers[0] || answers[0].error().fault == Fault::rejected);
    for (const Received& one : receiver.requests()) EXPECT_EQ(one.field("x-evil"), "");
}

}  // namespace
}  // namespace semel::webhook
