// With a synchronous standby nothing leaves that its promotion would undo. The log shows a commit that still waits for the
// standby, before anyone else can see it.

#include "semel/cdc/pgoutput.hpp"
#include "tests/cdc/fixture.hpp"

#include <atomic>
#include <cstdio>
#include <functional>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

class CdcStandby : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = PostgresCluster::start();
        ASSERT_TRUE(started) << started.error().describe();
        primary.emplace(*std::move(started));
        auto followed = primary->add_standby("sb1", true);
        ASSERT_TRUE(followed) << followed.error().describe();
        standby.emplace(*std::move(followed));
        shop.emplace(*primary);
        shop->switch_in();
    }
    [[nodiscard]] static RelayOptions options() {
        RelayOptions how = CdcShop::options();
        how.rules.lease = 30s;
        how.rules.publish_limit = 5s;
        how.database_limit = 1s;
        how.drain_limit = 1s;
        return how;
    }
    /// With the standby away, an event of this aggregate: its COMMIT waits, and nobody can see it; the log shows it all the
    /// same. How many events there were before it is what `meanwhile` is told. A relay that was just about to write
    /// something down when the standby went waits with it, and reads nothing: then it is tried with another event.
    void tell_what_nobody_sees(const CdcProcess& one, int aggregate, const std::function<bool()>& quiet,
                               const std::function<void(std::size_t)>& meanwhile) {
        for (int attempt = 0; attempt < 10; ++attempt) {
            ASSERT_TRUE(eventually(quiet));
            const auto before = static_cast<std::size_t>(shop->events());
            const std::uint64_t received = one.feed->report().received;
            ASSERT_TRUE(standby->pause());
            std::jthread writer([&] { std::ignore = shop->tell({aggregate}); });
            const bool read = eventually([&] { return one.feed->report().received > received; }, 3s);
            if (read) meanwhile(before);
            ASSERT_TRUE(standby->resume());
            writer.join();
            if (read) return;
            ASSERT_TRUE(eventually([&] { return one.feed->report().received > received; }));
        }
        FAIL() << "the relay never read the log while the standby was away";
    }
    std::optional<PostgresCluster> primary;
    std::optional<PostgresCluster> standby;
    std::optional<CdcShop> shop;
    ScriptedSink sink;
};

TEST_F(CdcStandby, DownNothingIsPublishedThatAPromotionWouldLose) {
    CdcProcess one = shop->process(sink, options());
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({n}));
    const auto all_left = [&] { return sink.first_taken().size() == static_cast<std::size_t>(shop->events()); };
    const auto meanwhile = [&](std::size_t before) {
        EXPECT_EQ(static_cast<std::size_t>(shop->events()), before) << "nobody can see it";
        std::this_thread::sleep_for(2s);
        EXPECT_EQ(sink.first_taken().size(), before) << "the standby does not have it";
    };
    tell_what_nobody_sees(one, 99, all_left, meanwhile);
    shop->expect_all(sink);
    one.relay->stop();
}

TEST_F(CdcStandby, PromotedHasEverythingThatWasPublishedAndGoesOnWithoutAGap) {
    {
        CdcProcess one = shop->process(sink, options());
        one.relay->start();
        ASSERT_TRUE(shop->streams());
        for (int n = 0; n < 30; ++n) ASSERT_TRUE(shop->tell({n % 7}));
        shop->expect_all(sink);
        // These have committed, and have not left.
        sink.play([](const Message&) { return ScriptedSink::Answer::away; });
        for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({n % 7}));
        ASSERT_TRUE(primary->kill9());
    }
    ASSERT_TRUE(standby->promote());
    sink.play({});
    DatabaseOptions how;
    how.breaker.attempts_min = 100'000;
    how.budget.floor_per_second = 100'000;
    const std::string url = standby->url(shop->name);
    const auto opened = open(url, how).value();
    auto feed = CdcFeed::create(*opened.database, {.link = {.connection = url}, .lease = 3s, .poll = 50ms}).value();
    CdcFeed& there = *feed;
    const auto relay = Relay::create(*opened.database, sink, std::move(feed), CdcShop::options()).value();
    relay->start();
    const auto count = [&] {
        return static_cast<std::size_t>(
            std::stoi(standby->scalar("SELECT count(*) FROM semel.outbox_event", shop->name).value()));
    };
    EXPECT_EQ(count(), 40U);
    EXPECT_TRUE(eventually([&] { return sink.first_taken().size() == count(); })) << sink.first_taken().size();
    CdcShop::expect_order(sink);
    EXPECT_EQ(there.report().slots_lost, 1U) << "a slot does not move with a promotion";
    std::printf("%zu sent more than once\n", CdcShop::repeats(sink));
    relay->stop();
    ASSERT_TRUE(primary->start_again());
}

TEST_F(CdcStandby, AnEventThatNobodyCanSeeYetIsNotLostWhenItIsSetAside) {
    // Its aggregate is blocked, so what comes through the log is set aside at once.
    sink.play([](const Message& message) {
        return message.aggregate.id == "1" ? ScriptedSink::Answer::refuse : ScriptedSink::Answer::take;
    });
    CdcProcess one = shop->process(sink, options());
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    ASSERT_TRUE(shop->tell({1}));
    const auto all_wait = [&] { return shop->pending() == std::to_string(shop->events()); };
    tell_what_nobody_sees(one, 1, all_wait, [](std::size_t) { std::this_thread::sleep_for(500ms); });
    sink.play({});
    EXPECT_GE(shop->events(), 2);
    shop->expect_all(sink);
    one.relay->stop();
}

TEST_F(CdcStandby, GoneBeforeARefusalIsWrittenDownHoldsTheRelayUpAndLosesNothing) {
    std::atomic<int> refused = 0;
    sink.play([&](const Message&) {
        // It passed the barrier and was refused once more, which has to be written down.
        if (++refused == 2) {
            EXPECT_TRUE(standby->pause());
        }
        return ScriptedSink::Answer::refuse;
    });
    CdcProcess one = shop->process(sink, options());
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    ASSERT_TRUE(shop->tell({1}));
    ASSERT_TRUE(eventually([&] { return refused == 2; }));
    const std::uint64_t received = one.feed->report().received;
    std::jthread writer([&] { std::ignore = shop->tell({1, 2}); });
    std::this_thread::sleep_for(2s);
    EXPECT_EQ(one.feed->report().received, received) << "it reads the log before it has written down what it knows";
    EXPECT_EQ(refused, 2) << "nor is anything sent";
    sink.play({});
    ASSERT_TRUE(standby->resume());
    writer.join();
    shop->expect_all(sink);
    EXPECT_EQ(sink.first_taken().size(), 3U);
    one.relay->stop();
}

}  // namespace
}  // namespace semel::cdc
