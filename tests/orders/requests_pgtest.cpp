// What a stranger meets who does not get it right: 4xx that says what is wrong, never 500. And how to read what is there.

#include "tests/orders/fixture.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class OrdersRequests : public OrdersTest {
protected:
    void SetUp() override {
        OrdersTest::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) start();
    }
};

TEST_P(OrdersRequests, AKeyIsRequiredAndWellFormedAndGivenOnce) {
    HttpRequest without = posting("/api/v1/quotes", "", quote_body);
    std::erase_if(without.headers, [](const auto& field) { return field.first == "Idempotency-Key"; });
    const HttpResponse missing = send(without);
    EXPECT_EQ(missing.status, 400);
    EXPECT_EQ(missing.code(), "MISSING_IDEMPOTENCY_KEY");
    for (const std::string& key : {std::string(), std::string("\"\""), std::string(256, 'k'), std::string("a,b"),
                                   std::string("\"open"), std::string("a b\x01")}) {
        const HttpResponse refused = post("/api/v1/quotes", key, quote_body);
        EXPECT_EQ(refused.status, 400) << key;
        EXPECT_THAT(refused.code(), ::testing::AnyOf("INVALID_IDEMPOTENCY_KEY", "MALFORMED_REQUEST")) << key;
    }
    EXPECT_EQ(post("/api/v1/quotes", std::string(255, 'k'), quote_body).status, 201);
    const HttpResponse twice = post("/api/v1/quotes", "a", quote_body, {{"Idempotency-Key", "a"}});
    EXPECT_EQ(twice.status, 400);
    EXPECT_EQ(twice.code(), "INVALID_IDEMPOTENCY_KEY");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 1);
}

