// The life of a quote over real HTTP: each command once, again, too late, in the wrong state, and by many at once.

#include "tests/orders/journey.hpp"

#include <array>
#include <atomic>
#include <map>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class OrdersQuoteLife : public JourneyTest {
protected:
    /// How often each answer came when `clients` send the command at once, each under a key of its own.
    [[nodiscard]] std::map<std::string, int> raced(const QuoteAt& quote, const std::string& step,
                                                   const std::string& body = "{}") const {
        constexpr int clients = 32;
        const std::string key = step + "-" + quote.id + "-" + std::to_string(quote.version) + "-";
        std::mutex mutex;
        std::map<std::string, int> answers;
        std::vector<std::jthread> threads;
        for (int i = 0; i < clients; ++i)
            threads.emplace_back([&, i] {
                const HttpResponse answer = command(quote, step, key + std::to_string(i), body);
                const std::lock_guard guard(mutex);
                ++answers[std::to_string(answer.status) + " " + answer.code()];
            });
        threads.clear();
        return answers;
    }

    [[nodiscard]] std::int64_t audited(const std::string& operation) {
        return count("SELECT count(*) FROM orders_audit WHERE operation = $1", operation);
    }
};

using Answers = std::map<std::string, int>;

TEST_P(OrdersQuoteLife, AQuoteGoesFromDraftToAcceptedAndTellsOfEachStep) {
    start();
    QuoteAt quote = journey.draft_with_items({Journey::cheap, Journey::dear});
    const HttpResponse draft = get(quote.path());
    EXPECT_EQ(draft.member("state") + draft.member("itemCount"), "DRAFT2");
    EXPECT_EQ(draft.member("net"), "1527.90");
    EXPECT_EQ(draft.member("tax"), "305.58");
    EXPECT_EQ(draft.member("gross"), "1833.48");
    EXPECT_EQ(draft.member("total"), "1833.48");
    EXPECT_THAT(draft.body, Not(HasSubstr("approvalsNeeded")));

    const HttpResponse submitted = journey.take(quote, "submit");
    EXPECT_EQ(submitted.member("state"), "SUBMITTED");
    EXPECT_EQ(submitted.member("approvalsNeeded") + submitted.member("approvalsGranted"), "10");
    EXPECT_EQ(submitted.header("ETag"), "\"quote-version-4\"");
    EXPECT_EQ(get(quote.path()).body, submitted.body);
    const HttpResponse approved =
        journey.take(quote, "approve", R"({"reason":"fine"})", {{"X-Caller-Id", "approver-1"}});
    EXPECT_EQ(approved.member("state"), "APPROVED");
    const HttpResponse accepted = journey.take(quote, "accept");
    EXPECT_EQ(accepted.member("state"), "ACCEPTED");
    EXPECT_EQ(get(quote.path()).body, accepted.body);

    for (const char* type : {"quote.created", "quote.submitted", "quote.approved", "quote.accepted"})
        EXPECT_EQ(events(type), 1) << type;
    EXPECT_EQ(events("quote.item_added"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit"), events());
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE from_state = 'SUBMITTED' AND to_state = 'APPROVED'"
                    " AND version = 5 AND caller = 'approver-1' AND reason = 'fine'"),
              1);
    const HttpResponse approvals = get(quote.path("/approvals"));
    EXPECT_THAT(approvals.body, HasSubstr(R"("state":"GRANTED")"));
    EXPECT_THAT(approvals.body, HasSubstr(R"("approver":"approver-1","decision":"APPROVE")"));
}

