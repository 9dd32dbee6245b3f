// Events are polled, then streamed, then polled again, while others write: no gap, and the order is kept.

#include "tests/cdc/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

class CdcSwitch : public CdcTest {
protected:
    [[nodiscard]] std::string mode() const { return shop->ask("SELECT mode FROM semel.outbox_feed"); }
    [[nodiscard]] std::string slots() const {
        return shop->ask("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()");
    }
    void switch_out() const {
        const Status switched = switch_to_polling(*shop->database, in(10s));
        ASSERT_TRUE(switched) << switched.error().describe();
    }
};

TEST_F(CdcSwitch, ThereAndBackUnderLoadLeavesNoGapAndKeepsTheOrder) {
    ScriptedSink sink;
    LocalDoorbell bell;
    const auto polling_database = shop->open_again();
    const auto polling = Relay::create(*polling_database, sink, bell, CdcShop::options()).value();
    CdcProcess streaming = shop->process(sink);
    polling->start();
    streaming.relay->start();
    std::atomic<bool> enough = false;
    std::atomic<int> streamed_once = 0;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 3; ++writer)
            writers.emplace_back([&, writer] {
                TransactionOptions how;
                // One of them looks at the world as it was when it began.
                if (writer == 0) how.isolation = Isolation::repeatable_read;
                for (int n = 0; !enough; ++n) {
                    EXPECT_TRUE(shop->tell({n % 5, (n + writer) % 17}, "order", how));
                    std::this_thread::sleep_for(1ms);
                }
            });
        for (int round = 0; round < 3; ++round) {
            const std::size_t polled = sink.first_taken().size();
            EXPECT_TRUE(eventually([&] { return sink.first_taken().size() > polled + 50; })) << "polled";
            shop->switch_in();
            EXPECT_TRUE(shop->streams());
            const std::uint64_t received = streaming.feed->report().received;
            EXPECT_TRUE(eventually([&] { return streaming.feed->report().received > received + 50; })) << "streamed";
            ++streamed_once;
            switch_out();
            EXPECT_TRUE(eventually([&] { return mode() == "polling"; })) << "back";
            EXPECT_TRUE(eventually([&] { return slots() == "0"; }));
            if (HasFailure()) break;
        }
        enough = true;
    }
    shop->expect_all(sink);
    EXPECT_TRUE(eventually([&] { return shop->pending() == "0"; }));
    std::printf("%d events, %d times there and back, %zu sent more than once\n", shop->events(), streamed_once.load(),
                CdcShop::repeats(sink));
    polling->stop();
    streaming.relay->stop();
}

TEST_F(CdcSwitch, APendingEventLeavesBeforeWhatFollowsItThroughTheLog) {
    for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({1, n}));
    EXPECT_EQ(shop->pending(), "20");
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({1, n}));
    shop->expect_all(sink);
    EXPECT_EQ(CdcShop::repeats(sink), 0U);
    EXPECT_EQ(one.feed->report().received, 20U);
}

TEST_F(CdcSwitch, WhatWasAppendedTheOldWayBeforeTheFlipAndCommitsAfterItIsNotOvertaken) {
    shop->switch_in();
    const auto driver_of = driver(shop->url).value();
    auto open = driver_of.connect(in(10s)).value();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    // It appends while events are polled, and takes its time.
    const AppendStatements statements = AppendStatements::from(shop->database->catalogue()).value();
    Transaction held(*open, {}, in(30s));
    Outbox outbox(statements, "shop", shop->database->clock(), shop->database->random());
    // The slot waits for transactions with a number: this one gets its own only once the slot is there.
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    std::ignore = shop->ask("SELECT setval('semel.outbox_mode', 0)");
    outbox.append(CdcShop::event(1));
    outbox.post_to(held);
    ASSERT_TRUE(held.flush());
    ASSERT_TRUE(shop->streams()) << "the relay turns appends to the log again";
    ASSERT_TRUE(shop->tell({2}));
    ASSERT_TRUE(eventually([&] { return sink.taken().size() == 1; }));
    ASSERT_TRUE(std::move(held).commit().committed());
    ASSERT_TRUE(shop->tell({1}));
    shop->expect_all(sink);
    EXPECT_EQ(sink.taken().size(), 3U);
    EXPECT_EQ(shop->pending(), "0");
}

TEST_F(CdcSwitch, BackWaitsForTransactionsThatWentThroughTheLog) {
    shop->switch_in();
    ScriptedSink sink;
    LocalDoorbell bell;
    CdcProcess one = shop->process(sink);
    const auto polling_database = shop->open_again();
    const auto polling = Relay::create(*polling_database, sink, bell, CdcShop::options()).value();
    one.relay->start();
    polling->start();
    ASSERT_TRUE(shop->streams());
    const auto driver_of = driver(shop->url).value();
    auto open = driver_of.connect(in(10s)).value();
    const AppendStatements statements = AppendStatements::from(shop->database->catalogue()).value();
    Transaction held(*open, {}, in(30s));
    Outbox outbox(statements, "shop", shop->database->clock(), shop->database->random());
    outbox.append(CdcShop::event(1));
    outbox.post_to(held);
    ASSERT_TRUE(held.flush());
    switch_out();
    ASSERT_TRUE(eventually([&] { return shop->ask("SELECT last_value FROM semel.outbox_mode") == "0"; }));
    std::this_thread::sleep_for(3s);
    EXPECT_EQ(mode(), "leaving") << "its event is still to come through the log";
    ASSERT_TRUE(std::move(held).commit().committed());
    ASSERT_TRUE(shop->tell({1}));
    EXPECT_TRUE(eventually([&] { return mode() == "polling"; }));
    shop->expect_all(sink);
    EXPECT_EQ(sink.taken().size(), 2U);
    EXPECT_TRUE(eventually([&] { return slots() == "0"; }));
    one.relay->stop();
    polling->stop();
}

TEST_F(CdcSwitch, IsTakenBackWhereNobodyHasBegunToStream) {
    shop->switch_in();
    EXPECT_EQ(mode(), "cdc");
    switch_out();
    EXPECT_EQ(mode(), "polling");
    ScriptedSink sink;
    LocalDoorbell bell;
    const auto polling = Relay::create(*shop->database, sink, bell, CdcShop::options()).value();
    ASSERT_TRUE(shop->tell({1}));
    polling->run_until_idle();
    EXPECT_EQ(sink.taken().size(), 1U);
}

TEST_F(CdcSwitch, RefusesASlotOfAnotherDatabaseAndSaysSo) {
    // It stays with the database in which it is made.
    ASSERT_TRUE(server->sql("SELECT pg_create_logical_replication_slot('of_another', 'pgoutput')"));
    const Status refused = switch_to_cdc(*shop->database, shop->link(), "of_another", in(10s));
    EXPECT_TRUE(server->sql("SELECT pg_drop_replication_slot('of_another')"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
    EXPECT_NE(refused.error().describe().find("another database"), std::string::npos) << refused.error().describe();
    EXPECT_EQ(mode(), "polling") << "nothing has changed";
}

}  // namespace
}  // namespace semel::cdc
