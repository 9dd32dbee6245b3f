// One intent, one effect, over real HTTP: repeats, races, other payloads, answers that nobody read.

#include "semel/idempotency/identity.hpp"
#include "tests/orders/fixture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class OrdersCommands : public OrdersTest {};

/// What a replay must repeat byte for byte.
constexpr std::array replayed_headers{"Content-Type", "Location", "ETag", "Content-Length"};

void expect_replay(const HttpResponse& repeat, const HttpResponse& first) {
    EXPECT_EQ(repeat.status, first.status);
    EXPECT_EQ(repeat.body, first.body);
    for (const char* name : replayed_headers) EXPECT_EQ(repeat.header(name), first.header(name)) << name;
    EXPECT_EQ(repeat.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(repeat.header("Set-Cookie"), std::nullopt);
}

TEST_P(OrdersCommands, ADuplicateWithTheSamePayloadGetsTheSameReplyAndOneEffect) {
    start();
    const HttpResponse first = post("/api/v1/quotes", "k", quote_body);
    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.header("Location"), "/api/v1/quotes/" + first.member("quoteId"));
    EXPECT_EQ(first.header("ETag"), "\"quote-version-1\"");
    EXPECT_EQ(first.header("Content-Type"), "application/json");
    EXPECT_EQ(first.header("Idempotency-Replayed"), std::nullopt);
    EXPECT_EQ(first.member("revision") + first.member("version") + first.member("state"), "11DRAFT");
    expect_replay(post("/api/v1/quotes", "k", quote_body), first);
    // The order of members and the white space between them are no difference.
    expect_replay(post("/api/v1/quotes", "k", "{ \"currency\" : \"EUR\", \"customerId\":\"c-1\"}"), first);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 1);
    EXPECT_EQ(events("quote.created"), 1);
}

TEST_P(OrdersCommands, AQuotedAndABareKeyAreOneKey) {
    start();
    const HttpResponse first = post("/api/v1/quotes", "\"8e03978e-40d5\"", quote_body);
    ASSERT_EQ(first.status, 201) << first.body;
    expect_replay(post("/api/v1/quotes", "8e03978e-40d5", quote_body), first);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 1);
}

TEST_P(OrdersCommands, TheSameKeyWithAnotherPayloadIsAConflictAndDoesNothing) {
    start();
    ASSERT_EQ(post("/api/v1/payments", "k", payment_body("r-1")).status, 201);
    const HttpResponse other = post("/api/v1/payments", "k", payment_body("r-2"));
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(other.header("Content-Type"), "application/problem+json");
    EXPECT_NE(other.member("correlationId"), "");
    EXPECT_EQ(other.member("correlationId"), other.header("X-Correlation-Id"));
    // A payload that would be refused by itself is no less another one.
    EXPECT_EQ(post("/api/v1/payments", "k", "{}").code(), "IDEMPOTENCY_KEY_CONFLICT");
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 1);
}

TEST_P(OrdersCommands, TheIetfProfileAnswersAConflictWith422) {
    start({.config = "profile = \"ietf\"\n"});
    ASSERT_EQ(post("/api/v1/payments", "k", payment_body("r-1")).status, 201);
    const HttpResponse other = post("/api/v1/payments", "k", payment_body("r-2"));
    EXPECT_EQ(other.status, 422);
    EXPECT_EQ(other.code(), "IDEMPOTENCY_KEY_CONFLICT");
}

