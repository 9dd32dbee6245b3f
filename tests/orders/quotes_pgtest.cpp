// Putting quotes together over real HTTP: items, prices, approvals by sum, revisions, expiry, and reading what is there.

#include "tests/orders/journey.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

class OrdersQuotes : public JourneyTest {
protected:
    [[nodiscard]] static std::string in(semel::Duration length) {
        return semel::timestamp_text(semel::system_clock().wall() +
                                     std::chrono::duration_cast<std::chrono::microseconds>(length));
    }

    [[nodiscard]] QuoteAt quote_until(const std::string& valid_until, const std::string& currency = "EUR") const {
        const HttpResponse made =
            post("/api/v1/quotes", "until-" + valid_until + currency,
                 json{{"customerId", "c-1"}, {"currency", currency}, {"validUntil", valid_until}}.dump());
        EXPECT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(made.member("validUntil"), valid_until);
        return {.id = made.member("quoteId")};
    }

    [[nodiscard]] std::vector<std::string> ids(const std::string& query) const {
        const json page = json::parse(get("/api/v1/quotes" + query).body);
        std::vector<std::string> all;
        for (const json& quote : page.at("items")) all.push_back(quote.at("quoteId").get<std::string>());
        return all;
    }

    void await_state(const QuoteAt& quote, const std::string& stored) {
        for (int i = 0; i < 1000; ++i) {
            if (count("SELECT count(*) FROM orders_quote WHERE id = $1 AND state = $2",
                      semel::Uuid::parse(quote.id).value(), stored) == 1)
                return;
            pause_for(20ms);
        }
        ADD_FAILURE() << quote.id << " was not " << stored;
    }
};

TEST_P(OrdersQuotes, ANewQuoteIsEmptyAndStandsAsLongAsTheHouseHasIt) {
    start();
    const HttpResponse made = post("/api/v1/quotes", "k", quote_body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.member("itemCount") + " " + made.member("net") + " " + made.member("tax") + " " +
                  made.member("gross") + " " + made.member("total"),
              "0 0.00 0.00 0.00 0.00");
    EXPECT_GT(made.member("validUntil"), in(29 * 24h));
    EXPECT_LT(made.member("validUntil"), in(31 * 24h));
    EXPECT_EQ(made.body, get("/api/v1/quotes/" + made.member("quoteId")).body);
    const HttpResponse past =
        post("/api/v1/quotes", "past", R"({"customerId":"c","currency":"EUR","validUntil":"2020-01-01T00:00:00Z"})");
    expect_refused(past, 422, "VALIDATION_FAILED");
    EXPECT_EQ(past.member("field"), "validUntil");
}

