// The slot is dropped, invalidated, of another server, or cannot be had: loud, and without a gap.

#include "semel/base/log.hpp"
#include "semel/outbox/retention.hpp"
#include "tests/cdc/fixture.hpp"

#include <atomic>
#include <mutex>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

/// What the library says, while it lives.
class Heard {
public:
    Heard() {
        set_log_sink([this](LogLevel level, std::string_view line) {
            const std::lock_guard guard(mutex_);
            lines_.push_back(std::string(name(level)) + ": " + std::string(line));
        });
    }
    ~Heard() { set_log_sink({}); }
    Heard(const Heard&) = delete;
    Heard& operator=(const Heard&) = delete;
    [[nodiscard]] bool says(std::string_view what) const {
        const std::lock_guard guard(mutex_);
        return std::ranges::any_of(lines_, [&](const std::string& line) { return line.find(what) != line.npos; });
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

class CdcSlot : public CdcTest {
protected:
    /// Ends whoever streams and takes the slot away, once: another may be there a moment later.
    void drop_slot() const {
        EXPECT_TRUE(eventually([&] {
            std::ignore = shop->ask(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND "
                "database = current_database()");
            return shop->ask(
                       "SELECT count(*) FROM (SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
                       "WHERE "
                       "database = current_database() AND NOT active OFFSET 0) AS dropped") == "1";
        }));
    }
};

TEST_F(CdcSlot, DroppedInMidStreamIsLoudAndLeavesNoGap) {
    const Heard heard;
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    std::atomic<bool> enough = false;
    std::jthread writer([&] {
        for (int n = 0; !enough; ++n) EXPECT_TRUE(shop->tell({n % 7, n % 11}));
    });
    for (std::uint64_t n = 1; n <= 2; ++n) {
        const std::size_t before = sink.first_taken().size();
        ASSERT_TRUE(eventually([&] { return sink.first_taken().size() > before + 50; }));
        drop_slot();
        ASSERT_TRUE(eventually([&] { return one.feed->report().slots_lost == n; }));
        ASSERT_TRUE(eventually([&] { return one.feed->report().streaming; }));
    }
    enough = true;
    writer.join();
    shop->expect_all(sink);
    EXPECT_TRUE(heard.says("error: relay: the slot " + shop->slot + " is lost"));
    EXPECT_EQ(shop->ask("SELECT slots_lost FROM semel.outbox_feed"), "2");
    EXPECT_GT(one.feed->report().backfilled, 0U);
    std::printf("%d events over 2 lost slots, %zu sent more than once\n", shop->events(), CdcShop::repeats(sink));
}

TEST_F(CdcSlot, WhatIsAppendedWhileThereIsNoSlotIsSentFromTheTable) {
    shop->switch_in();
    ScriptedSink sink;
    {
        CdcProcess one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
        ASSERT_TRUE(shop->tell({1, 2}));
        shop->expect_all(sink);
    }
    drop_slot();
    for (int n = 0; n < 20; ++n) ASSERT_TRUE(shop->tell({1, n}));
    EXPECT_EQ(shop->pending(), "0");
    CdcProcess other = shop->process(sink);
    other.relay->start();
    shop->expect_all(sink);
    EXPECT_EQ(other.feed->report().slots_lost, 1U);
    EXPECT_GE(other.feed->report().backfilled, 40U);
}

TEST_F(CdcSlot, OfAnotherServerIsNotBelievedAndEverythingThatIsKeptIsSent) {
    shop->switch_in();
    ScriptedSink sink;
    {
        CdcProcess one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
        for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({n}));
        shop->expect_all(sink);
    }
    // As after a restore from a dump: the numbers of transactions are another server's, and far ahead.
    std::ignore = shop->ask("UPDATE semel.outbox_feed SET history = '1/00000001', low_water = '99999999999'");
    std::ignore = shop->ask("UPDATE semel.outbox_event SET transaction_id = '99999999990'");
    ASSERT_TRUE(shop->tell({3}));
    CdcProcess other = shop->process(sink);
    other.relay->start();
    shop->expect_all(sink);
    EXPECT_EQ(other.feed->report().slots_lost, 1U);
    EXPECT_EQ(other.feed->report().backfilled, 11U) << "all that is kept";
    // And retention is not held up by numbers that no transaction here will reach.
    ASSERT_TRUE(eventually([&] { return shop->pending() == "0"; }));
    const auto retention = OutboxRetention::of(*shop->database).value();
    const auto pruned = retention.prune(Duration::zero(), Uuid(), 100,
                                        {.id = new_uuid(), .action = "prune", .actor = "test", .detail = ""}, in(10s));
    ASSERT_TRUE(pruned.committed()) << pruned.error().describe();
    EXPECT_EQ(pruned.value().deleted, 11);
}

TEST_F(CdcSlot, RetentionNeverPassesTheLowWater) {
    shop->switch_in();
    ScriptedSink sink;
    {
        CdcProcess one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
    }
    // Nobody streams: what is appended has not left, and no row says so.
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({n}));
    const auto retention = OutboxRetention::of(*shop->database).value();
    const auto prune = [&] {
        const auto pruned =
            retention.prune(Duration::zero(), Uuid(), 100,
                            {.id = new_uuid(), .action = "prune", .actor = "test", .detail = ""}, in(10s));
        EXPECT_TRUE(pruned.committed());
        return pruned.value().deleted;
    };
    EXPECT_EQ(prune(), 0);
    CdcProcess other = shop->process(sink);
    other.relay->start();
    shop->expect_all(sink);
    EXPECT_TRUE(eventually([&] { return prune() == 5; })) << "once a heartbeat has confirmed that they have left";
}