TEST_P(OrdersCommands, OfConcurrentDuplicatesOneIsExecuted) {
    start();
    for (const std::string target : {"/api/v1/quotes", "/api/v1/payments", "/api/v1/cases"}) {
        const std::string body = target == "/api/v1/quotes"  ? quote_body
                                 : target == "/api/v1/cases" ? R"({"subject":"noise"})"
                                                             : payment_body("same");
        std::mutex mutex;
        std::set<std::string> bodies;
        std::atomic<int> in_progress = 0;
        {
            std::vector<std::jthread> clients;
            for (int i = 0; i < 16; ++i)
                clients.emplace_back([&] {
                    const HttpResponse answer = post(target, "same", body);
                    if (answer.status == 409) {
                        EXPECT_EQ(answer.code(), "REQUEST_ALREADY_IN_PROGRESS");
                        EXPECT_TRUE(answer.header("Retry-After"));
                        ++in_progress;
                        return;
                    }
                    EXPECT_EQ(answer.status, 201) << answer.body;
                    const std::lock_guard guard(mutex);
                    bodies.insert(answer.body);
                });
        }
        EXPECT_EQ(bodies.size(), 1) << target;
        EXPECT_LT(in_progress, 16);
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_case"), 1);
    EXPECT_EQ(events(), 3);
}

TEST_P(OrdersCommands, OfTwoWhoSawTheSameVersionOneWritesAndTheOtherLearnsTheNewOne) {
    start();
    const std::string items = "/api/v1/quotes/" + make_quote() + "/items";
    const Fields seen{{"If-Match", "\"quote-version-1\""}};
    const HttpResponse first = post(items, "a", item_body, seen);
    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.header("ETag"), "\"quote-version-2\"");
    const HttpResponse second = post(items, "b", item_body, seen);
    EXPECT_EQ(second.status, 412);
    EXPECT_EQ(second.code(), "PRECONDITION_FAILED");
    EXPECT_EQ(second.member("currentETag"), "\"quote-version-2\"");
    EXPECT_EQ(second.header("ETag"), "\"quote-version-2\"");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), 1);
    EXPECT_EQ(events("quote.item_added"), 1);
    // Under the same key with the new version: refusals are decided anew.
    EXPECT_EQ(post(items, "b", item_body, {{"If-Match", "\"quote-version-2\""}}).status, 201);
    EXPECT_EQ(count("SELECT version FROM orders_quote"), 3);
}

TEST_P(OrdersCommands, NoUpdateIsLostHoweverManyRace) {
    start();
    const std::string quote = "/api/v1/quotes/" + make_quote();
    constexpr int writers = 8;
    std::atomic<int> stale = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < writers; ++i)
            clients.emplace_back([&, i] {
                for (int attempt = 0;; ++attempt) {
                    const std::string etag = get(quote).header("ETag").value_or("");
                    const std::string key = std::to_string(i) + "-" + std::to_string(attempt);
                    const HttpResponse answer = post(quote + "/items", key, item_body, {{"If-Match", etag}});
                    if (answer.status == 201) return;
                    ASSERT_EQ(answer.status, 412) << answer.body;
                    ASSERT_LT(++stale, 1000);
                }
            });
    }
    const HttpResponse read = get(quote);
    EXPECT_EQ(read.header("ETag"), "\"quote-version-" + std::to_string(1 + writers) + "\"");
    EXPECT_EQ(read.member("itemCount"), std::to_string(writers));
    EXPECT_EQ(read.member("net"), "200.00");
    EXPECT_EQ(read.member("total"), "240.00");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), writers);
    EXPECT_EQ(events("quote.item_added"), writers);
}

TEST_P(OrdersCommands, ARepeatIsReplayedBeforeItsIfMatchIsLookedAt) {
    start({.config = "[limits]\ncache_bytes = 0\n"});
    const std::string items = "/api/v1/quotes/" + make_quote() + "/items";
    const HttpResponse first = post(items, "a", item_body, {{"If-Match", "\"quote-version-1\""}});
    ASSERT_EQ(first.status, 201);
    // The version it names is outdated by its own success; that is no reason for 412.
    expect_replay(post(items, "a", item_body, {{"If-Match", "\"quote-version-1\""}}), first);
    expect_replay(post(items, "a", item_body), first);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), 1);
}

