#include "semel/postgres/listener.hpp"

#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/postgres/notifier.hpp"
#include "semel/testing/pgbouncer.hpp"

#include <atomic>

namespace semel::postgres {
namespace {

using testing::PgBouncer;

class ListenerTest : public SessionTest {
protected:
    [[nodiscard]] ConnectOptions options() const {
        ConnectOptions options;
        options.connection = url();
        return options;
    }
    [[nodiscard]] std::unique_ptr<Listener> listener() {
        return Listener::start(options(), [this] { ++heard; }).value();
    }
    [[nodiscard]] static bool within_moments(const std::function<bool()>& holds) {
        const Deadline limit = soon();
        while (!holds()) {
            if (limit.passed(system_clock().now())) return false;
            std::this_thread::yield();
        }
        return true;
    }
    std::atomic<int> heard = 0;
};

TEST_F(ListenerTest, HearsWhoeverNotifiesInAnotherProcess) {
    const auto listening = listener();
    ASSERT_TRUE(within_moments([&] { return listening->hears() && heard >= 1; })) << "it hears itself first";
    const int before = heard;
    sql(notify_statement);
    EXPECT_TRUE(within_moments([&] { return heard > before; }));
}

TEST_F(ListenerTest, HearsANotifierAndManyRingsAtOnceAreFew) {
    const auto listening = listener();
    const auto notifier = Notifier::create(options()).value();
    ASSERT_TRUE(within_moments([&] { return listening->hears() && heard >= 1; }));
    const int before = heard;
    for (int i = 0; i < 100'000; ++i) notifier->ring();
    EXPECT_TRUE(within_moments([&] { return heard > before; }));
    const int after_many = heard;
    EXPECT_LT(after_many - before, 10'000) << "rings on the way are one";
    notifier->ring();
    EXPECT_TRUE(within_moments([&] { return heard > after_many; })) << "the last ring is never swallowed";
}

TEST_F(ListenerTest, ComesBackWhenItsConnectionIsCutAndLooksForWhatItMissed) {
    const auto listening = listener();
    ASSERT_TRUE(within_moments([&] { return listening->hears() && heard >= 1; }));
    const int before = heard;
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    EXPECT_TRUE(within_moments([&] { return heard > before; })) << "whoever was away must look";
    EXPECT_TRUE(within_moments([&] { return listening->hears(); }));
}

TEST_F(ListenerTest, ANotifierDropsWhatItCannotSendAndSendsTheNext) {
    const auto notifier = Notifier::create(options()).value();
    const auto listening = listener();
    ASSERT_TRUE(within_moments([&] { return listening->hears() && heard >= 1; }));
    notifier->ring();
    ASSERT_TRUE(within_moments([&] { return heard >= 2; }));
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'NOTIFY%' AND pid <> "
        "pg_backend_pid()");
    const int before = heard;
    EXPECT_TRUE(within_moments([&] {
        notifier->ring();
        return heard > before;
    }));
}

TEST_F(ListenerTest, SaysThatAPoolerInTransactionModeDeliversNothing) {
    auto started = PgBouncer::start(postgres(), {.pool_size = 2});
    if (!started) GTEST_SKIP() << started.error().describe();
    ConnectOptions pooled;
    pooled.connection = started->url(database());
    const Status checked = check_listening(pooled, system_clock(), in(std::chrono::seconds(3)));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().fault, Fault::rejected) << checked.error().describe();
    EXPECT_THAT(checked.error().describe(), ::testing::HasSubstr("pooler"));
    EXPECT_TRUE(check_listening(options(), system_clock(), soon()));
}

TEST_F(ListenerTest, EndsAtOnceWhileTheServerIsAway) {
    ConnectOptions nowhere;
    nowhere.connection = "postgres://127.0.0.1:1/none";
    const auto listening = Listener::start(nowhere, [] {}).value();
    const auto notifier = Notifier::create(nowhere).value();
    notifier->ring();
    EXPECT_FALSE(listening->hears());
}

TEST_F(ListenerTest, RefusesAMalformedAddressAtOnce) {
    ConnectOptions malformed;
    malformed.connection = "postgres://host:notaport/x";
    EXPECT_FALSE(Listener::start(malformed, [] {}));
    EXPECT_FALSE(Notifier::create(malformed));
}

}  // namespace
}  // namespace semel::postgres
