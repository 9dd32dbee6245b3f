// What `semel-orders --demo` leaves behind: the same demo, once, whatever happens while it is made.

#include "tests/orders/fixture.hpp"

namespace orders::testing {
namespace {

using ::testing::HasSubstr;

class OrdersDemo : public OrdersTest {
protected:
    [[nodiscard]] ServiceOptions demo(const std::string& failpoints = {}) const {
        ServiceOptions options{.database = address, .arguments = {"--demo"}};
        if (!failpoints.empty()) options.environment = {"SEMEL_FAILPOINTS=" + failpoints};
        return options;
    }
    [[nodiscard]] std::int64_t quotes_in(const std::string& state) {
        return count("SELECT count(*) FROM orders_quote WHERE tenant = 'public' AND state = $1", state);
    }
    void expect_the_demo_once() {
        for (const char* state : {"DRAFT", "SUBMITTED", "APPROVED", "ACCEPTED"})
            EXPECT_EQ(quotes_in(state), 1) << state;
        EXPECT_EQ(quotes_in("CONVERTED"), 3);
        EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 7);
        EXPECT_EQ(count("SELECT count(*) FROM orders_quote_item"), 9);
        for (const char* state : {"COMPLETED", "HELD", "IN_PROGRESS"})
            EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE state = $1", state), 1) << state;
        EXPECT_EQ(count("SELECT count(*) FROM orders_order"), 3);
        EXPECT_EQ(count("SELECT count(*) FROM orders_asset"), 1);
        // Every change was told and noted once.
        EXPECT_EQ(events(), events_of_demo);
        EXPECT_EQ(count("SELECT count(*) FROM orders_audit"), events_of_demo);
    }

    /// 7 quotes with 9 items; 6 submitted, 1 approved, 4 accepted, 3 converted to an order each; and of their tasks 4
    /// completed, 1 failed and 3 made ready, with 5 steps of an order, and an asset.
    static constexpr std::int64_t events_of_demo = 7 + 9 + 6 + 1 + 4 + 3 + 3 + 9 + 4 + 1 + 3 + 5 + 1;
};

TEST_P(OrdersDemo, AnEmptyStoreIsFilledAndTheNextStartAddsNothing) {
    start(demo());
    EXPECT_THAT(service->output(), HasSubstr("demo: made 7 quotes, 3 orders and 1 asset"));
    expect_the_demo_once();
    ASSERT_TRUE(service->stop());
    const auto again = service->start_again();
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_THAT(service->output(), HasSubstr("demo: it is there already"));
    expect_the_demo_once();
}

TEST_P(OrdersDemo, AStoreWithQuotesOfOthersIsLeftAlone) {
    start();
    EXPECT_EQ(post("/api/v1/quotes", "theirs", quote_body, {{"X-Tenant-Id", "somebody"}}).status, 201);
    ASSERT_TRUE(service->stop());
    start(demo());
    EXPECT_THAT(service->output(), HasSubstr("demo: the store has quotes of others"));
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote"), 1);
}

TEST_P(OrdersDemo, OneThatCannotBeFinishedIsNoReasonNotToServe) {
    ASSERT_FALSE(Service::start(demo("command.after_commit=kill@1"))) << "killed when the first quote was made";
    start();
    const std::string quotes = get("/api/v1/quotes").body;
    const std::string first = quotes.substr(quotes.find("\"quoteId\":\"") + 11, 36);
    EXPECT_EQ(
        post("/api/v1/quotes/" + first + "/items", "mine", item_body, {{"If-Match", "\"quote-version-1\""}}).status,
        201);
    ASSERT_TRUE(service->stop());
    start(demo());
    EXPECT_THAT(service->output(), HasSubstr("demo: it is not complete"));
    EXPECT_EQ(get("/api/v1/quotes").status, 200);
}

TEST_P(OrdersDemo, KilledAgainAndAgainItIsMadeToItsEndAndOnce) {
    int kills = 0;
    // Each is killed a little later, before a COMMIT: a new one's, or that of a repeat which has yet to learn that it is.
    for (; kills < 40; ++kills) {
        auto started = Service::start(demo("command.before_commit=kill@" + std::to_string(kills + 1)));
        if (!started) {
            ASSERT_THAT(started.error().message, HasSubstr("signal 9"));
            continue;
        }
        service.emplace(*std::move(started));
        break;
    }
    ASSERT_TRUE(service) << "it was killed " << kills << " times and never came to its end";
    EXPECT_GT(kills, 5);
    RecordProperty("kills", kills);
    expect_the_demo_once();
}

TEST_P(OrdersDemo, KilledAfterACommitThatNobodyHeardOfItGoesOn) {
    const auto killed = Service::start(demo("command.after_commit=kill@12"));
    ASSERT_FALSE(killed);
    EXPECT_THAT(killed.error().message, HasSubstr("signal 9"));
    start(demo());
    expect_the_demo_once();
}

TEST_P(OrdersDemo, ProcessesThatMakeItAtOnceMakeItOnce) {
    std::vector<std::optional<Service>> services(3);
    {
        std::vector<std::jthread> threads;
        for (auto& one : services)
            threads.emplace_back([&] {
                auto started = Service::start(demo());
                EXPECT_TRUE(started) << started.error().describe();
                if (started) one.emplace(*std::move(started));
            });
    }
    expect_the_demo_once();
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersDemo, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