TEST_F(CdcSlot, APublicationThatDoesNotShowTheOutboxIsNamedWithItsRemedy) {
    const Heard heard;
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    ASSERT_TRUE(shop->tell({1}));
    shop->expect_all(sink);
    std::ignore = shop->ask("ALTER PUBLICATION semel_outbox DROP TABLE semel.outbox_event");
    EXPECT_TRUE(eventually([&] { return heard.says("the publication semel_outbox does not show the inserts"); }));
    EXPECT_TRUE(heard.says("switch the outbox to cdc once more"));
    // The log does not show these.
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({1, n}));
    shop->switch_in();
    shop->expect_all(sink);
    EXPECT_EQ(one.feed->report().slots_lost, 1U);
}

TEST_F(CdcSlot, ASlotThatWaitsForAnOpenTransactionIsWaitedFor) {
    shop->switch_in();
    const auto driver_of = driver(shop->url).value();
    auto open = driver_of.connect(in(10s)).value();
    Transaction held(*open, {}, in(30s));
    ASSERT_TRUE(held.execute("SELECT pg_current_xact_id()"));
    for (int n = 0; n < 3; ++n) ASSERT_TRUE(shop->tell({n}));
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    std::this_thread::sleep_for(2500ms);
    EXPECT_FALSE(one.feed->report().streaming);
    ASSERT_TRUE(std::move(held).rollback());
    shop->expect_all(sink);
    EXPECT_TRUE(one.feed->report().streaming);
}

/// A server of its own.
class CdcServer : public ::testing::Test {
protected:
    void start(std::vector<std::string> settings) {
        auto started = PostgresCluster::start({.settings = std::move(settings)});
        ASSERT_TRUE(started) << started.error().describe();
        server.emplace(*std::move(started));
        shop.emplace(*server);
    }
    std::optional<PostgresCluster> server;
    std::optional<CdcShop> shop;
};

TEST_F(CdcServer, WithoutALogicalLogRefusesAndSaysWhatToDo) {
    start({"wal_level=replica"});
    const Status switched = switch_to_cdc(*shop->database, shop->link(), shop->slot, in(10s));
    ASSERT_FALSE(switched);
    EXPECT_EQ(switched.error().fault, Fault::rejected);
    EXPECT_NE(switched.error().message.find("wal_level is not logical"), std::string::npos);
    EXPECT_NE(switched.error().cause.hint.find("set wal_level = logical"), std::string::npos);
    EXPECT_EQ(shop->ask("SELECT mode FROM semel.outbox_feed"), "polling") << "and nothing has changed";
    EXPECT_EQ(shop->ask("SELECT count(*) FROM pg_publication"), "0");
}

TEST_F(CdcServer, ASlotThatKeptTooMuchIsInvalidatedAndTheRestIsSentFromTheTable) {
    start({"max_slot_wal_keep_size=1MB", "min_wal_size=32MB", "max_wal_size=64MB"});
    shop->switch_in();
    ScriptedSink sink;
    {
        CdcProcess one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
        ASSERT_TRUE(shop->tell({1, 2}));
        shop->expect_all(sink);
    }
    for (int n = 0; n < 10; ++n) {
        ASSERT_TRUE(shop->tell({1, n}));
        std::ignore = shop->ask("SELECT pg_switch_wal()");
    }
    std::ignore = shop->ask("CHECKPOINT");
    ASSERT_EQ(shop->ask("SELECT wal_status FROM pg_replication_slots"), "lost");
    CdcProcess other = shop->process(sink);
    other.relay->start();
    shop->expect_all(sink);
    EXPECT_EQ(other.feed->report().slots_lost, 1U);
    other.relay->stop();
}

}  // namespace
}  // namespace semel::cdc