TEST_P(OrdersCommands, AStateThatDoesNotAllowItIsNamed) {
    start();
    const std::string items = "/api/v1/quotes/" + make_quote() + "/items";
    run("UPDATE orders_quote SET state = 'SUBMITTED'");
    const HttpResponse refused = post(items, "a", item_body, {{"If-Match", "\"quote-version-1\""}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.code(), "INVALID_STATE_TRANSITION");
    EXPECT_EQ(refused.member("currentState"), "SUBMITTED");
}

TEST_P(OrdersCommands, AReplyThatNobodyReadIsReplayedToTheRetry) {
    start();
    for (const std::string target : {"/api/v1/cases", "/api/v1/payments"}) {
        const bool cases = target == "/api/v1/cases";
        const std::string body = cases ? R"({"subject":"lost"})" : payment_body("lost");
        auto connection = HttpConnection::open(service->port());
        ASSERT_TRUE(connection);
        ASSERT_TRUE(connection->send(posting(target, "lost", body).text()));
        // Until it has happened; then nobody is there to hear of it.
        for (int i = 0; i < 1000; ++i) {
            const auto done =
                cases ? count("SELECT count(*) FROM orders_case") : count("SELECT count(*) FROM orders_payment");
            if (done == 1) break;
            pause_for(10ms);
        }
        connection->drop();
        const HttpResponse retried = post(target, "lost", body);
        EXPECT_EQ(retried.status, 201) << retried.body;
        EXPECT_EQ(retried.header("Idempotency-Replayed"), "true");
        const std::string other = cases ? R"({"subject":"another"})" : payment_body("another");
        EXPECT_EQ(post(target, "lost", other).code(), "IDEMPOTENCY_KEY_CONFLICT");
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_case"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 1);
}

TEST_P(OrdersCommands, AClientThatLeavesAtAnyMomentLosesAndDoublesNothing) {
    start();
    constexpr int rounds = 40;
    for (int round = 0; round < rounds; ++round) {
        const std::string key = "leaves-" + std::to_string(round);
        const HttpRequest request = posting("/api/v1/payments", key, payment_body(key));
        auto connection = HttpConnection::open(service->port());
        ASSERT_TRUE(connection);
        ASSERT_TRUE(connection->send(request.text()));
        pause_for(std::chrono::microseconds(100 * (round % 20)));
        connection->drop();
        HttpResponse retried = send(request);
        for (int i = 0; i < 500 && retried.code() == "REQUEST_ALREADY_IN_PROGRESS"; ++i) {
            pause_for(10ms);
            retried = send(request);
        }
        EXPECT_EQ(retried.status, 201) << retried.body;
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), rounds);
    EXPECT_EQ(events("payment.created"), rounds);
}

TEST_P(OrdersCommands, OneReferenceIsOnePaymentWhoeverTellsOfIt) {
    start();
    const HttpResponse first = post("/api/v1/payments", "a", payment_body("r", "10.00"));
    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.member("amount"), "10.00");
    const HttpResponse again = post("/api/v1/payments", "b", payment_body("r", "10.0"));
    EXPECT_EQ(again.status, 200) << again.body;
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(again.header("Content-Location"), first.header("Location"));
    EXPECT_EQ(post("/api/v1/payments", "b", payment_body("r", "10.0")).header("Idempotency-Replayed"), "true");
    const HttpResponse other = post("/api/v1/payments", "c", payment_body("r", "11.00"));
    EXPECT_EQ(other.status, 409);
    EXPECT_EQ(other.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(other.member("existingId"), first.member("paymentId"));
    // Another tenant's reference is another payment.
    EXPECT_EQ(post("/api/v1/payments", "a", payment_body("r"), {{"X-Tenant-Id", "other"}}).status, 201);
    EXPECT_EQ(count("SELECT count(*) FROM orders_payment"), 2);
    EXPECT_EQ(events("payment.created"), 2);
}

TEST_P(OrdersCommands, ACommandIsFoundByItsIdByWhoeverSentItAlone) {
    start();
    ASSERT_EQ(post("/api/v1/cases", "k", R"({"subject":"noise"})").status, 201);
    const std::string id = semel::Identity::of("public", "anonymous", "case.open", "k").value().command_id();
    const HttpResponse found = get("/api/v1/commands/" + id);
    EXPECT_EQ(found.status, 200) << found.body;
    EXPECT_EQ(found.member("status"), "succeeded");
    EXPECT_EQ(found.member("operation"), "case.open");
    EXPECT_EQ(found.member("replyStatus"), "201");
    EXPECT_THAT(found.member("resource"), HasSubstr("/api/v1/cases/"));
    EXPECT_EQ(get("/api/v1/commands/" + id, {{"X-Tenant-Id", "other"}}).status, 404);
    EXPECT_EQ(get("/api/v1/commands/" + id, {{"X-Caller-Id", "other"}}).status, 404);
    EXPECT_EQ(get("/api/v1/commands/cmd_0").status, 404);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersCommands, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