TEST_P(OrdersRequests, AMalformedBodyOfAnyKindIsRefusedAndNeverAFailure) {
    const std::string deep = std::string(100'000, '[');
    const std::vector<std::string> bodies{"",
                                          "{",
                                          "}",
                                          "[]",
                                          "null",
                                          "true",
                                          "0",
                                          "\"text\"",
                                          "{\"customerId\":}",
                                          "{\"customerId\":\"c\",}",
                                          "{'customerId':'c'}",
                                          "{\"customerId\":\"c\"} {}",
                                          "{\"a\":1,\"a\":2}",
                                          "\xff\xfe",
                                          "{\"customerId\":\"\xff\"}",
                                          "{\"customerId\":\"\\ud800\"}",
                                          "{\"customerId\":\"\\u0000\",\"currency\":\"EUR\"}",
                                          deep,
                                          "{\"x\":" + deep,
                                          "{\"customerId\":1e999,\"currency\":\"EUR\"}",
                                          "{\"customerId\":NaN}",
                                          "{}",
                                          "{\"customerId\":null}",
                                          R"({"customerId":"c-1","currency":"eur"})",
                                          R"({"customerId":"c-1","currency":"EURO"})",
                                          R"({"customerId":"","currency":"EUR"})",
                                          R"({"customerId":["c-1"],"currency":"EUR"})",
                                          R"({"customerId":"c-1","currency":"EUR","colour":"red"})",
                                          "{\"customerId\":\"" + std::string(65, 'c') + "\"}",
                                          std::string("\0", 1),
                                          "{\"customerId\":\"c\n\"}"};
    int number = 0;
    for (const std::string& body : bodies) {
        const HttpResponse refused = post("/api/v1/quotes", "k" + std::to_string(++number), body);
        EXPECT_EQ(refused.status, 400) << body.substr(0, 80) << " -> " << refused.body;
        EXPECT_THAT(refused.code(), ::testing::AnyOf("MALFORMED_BODY", "VALIDATION_FAILED"));
        EXPECT_EQ(refused.header("Content-Type"), "application/problem+json");
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 0);
    // The keys are as good as new: a refusal of this kind can be put right.
    EXPECT_EQ(post("/api/v1/quotes", "k1", quote_body).status, 201);
}

TEST_P(OrdersRequests, AWrongFieldIsNamedAndSoIsWhatIsAllowed) {
    struct Case {
        const char* body;
        const char* field;
    };
    const Case cases[] = {{R"({"amount":"1","currency":"EUR"})", "reference"},
                          {R"({"reference":"r","amount":1,"currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"0.00","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"-1","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"1e3","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"1.23456","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"1.","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"1234567890123456","currency":"EUR"})", "amount"},
                          {R"({"reference":"r","amount":"1","currency":7})", "currency"},
                          {R"({"reference":"a b","amount":"1","currency":"EUR"})", "reference"},
                          {R"({"reference":"r","amount":"1","currency":"EUR","note":""})", "note"}};
    int number = 0;
    for (const auto& [body, field] : cases) {
        const HttpResponse refused = post("/api/v1/payments", "k" + std::to_string(++number), body);
        EXPECT_EQ(refused.status, 400) << body;
        EXPECT_EQ(refused.code(), "VALIDATION_FAILED") << body;
        EXPECT_EQ(refused.member("field"), field) << body << " -> " << refused.body;
        EXPECT_THAT(refused.member("detail"), HasSubstr("`" + std::string(field) + "` "));
    }
    const std::string items = "/api/v1/quotes/" + make_quote() + "/items";
    for (const char* quantity : {"0", "-1", "1000001", "1.5", "\"2\"", "null", "18446744073709551615", "1e400"}) {
        const std::string body = std::string(R"({"sku":"chair","unitPrice":"1","quantity":)") + quantity + "}";
        const HttpResponse refused =
            post(items, "q" + std::to_string(++number), body, {{"If-Match", "\"quote-version-1\""}});
        EXPECT_EQ(refused.status, 400) << quantity << " -> " << refused.body;
    }
    // 2.0 is 2, for the fingerprint and for us.
    const Fields seen{{"If-Match", "\"quote-version-1\""}};
    const HttpResponse whole = post(items, "whole", R"({"sku":"chair","unitPrice":"0","quantity":2.0})", seen);
    EXPECT_EQ(whole.status, 201) << whole.body;
    EXPECT_EQ(post(items, "whole", R"({"sku":"chair","unitPrice":"0","quantity":2})", seen).body, whole.body);
}

TEST_P(OrdersRequests, AnotherContentTypeOrAnOversizeBodyIsRefused) {
    HttpRequest form = posting("/api/v1/quotes", "form", "customerId=c-1&currency=EUR");
    form.headers.back().second = "application/x-www-form-urlencoded";
    const HttpResponse refused = send(form);
    EXPECT_EQ(refused.status, 415);
    EXPECT_EQ(refused.code(), "UNSUPPORTED_MEDIA_TYPE");
    // Refused by what it announces: the body itself need not come.
    const HttpResponse oversize = post("/api/v1/quotes", "large", "{", {{"Content-Length", "2097152"}});
    EXPECT_EQ(oversize.status, 413);
    EXPECT_EQ(oversize.code(), "PAYLOAD_TOO_LARGE");
}

TEST_P(OrdersRequests, AnUnknownPathOrMethodIsNamed) {
    EXPECT_EQ(get("/api/v1/nothing").status, 404);
    EXPECT_EQ(get("/").code(), "NOT_FOUND");
    const HttpResponse method = send({.method = "DELETE", .target = "/api/v1/quotes"});
    EXPECT_EQ(method.status, 405);
    EXPECT_EQ(method.code(), "METHOD_NOT_ALLOWED");
    EXPECT_THAT(method.header("Allow").value_or(""), HasSubstr("POST"));
    EXPECT_EQ(get("/api/v1/quotes/%2e%2e/x").status, 400);
}

TEST_P(OrdersRequests, MalformedIdsAreRefusedAndUnknownOnesNotFound) {
    const std::string unknown = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";
    const Fields seen{{"If-Match", "\"quote-version-1\""}};
    for (const std::string resource : {"quotes", "payments", "cases"}) {
        for (const std::string id : {"1", "x", "0190a6f2", "'%20OR%201=1", "0190a6f27c1d7e3a9f102b4c6d8e0f12"})
            EXPECT_EQ(get("/api/v1/" + resource + "/" + id).status, 400) << resource << "/" << id;
        EXPECT_EQ(get("/api/v1/" + resource + "/" + unknown).status, 404) << resource;
    }
    EXPECT_EQ(post("/api/v1/quotes/x/items", "a", item_body, seen).status, 400);
    EXPECT_EQ(post("/api/v1/quotes/" + unknown + "/items", "a", item_body, seen).status, 404);
    EXPECT_EQ(post("/api/v1/cases/x/enforcement-actions", "a", R"({"violationCode":"v"})").status, 400);
}

TEST_P(OrdersRequests, AVersionIsRequiredAndMeansWhatItSays) {
    const std::string items = "/api/v1/quotes/" + make_quote() + "/items";
    const HttpResponse missing = post(items, "a", item_body);
    EXPECT_EQ(missing.status, 428);
    EXPECT_EQ(missing.code(), "PRECONDITION_REQUIRED");
    EXPECT_EQ(post(items, "a", item_body, {{"If-Match", "*"}}).status, 428) << "any version is no version";
    for (const char* tag : {"quote-version-1", "\"quote-version-1\", \"quote-version-2\"", "\"", "1", ""})
        EXPECT_EQ(post(items, "a", item_body, {{"If-Match", tag}}).status, 400) << tag;
    const Fields twice{{"If-Match", "\"quote-version-1\""}, {"If-Match", "\"quote-version-1\""}};
    EXPECT_EQ(post(items, "a", item_body, twice).status, 400);
    for (const char* tag : {"\"quote-version-2\"", "\"quote-version-01\"", "\"quote-version-0\"", "\"other\"", "\"\"",
                            "W/\"quote-version-1\"", "\"quote-version-99999999999999999999\""}) {
        const HttpResponse failed = post(items, "a", item_body, {{"If-Match", tag}});
        EXPECT_EQ(failed.status, 412) << tag;
        EXPECT_EQ(failed.member("currentETag"), "\"quote-version-1\"") << tag;
    }
    EXPECT_EQ(post(items, "a", item_body, {{"If-Match", "\"quote-version-1\""}}).status, 201);
}

TEST_P(OrdersRequests, AReaderWhoHasTheVersionIsToldThatItIsUnchanged) {
    const std::string quote = "/api/v1/quotes/" + make_quote();
    const HttpResponse read = get(quote);
    ASSERT_EQ(read.status, 200);
    EXPECT_EQ(read.header("ETag"), "\"quote-version-1\"");
    for (const char* tag : {"\"quote-version-1\"", "W/\"quote-version-1\"", "\"a\", \"quote-version-1\"", "*"}) {
        const HttpResponse unchanged = get(quote, {{"If-None-Match", tag}});
        EXPECT_EQ(unchanged.status, 304) << tag;
        EXPECT_EQ(unchanged.body, "");
        EXPECT_EQ(unchanged.header("ETag"), "\"quote-version-1\"");
    }
    EXPECT_EQ(get(quote, {{"If-None-Match", "\"quote-version-2\""}}).status, 200);
    const HttpResponse added = post(quote + "/items", "a", item_body, {{"If-Match", "\"quote-version-1\""}});
    ASSERT_EQ(added.status, 201);
    EXPECT_EQ(get(*added.header("Location")).body, added.body);
    EXPECT_EQ(get(quote, {{"If-None-Match", "\"quote-version-1\""}}).member("total"), "30.00");
}

TEST_P(OrdersRequests, ACollectionIsWalkedPageByPageWithoutGapsOrRepeats) {
    std::set<std::string> made;
    for (int i = 0; i < 7; ++i) made.insert(make_quote("k" + std::to_string(i)));
    ASSERT_EQ(post("/api/v1/quotes", "k", quote_body, {{"X-Tenant-Id", "other"}}).status, 201);
    std::multiset<std::string> seen;
    std::string cursor;
    int pages = 0;
    do {
        const HttpResponse page = get("/api/v1/quotes?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor));
        ASSERT_EQ(page.status, 200) << page.body;
        const auto items = nlohmann::json::parse(page.member("items"));
        for (const auto& quote : items) seen.insert(quote["quoteId"].get<std::string>());
        cursor = page.member("nextCursor");
        ASSERT_LT(++pages, 10);
    } while (!cursor.empty());
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(std::set(seen.begin(), seen.end()), made);
    EXPECT_EQ(seen.size(), made.size());
    EXPECT_EQ(get("/api/v1/quotes?limit=7").member("nextCursor"), "") << "nothing comes behind the last";
}

TEST_P(OrdersRequests, MalformedParametersOfACollectionAreNamed) {
    ASSERT_NE(make_quote("a"), make_quote("b"));
    const std::string cursor = get("/api/v1/quotes?limit=1").member("nextCursor");
    ASSERT_NE(cursor, "");
    EXPECT_EQ(get("/api/v1/quotes?cursor=" + cursor).status, 200);
    EXPECT_EQ(get("/api/v1/payments?cursor=" + cursor).status, 400) << "a cursor of another collection";
    for (const std::string query :
         {"limit=0", "limit=101", "limit=-1", "limit=ten", "limit=", "limit=1.0", "limit=%2B1", "cursor=", "cursor=x",
          "cursor=zz", "state=draft", "limit=99999999999999999999"}) {
        const HttpResponse refused = get("/api/v1/quotes?" + query);
        EXPECT_EQ(refused.status, 400) << query;
        EXPECT_EQ(refused.member("field"), query.substr(0, query.find('='))) << refused.body;
    }
    EXPECT_EQ(get("/api/v1/quotes?cursor=" + cursor.substr(1)).status, 400);
    EXPECT_EQ(get("/api/v1/quotes?cursor=" + cursor + "00").status, 400);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersRequests, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