TEST_P(OrdersQuotes, AnItemIsPricedByTheListWithItsQuantityDiscountOrAsAgreed) {
    start();
    QuoteAt quote = journey.draft_with_items({});
    const auto add = [&](const std::string& body) {
        const HttpResponse item = journey.take(quote, "items", body);
        EXPECT_EQ(item.status, 201);
        EXPECT_EQ(item.header("Location"), quote.path("/items/" + item.member("itemId")));
        EXPECT_EQ(item.body, get(*item.header("Location")).body);
        return item.member("unitPrice") + " " + item.member("discount") + " " + item.member("taxRate") + ": " +
               item.member("net") + " + " + item.member("tax") + " = " + item.member("gross");
    };
    EXPECT_EQ(add(R"({"sku":"fiber-100","quantity":9})"), "29.90 0 0.20: 269.10 + 53.82 = 322.92");
    EXPECT_EQ(add(R"({"sku":"fiber-100","quantity":10,"instanceKey":"line-1"})"),
              "29.90 0.05 0.20: 284.05 + 56.81 = 340.86");
    EXPECT_EQ(add(R"({"sku":"handbook","quantity":50})"), "12.35 0.333 0.05: 411.87 + 20.59 = 432.46");
    // As agreed: no discount, but the product's own tax; and the standard one for what the catalogue does not know.
    EXPECT_EQ(add(R"({"sku":"handbook","quantity":50,"unitPrice":"10.1"})"), "10.1 0 0.05: 505.00 + 25.25 = 530.25");
    EXPECT_EQ(add(R"({"sku":"chair","quantity":2,"unitPrice":"12.50"})"), "12.50 0 0.20: 25.00 + 5.00 = 30.00");
    const HttpResponse read = get(quote.path());
    EXPECT_EQ(read.member("net") + " " + read.member("tax") + " " + read.member("gross"), "1495.02 161.47 1656.49");
    EXPECT_EQ(read.member("itemCount"), "5");
    EXPECT_THAT(read.body, HasSubstr(R"("instanceKey":"line-1")"));

    const HttpResponse taken =
        command(quote, "items", "taken", R"({"sku":"fiber-1000","quantity":1,"instanceKey":"line-1"})");
    expect_refused(taken, 422, "VALIDATION_FAILED");
    EXPECT_EQ(taken.member("field"), "instanceKey");

    const HttpResponse unlisted = command(quote, "items", "chair", R"({"sku":"chair","quantity":2})");
    expect_refused(unlisted, 422, "VALIDATION_FAILED");
    EXPECT_EQ(unlisted.member("field"), "sku");
    EXPECT_THAT(unlisted.member("detail"), HasSubstr("unitPrice"));
    // A catalogue may hold any price; what is too long for a sum is refused and not rounded.
    run("UPDATE orders_product_price SET list_price = '12345678901234567890123456789012345678' WHERE sku = 'handbook'");
    expect_refused(command(quote, "items", "beyond", R"({"sku":"handbook","quantity":1000000})"), 422,
                   "VALIDATION_FAILED");
    const QuoteAt yen = quote_until(in(24h), "JPY");
    expect_refused(command(yen, "items", "yen", Journey::cheap), 422, "VALIDATION_FAILED");
    EXPECT_EQ(command(yen, "items", "agreed", R"({"sku":"fiber-100","quantity":3,"unitPrice":"33.5"})").member("gross"),
              "121");
}

TEST_P(OrdersQuotes, ARunPricesAllItemsByTheCatalogueOfToday) {
    start();
    QuoteAt quote = journey.draft_with_items(
        {R"({"sku":"fiber-100","quantity":1})", R"({"sku":"static-ip","quantity":8,"unitPrice":"5.00"})"});
    EXPECT_EQ(get(quote.path()).member("gross"), "83.88");
    if (GetParam() == Target::sqlite) {
        run("UPDATE orders_product_price SET list_price = '31.50' WHERE sku = 'fiber-100' AND currency = 'EUR';"
            "UPDATE orders_product SET tax_rate = '0.10' WHERE sku = 'static-ip'");
    } else {
        run("UPDATE orders_product_price SET list_price = 31.50 WHERE sku = 'fiber-100' AND currency = 'EUR';"
            "UPDATE orders_product SET tax_rate = 0.10 WHERE sku = 'static-ip'");
    }
    EXPECT_EQ(get(quote.path()).member("gross"), "83.88");
    const HttpResponse repriced = journey.take(quote, "reprice", R"({"priceRunId":"nightly-1"})");
    // 31.50 + 6.30, and 8 × 5.00 + 10 %.
    EXPECT_EQ(repriced.member("gross"), "81.80");
    EXPECT_EQ(repriced.member("priceRunId"), "nightly-1");
    EXPECT_EQ(repriced.body, get(quote.path()).body);
    const json lines = json::parse(repriced.body).at("items");
    EXPECT_EQ(lines.size(), 2);
    for (const json& item : lines) EXPECT_EQ(item.at("priceRunId"), "nightly-1");
    EXPECT_EQ(count("SELECT count(*) FROM orders_price_run WHERE id = 'nightly-1' AND version = 4"), 1);
    // Whoever sends the run again under another key learns that it was done, whatever version it has seen.
    for (const int version : {3, 4}) {
        const HttpResponse again = command({quote.id, version}, "reprice", "again-" + std::to_string(version),
                                           R"({"priceRunId":"nightly-1"})");
        expect_refused(again, 409, "DUPLICATE_BUSINESS_COMMAND");
        EXPECT_EQ(again.member("existingId"), "nightly-1");
    }
    run("DELETE FROM orders_product_price WHERE sku = 'fiber-100'");
    expect_refused(command(quote, "reprice", "gone"), 422, "VALIDATION_FAILED");
    EXPECT_EQ(get(quote.path()).member("gross"), "81.80");
}