TEST_P(OrdersQuoteLife, ARepeatOfAnyCommandIsReplayedAndDoesNothing) {
    start();
    QuoteAt quote = journey.draft_with_items();
    const auto twice = [&](const std::string& step, const std::string& body, const std::string& caller) {
        const Fields who{{"X-Caller-Id", caller}};
        const HttpResponse first = command(quote, step, "repeat-" + step, body, who);
        EXPECT_EQ(first.status / 100, 2) << step << first.body;
        const HttpResponse again = command(quote, step, "repeat-" + step, body, who);
        EXPECT_EQ(again.body, first.body) << step;
        EXPECT_EQ(again.status, first.status) << step;
        EXPECT_EQ(again.header("ETag"), first.header("ETag")) << step;
        EXPECT_EQ(again.header("Idempotency-Replayed"), "true") << step;
        // Another body under the same key is another intent.
        EXPECT_EQ(command(quote, step, "repeat-" + step, R"({"other":"body"})", who).code(),
                  "IDEMPOTENCY_KEY_CONFLICT");
        quote.version += 1;
    };
    twice("items", Journey::dear, "seller");
    twice("reprice", "{}", "seller");
    twice("submit", "{}", "seller");
    twice("reject", R"({"reason":"too dear"})", "approver");
    twice("revise", "{}", "seller");
    twice("submit", "{}", "seller-2");
    twice("approve", "{}", "approver");
    twice("accept", "{}", "customer");
    EXPECT_EQ(count("SELECT version FROM orders_quote"), quote.version);
    EXPECT_EQ(count("SELECT revision FROM orders_quote"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit"), quote.version);
    EXPECT_EQ(events(), quote.version);
}

TEST_P(OrdersQuoteLife, EveryCommandNamesTheStateThatDoesNotAllowIt) {
    start();
    const QuoteAt draft = journey.draft_with_items();
    const QuoteAt submitted = journey.submitted();
    const QuoteAt approved = journey.approved();
    const QuoteAt accepted = journey.accepted();
    const std::int64_t before = events();
    const auto refused = [&](const QuoteAt& quote, const std::string& step, const std::string& state,
                             const std::string& body = "{}") {
        const HttpResponse answer = command(quote, step, step + "-" + state, body);
        expect_refused(answer, 409, "INVALID_STATE_TRANSITION");
        EXPECT_EQ(answer.member("currentState"), state) << step;
        EXPECT_EQ(answer.member("currentVersion"), std::to_string(quote.version));
        EXPECT_EQ(answer.header("ETag"), "\"quote-version-" + std::to_string(quote.version) + "\"");
        // The state goes before the version.
        QuoteAt outdated = quote;
        outdated.version -= 1;
        EXPECT_EQ(command(outdated, step, step + "-old-" + state, body).code(), "INVALID_STATE_TRANSITION");
    };
    for (const char* step : {"approve", "accept", "revise"}) refused(draft, step, "DRAFT");
    refused(draft, "reject", "DRAFT", R"({"reason":"no"})");
    for (const char* step : {"submit", "reprice", "accept"}) refused(submitted, step, "SUBMITTED");
    refused(submitted, "items", "SUBMITTED", Journey::cheap);
    for (const char* step : {"submit", "reprice", "approve"}) refused(approved, step, "APPROVED");
    refused(approved, "reject", "APPROVED", R"({"reason":"no"})");
    for (const char* step : {"submit", "reprice", "approve", "revise"}) refused(accepted, step, "ACCEPTED");
    EXPECT_EQ(events(), before);
}

TEST_P(OrdersQuoteLife, EveryCommandNeedsTheVersionThatIsThere) {
    start();
    struct Step {
        QuoteAt quote;
        std::string name;
        std::string body = "{}";
    };
    const std::vector<Step> steps{{journey.draft_with_items(), "items", Journey::cheap},
                                  {journey.draft_with_items(), "reprice"},
                                  {journey.draft_with_items(), "submit"},
                                  {journey.submitted(), "approve"},
                                  {journey.submitted(), "reject", R"({"reason":"no"})"},
                                  {journey.approved(), "accept"},
                                  {journey.submitted(), "revise"}};
    const std::int64_t before = events();
    for (const auto& [quote, name, body] : steps) {
        QuoteAt outdated = quote;
        outdated.version -= 1;
        const HttpResponse stale = command(outdated, name, name + "-stale", body);
        expect_refused(stale, 412, "PRECONDITION_FAILED");
        EXPECT_EQ(stale.member("currentETag"), "\"quote-version-" + std::to_string(quote.version) + "\"");
        expect_refused(post(quote.path("/" + name), name + "-none", body), 428, "PRECONDITION_REQUIRED");
        expect_refused(post(quote.path("/" + name), name + "-any", body, {{"If-Match", "*"}}), 428,
                       "PRECONDITION_REQUIRED");
        const QuoteAt nobodys{.id = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12"};
        expect_refused(command(nobodys, name, name + "-nobody", body), 404, "NOT_FOUND");
        expect_refused(command(quote, name, name + "-tenant", body, {{"X-Tenant-Id", "other"}}), 404, "NOT_FOUND");
    }
    EXPECT_EQ(events(), before);
}

TEST_P(OrdersQuoteLife, OfManyWhoSubmitOneQuoteOneAsksForApproval) {
    start();
    const QuoteAt quote = journey.draft_with_items({Journey::dear});
    EXPECT_EQ(raced(quote, "submit"), (Answers{{"200 ", 1}, {"409 INVALID_STATE_TRANSITION", 31}}));
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval WHERE state = 'PENDING'"), 1);
    EXPECT_EQ(events("quote.submitted") + audited("quote.submit"), 2);
}

TEST_P(OrdersQuoteLife, AnApproverDecidesOncePerRevisionHoweverManyTimesAtOnce) {
    start();
    const QuoteAt one_needed = journey.submitted();
    EXPECT_EQ(raced(one_needed, "approve"), (Answers{{"200 ", 1}, {"409 DUPLICATE_BUSINESS_COMMAND", 31}}));
    EXPECT_EQ(get(one_needed.path()).member("state"), "APPROVED");
    const QuoteAt two_needed = journey.submitted({Journey::very_dear});
    EXPECT_EQ(raced(two_needed, "approve"), (Answers{{"200 ", 1}, {"409 DUPLICATE_BUSINESS_COMMAND", 31}}));
    EXPECT_EQ(get(two_needed.path()).member("state"), "SUBMITTED");
    EXPECT_EQ(get(two_needed.path()).member("approvalsGranted"), "1");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_decision"), 2);
    EXPECT_EQ(events("quote.approval_granted") + events("quote.approved"), 2);
}

TEST_P(OrdersQuoteLife, AQuoteIsAcceptedOnceHoweverManyTimesAtOnce) {
    start();
    const QuoteAt quote = journey.approved();
    EXPECT_EQ(raced(quote, "accept"), (Answers{{"200 ", 1}, {"409 DUPLICATE_BUSINESS_COMMAND", 31}}));
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_acceptance"), 1);
    EXPECT_EQ(events("quote.accepted"), 1);
    const HttpResponse again = command(quote, "accept", "again");
    EXPECT_EQ(again.member("existingId").substr(0, 4), "cmd_") << again.body;
}

TEST_P(OrdersQuoteLife, OfManyWhoSawTheSameVersionOneAddsAnItemAndOneReprices) {
    start();
    QuoteAt quote = journey.draft_with_items();
    EXPECT_EQ(raced(quote, "items", Journey::cheap), (Answers{{"201 ", 1}, {"412 PRECONDITION_FAILED", 31}}));
    quote.version += 1;
    EXPECT_EQ(raced(quote, "reprice"), (Answers{{"200 ", 1}, {"412 PRECONDITION_FAILED", 31}}));
    quote.version += 1;
    EXPECT_EQ(raced(quote, "reprice", R"({"priceRunId":"nightly"})"),
              (Answers{{"200 ", 1}, {"409 DUPLICATE_BUSINESS_COMMAND", 31}}));
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), 2);
    EXPECT_EQ(count("SELECT count(*) FROM orders_price_run"), 2);
    EXPECT_EQ(get(quote.path()).member("gross"), "71.76");
}

/// A unique key of a quote: the row that takes it before the command can, and the command that then meets it.
struct UniqueKey {
    QuoteAt (*begin)(Journey&);
    const char* step;
    const char* body;
    const char* row;       ///< Inserts it, for the quote that was begun last.
    const char* existing;  ///< What the refusal names.
};

constexpr const char* decided_row =
    "INSERT INTO orders_quote_decision SELECT tenant, id, revision, 'anonymous', 'APPROVE', '', 'cmd_1', created_at"
    " FROM orders_quote ORDER BY id DESC LIMIT 1";

constexpr std::array unique_keys{
    UniqueKey{[](Journey& journey) { return journey.draft_with_items(); }, "items", Journey::cheap,
              "INSERT INTO orders_quote_item SELECT tenant, quote_id, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12', sku,"
              " quantity, instance_key, unit_price, agreed, discount, net, tax_rate, tax, gross, price_run_id,"
              " since_version + 1 FROM orders_quote_item ORDER BY quote_id DESC LIMIT 1",
              "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12"},
    UniqueKey{[](Journey& journey) { return journey.draft_with_items(); }, "reprice", R"({"priceRunId":"nightly"})",
              "INSERT INTO orders_price_run SELECT tenant, id, 'nightly', version, net, tax, gross, created_at"
              " FROM orders_quote ORDER BY id DESC LIMIT 1",
              "nightly"},
    UniqueKey{[](Journey& journey) { return journey.draft_with_items({Journey::dear}); }, "submit", "{}",
              "INSERT INTO orders_quote_approval SELECT tenant, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f13', id, revision,"
              " 'PENDING', 1, 0, created_at FROM orders_quote ORDER BY id DESC LIMIT 1",
              "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f13"},
    UniqueKey{[](Journey& journey) { return journey.submitted(); }, "approve", "{}", decided_row, "cmd_1"},
    UniqueKey{[](Journey& journey) { return journey.submitted(); }, "reject", R"({"reason":"no"})", decided_row,
              "cmd_1"},
    UniqueKey{[](Journey& journey) { return journey.approved(); }, "accept", "{}",
              "INSERT INTO orders_quote_acceptance SELECT tenant, id, revision, 'somebody', 'cmd_2', created_at"
              " FROM orders_quote ORDER BY id DESC LIMIT 1",
              "cmd_2"}};

class OrdersQuoteKeys : public JourneyTest {
protected:
    /// Until a session of this database waits for the transaction of another.
    void await_waiting_insert() {
        for (int i = 0; i < 1000; ++i) {
            if (count("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'") > 0) return;
            pause_for(10ms);
        }
        ADD_FAILURE() << "nobody waited";
    }

    void expect_duplicate(const UniqueKey& key, const QuoteAt& quote, const HttpResponse& answer) const {
        expect_refused(answer, 409, "DUPLICATE_BUSINESS_COMMAND");
        EXPECT_EQ(answer.member("existingId"), key.existing) << key.step;
        EXPECT_EQ(get(quote.path()).header("ETag"), quote.seen().front().second) << key.step;
    }
};

TEST_P(OrdersQuoteKeys, WhatWasDoneAlreadyIsNamedAndNothingIsDone) {
    start();
    for (const UniqueKey& key : unique_keys) {
        const QuoteAt quote = key.begin(journey);
        run(key.row);
        expect_duplicate(key, quote, command(quote, key.step, "late", key.body));
    }
}

TEST_P(OrdersQuoteKeys, AKeyThatIsTakenWhileTheCommandIsUnderWayIsAnsweredByItsProblem) {
    start();
    for (const UniqueKey& key : unique_keys) {
        const QuoteAt quote = key.begin(journey);
        // In PostgreSQL the command reads before the row is there, and its own insert waits for the row's transaction.
        // In SQLite there is no such moment: writers come one after the other.
        if (GetParam() == Target::sqlite) run(key.row);
        Blocker blocker(database(), GetParam(), key.row);
        HttpResponse answer;
        std::jthread client([&] { answer = command(quote, key.step, "late", key.body); });
        if (GetParam() == Target::postgres) await_waiting_insert();
        blocker.release();
        client.join();
        expect_duplicate(key, quote, answer);
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersQuoteLife, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });
INSTANTIATE_TEST_SUITE_P(Databases, OrdersQuoteKeys, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
