// What a command costs in waits for the server, and that a pooler in between changes nothing.

#include "semel/testing/pgbouncer.hpp"
#include "tests/protocol/shop_fixture.hpp"

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

/// A shop with one session, whose waits are counted.
class RoundTrips : public ShopTest {
protected:
    void open_counted(const std::string& address) {
        auto chosen = driver(address);
        ASSERT_TRUE(chosen) << chosen.error().describe();
        DatabaseOptions options = patient(1);
        options.catalogue = chosen->catalogue;
        counted.database =
            Database::create(
                [this, connect = chosen->connect](Deadline deadline) -> Result<std::unique_ptr<Session>> {
                    auto session = SEMEL_TRY(connect(deadline));
                    only_ = static_cast<postgres::PostgresSession*>(session.get());
                    ++opened_;
                    return session;
                },
                options)
                .value();
        counted.executor = Executor::create(*counted.database, {.cache_bytes = 0}).value();
        // Statements are prepared and limits settled once per session; that is not what is counted.
        for (const bool blind : {true, false}) ASSERT_TRUE(counted.pay(blind, blind ? "warm" : "up").committed());
    }

    template <class F>
    [[nodiscard]] std::uint64_t waits(F&& work) {
        const std::uint64_t before = only_->round_trips();
        const auto outcome = work();
        EXPECT_TRUE(outcome.committed()) << told(outcome);
        EXPECT_EQ(opened_, 1);
        return only_->round_trips() - before;
    }

    void expect_the_promised_counts() {
        EXPECT_EQ(waits([&] { return counted.pay(true, "blind"); }), 1U);
        EXPECT_EQ(waits([&] { return counted.pay(false, "reading"); }), 2U);
        for (const char* key : {"blind", "reading"})
            for (const bool blind : {true, false}) {
                Command again = command(key);
                again.attempt = 2;
                EXPECT_EQ(waits([&] { return counted.executor->execute(again, pays(blind, key)); }), 1U)
                    << "a repeat that says so only looks";
            }
        const auto refuses = [](Work&) -> Result<CommandDecision> { return Rejection{.reply = {.status = 409}}; };
        EXPECT_LE(waits([&] { return counted.executor->execute(command("no"), refuses); }), 2U);
    }

    Shop counted;

private:
    postgres::PostgresSession* only_ = nullptr;
    int opened_ = 0;
};

TEST_F(RoundTrips, AreOneForABlindCommandTwoForAReadingOneAndOneForAReplay) {
    open_counted(url());
    if (!HasFatalFailure()) expect_the_promised_counts();
}

TEST_F(RoundTrips, AreNoMoreThroughAPoolerInTransactionMode) {
    auto pooler = testing::PgBouncer::start(postgres());
    if (!pooler) GTEST_SKIP() << pooler.error().describe();
    open_counted(pooler->url(database()));
    if (!HasFatalFailure()) expect_the_promised_counts();
}

TEST_F(RoundTrips, DuplicatesThroughAPoolerHaveOneEffect) {
    auto pooler = testing::PgBouncer::start(postgres(), {.pool_size = 3});
    if (!pooler) GTEST_SKIP() << pooler.error().describe();
    auto pooled = open_shop(pooler->url(database()));
    ASSERT_TRUE(pooled) << pooled.error().describe();
    CommandOptions options;
    options.in_progress = InProgress::wait;
    options.in_progress_wait = 20s;
    constexpr int keys = 40;
    {
        std::vector<std::jthread> clients;
        for (int thread = 0; thread < 8; ++thread)
            clients.emplace_back([&, thread] {
                for (int n = 0; n < keys; ++n) {
                    const std::string key = std::to_string((n + thread * 5) % keys);
                    const auto outcome =
                        pooled->executor->execute(command(key), options, pays((n + thread) % 2 == 0, key));
                    ASSERT_TRUE(outcome.committed()) << told(outcome);
                    EXPECT_EQ(outcome.value().reply, reply_of(key));
                }
            });
    }
    EXPECT_EQ(books(), (Ledger{"40", "40", "40"}));
    EXPECT_EQ(ask("SELECT count(DISTINCT id) FROM payment"), "40");
}

}  // namespace
}  // namespace semel::protocol