TEST_P(OrdersQuotes, AQuoteHasAHundredItemsAtMost) {
    start();
    QuoteAt quote = journey.draft_with_items(std::vector<std::string>(100, item_body));
    EXPECT_EQ(get(quote.path()).member("gross"), "3000.00");
    const HttpResponse full = command(quote, "items", "one-more", item_body);
    expect_refused(full, 409, "INVALID_STATE_TRANSITION");
    EXPECT_THAT(full.member("detail"), HasSubstr("100 items"));
    EXPECT_EQ(journey.take(quote, "reprice").member("gross"), "3000.00");
}

TEST_P(OrdersQuotes, TheSumDecidesWhoMustApprove) {
    start();
    QuoteAt cheap = journey.draft_with_items();
    EXPECT_EQ(journey.take(cheap, "submit").member("state"), "APPROVED");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval"), 0);
    EXPECT_EQ(get(cheap.path("/approvals")).body, R"({"items":[]})");

    QuoteAt dear = journey.draft_with_items({Journey::very_dear});
    EXPECT_EQ(journey.take(dear, "submit").member("approvalsNeeded"), "2");
    const HttpResponse first = journey.take(dear, "approve", "{}", {{"X-Caller-Id", "ann"}});
    EXPECT_EQ(first.member("state") + first.member("approvalsGranted"), "SUBMITTED1");
    expect_refused(command(dear, "approve", "ann-again", "{}", {{"X-Caller-Id", "ann"}}), 409,
                   "DUPLICATE_BUSINESS_COMMAND");
    expect_refused(command(dear, "reject", "ann-no", R"({"reason":"no"})", {{"X-Caller-Id", "ann"}}), 409,
                   "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(journey.take(dear, "approve", "{}", {{"X-Caller-Id", "bob"}}).member("state"), "APPROVED");
    EXPECT_EQ(events("quote.approval_granted"), 1);
    EXPECT_EQ(events("quote.approved"), 2);

    const HttpResponse empty = command(journey.draft_with_items({}), "submit", "empty");
    expect_refused(empty, 409, "INVALID_STATE_TRANSITION");
    EXPECT_THAT(empty.member("detail"), HasSubstr("at least one item"));
}

TEST_P(OrdersQuotes, ARejectedQuoteIsRevisedAndItsApproversMayDecideAgain) {
    start();
    QuoteAt quote = journey.submitted({Journey::very_dear});
    expect_refused(command(quote, "reject", "why"), 400, "VALIDATION_FAILED");
    EXPECT_EQ(journey.take(quote, "reject", R"({"reason":"too dear"})", {{"X-Caller-Id", "ann"}}).member("state"),
              "REJECTED");
    const std::string until = in(48h);
    const HttpResponse revised = journey.take(quote, "revise", json{{"validUntil", until}}.dump());
    EXPECT_EQ(revised.member("state") + revised.member("revision") + revised.member("itemCount"), "DRAFT21");
    EXPECT_EQ(revised.member("validUntil"), until);
    EXPECT_EQ(revised.member("gross"), "78645.00");
    journey.take(quote, "submit");
    journey.take(quote, "approve", "{}", {{"X-Caller-Id", "ann"}});
    // Revised while approvers are asked: what pends is withdrawn.
    EXPECT_EQ(journey.take(quote, "revise").member("revision"), "3");
    const json approvals = json::parse(get(quote.path("/approvals")).body).at("items");
    ASSERT_EQ(approvals.size(), 2);
    EXPECT_EQ(approvals[0].at("state"), "REJECTED");
    EXPECT_EQ(approvals[0].at("decisions")[0].at("reason"), "too dear");
    EXPECT_EQ(approvals[1].at("state"), "WITHDRAWN");
    EXPECT_EQ(approvals[1].at("approvalsGranted"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval WHERE state = 'PENDING'"), 0);
    // Page by page it is the same.
    const json page = json::parse(get(quote.path("/approvals?limit=1")).body);
    EXPECT_EQ(page.at("items")[0], approvals[0]);
    const json next =
        json::parse(get(quote.path("/approvals?limit=1&cursor=" + page.at("nextCursor").get<std::string>())).body);
    EXPECT_EQ(next.at("items")[0], approvals[1]);
    expect_refused(get("/api/v1/quotes/0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12/approvals"), 404, "NOT_FOUND");
}

TEST_P(OrdersQuotes, AQuoteWhoseTimeHasPassedCountsAsExpiredBeforeThatIsNoted) {
    start({.config = "[quotes]\nexpiry_pass = \"1h\"\n"});
    QuoteAt quote = quote_until(in(1500ms));
    journey.take(quote, "items", Journey::dear);
    journey.take(quote, "submit");
    const Fields seen{{"If-None-Match", "\"quote-version-3\""}};
    EXPECT_EQ(get(quote.path(), seen).status, 304);
    pause_for(1600ms);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote WHERE state = 'SUBMITTED'"), 1);
    // What is shown and what is decided agree, although nothing was written.
    EXPECT_EQ(get(quote.path(), seen).member("state"), "EXPIRED");
    EXPECT_EQ(ids("?state=EXPIRED"), std::vector{quote.id});
    EXPECT_TRUE(ids("?state=SUBMITTED").empty());
    for (const std::string step : {"approve", "accept", "submit", "reprice"}) {
        const HttpResponse late = command(quote, step, "late-" + step);
        expect_refused(late, 409, "INVALID_STATE_TRANSITION");
        EXPECT_EQ(late.member("currentState"), "EXPIRED");
    }
    const HttpResponse past = command(quote, "revise", "past", R"({"validUntil":"2020-01-01T00:00:00Z"})");
    expect_refused(past, 422, "VALIDATION_FAILED");
    EXPECT_EQ(journey.take(quote, "revise").member("state"), "DRAFT");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval WHERE state = 'WITHDRAWN'"), 1);
}

TEST_P(OrdersQuotes, ARevisionOfWhatNobodyHasNotedAsExpiredNotesThatFirst) {
    start({.config = "[quotes]\nexpiry_pass = \"1h\"\n"});
    QuoteAt quote = journey.submitted();
    run("UPDATE orders_quote SET valid_until = '2020-01-01T00:00:00.000000Z'");
    const HttpResponse revised = command(quote, "revise", "revise", "{}");
    ASSERT_EQ(revised.status, 200) << revised.body;
    EXPECT_EQ(revised.header("ETag"), "\"quote-version-" + std::to_string(quote.version + 2) + "\"");
    EXPECT_EQ(events("quote.expired"), 1);
    EXPECT_EQ(events("quote.revised"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE from_state = 'SUBMITTED' AND to_state = 'EXPIRED'"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE from_state = 'EXPIRED' AND to_state = 'DRAFT'"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval WHERE state = 'PENDING'"), 0);
}

TEST_P(OrdersQuotes, ExpiryIsNotedOnceHoweverManyInstancesLookForIt) {
    const std::string config = "[quotes]\nexpiry_pass = \"1s\"\n";
    start({.config = config});
    auto second = Service::start({.database = address, .config = config});
    ASSERT_TRUE(second) << second.error().describe();
    QuoteAt submitted = quote_until(in(1500ms));
    journey.take(submitted, "items", Journey::dear);
    journey.take(submitted, "submit");
    const QuoteAt draft = quote_until(in(1600ms));
    const QuoteAt stays = journey.draft_with_items();
    await_state(submitted, "EXPIRED");
    await_state(draft, "EXPIRED");
    // Another pass finds nothing.
    pause_for(1200ms);
    EXPECT_EQ(events("quote.expired"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE operation = 'quote.expire' AND caller = 'semel-orders'"
                    " AND from_state = 'SUBMITTED' AND to_state = 'EXPIRED' AND version = 4"),
              1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval WHERE state = 'WITHDRAWN'"), 1);
    EXPECT_EQ(get(submitted.path()).header("ETag"), "\"quote-version-4\"");
    EXPECT_EQ(get(stays.path()).member("state"), "DRAFT");
    submitted.version += 1;
    EXPECT_EQ(journey.take(submitted, "revise").member("revision"), "2");
    const auto ended = second->stop();
    EXPECT_TRUE(ended) << ended.error().describe();
}

TEST_P(OrdersQuotes, ACollectionIsFilteredAndWalkedThrough) {
    start();
    const std::string draft = journey.draft_with_items().id;
    const std::string submitted = journey.submitted().id;
    const std::string approved = journey.approved().id;
    const HttpResponse other = post("/api/v1/quotes", "other", R"({"customerId":"c-2","currency":"USD"})");
    EXPECT_EQ(ids("?state=DRAFT"), (std::vector{draft, other.member("quoteId")}));
    EXPECT_EQ(ids("?state=SUBMITTED"), std::vector{submitted});
    EXPECT_EQ(ids("?state=APPROVED&customerId=c-1"), std::vector{approved});
    EXPECT_EQ(ids("?customerId=c-2"), std::vector{other.member("quoteId")});
    EXPECT_TRUE(ids("?customerId=c-2&state=APPROVED").empty());
    EXPECT_THAT(get("/api/v1/quotes?state=SUBMITTED").body, HasSubstr(R"("approvalsNeeded":1)"));
    const json page = json::parse(get("/api/v1/quotes?customerId=c-1&limit=2").body);
    EXPECT_EQ(page.at("items").size(), 2);
    EXPECT_EQ(ids("?customerId=c-1&limit=2&cursor=" + page.at("nextCursor").get<std::string>()), std::vector{approved});
    for (const std::string query : {"?state=draft", "?state=", "?customerId=", "?customerId=a%20b",
                                    "?state=DRAFT&state=DRAFT", "?limit=0", "?cursor=1", "?status=DRAFT"})
        expect_refused(get("/api/v1/quotes" + query), 400, "VALIDATION_FAILED");
}

TEST_P(OrdersQuotes, WhatIsMalformedIsRefusedByName) {
    start();
    const QuoteAt draft = journey.draft_with_items();
    const QuoteAt submitted = journey.submitted();
    struct Case {
        QuoteAt quote;
        std::string step;
        std::string body;
        std::string field;
    };
    const std::vector<Case> cases{
        {draft, "items", R"({"sku":"a b","quantity":1})", "sku"},
        {draft, "items", R"({"sku":"fiber-100","quantity":0})", "quantity"},
        {draft, "items", R"({"sku":"fiber-100","quantity":1000001})", "quantity"},
        {draft, "items", R"({"sku":"fiber-100","quantity":1,"unitPrice":1})", "unitPrice"},
        {draft, "items", R"({"sku":"fiber-100","quantity":1,"unitPrice":"-1"})", "unitPrice"},
        {draft, "items", R"({"sku":"fiber-100","quantity":1,"instanceKey":""})", "instanceKey"},
        {draft, "reprice", R"({"priceRunId":7})", "priceRunId"},
        {draft, "submit", R"({"force":true})", "force"},
        {submitted, "approve", R"({"reason":""})", "reason"},
        {submitted, "reject", R"({"reason":"a\nb"})", "reason"},
        {submitted, "reject", R"({})", "reason"},
        {submitted, "revise", R"({"validUntil":"tomorrow"})", "validUntil"},
        {submitted, "accept", R"({"by":"me"})", "by"}};
    const std::int64_t before = events();
    int key = 0;
    for (const auto& [quote, step, body, field] : cases) {
        const HttpResponse answer = command(quote, step, "bad-" + std::to_string(++key), body);
        expect_refused(answer, 400, "VALIDATION_FAILED");
        EXPECT_EQ(answer.member("field"), field) << step << " " << body;
    }
    expect_refused(post("/api/v1/quotes/17/submit", "id", "{}", draft.seen()), 400, "VALIDATION_FAILED");
    expect_refused(command(draft, "submit", "array", "[]"), 400, "MALFORMED_BODY");
    EXPECT_EQ(events(), before);
}

TEST_P(OrdersQuotes, TheCatalogueShowsWhatIsSold) {
    start();
    const json products = json::parse(get("/api/v1/products").body).at("items");
    ASSERT_EQ(products.size(), 7);
    EXPECT_EQ(products[0].at("sku"), "fiber-100");
    EXPECT_EQ(products[0], json::parse(R"({"sku":"fiber-100","name":"Fibre access, 100 Mbit/s","taxRate":"0.20",
        "prices":[{"currency":"EUR","listPrice":"29.90"},{"currency":"USD","listPrice":"32.50"}],
        "discounts":[{"quantityFrom":10,"rate":"0.05"},{"quantityFrom":100,"rate":"0.12"}]})"));
    EXPECT_TRUE(products[1].at("discounts").is_array());
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersQuotes, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
