// What was committed leaves through the log, in the order of commits per aggregate; what was not never does.

#include "tests/cdc/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

class CdcOrder : public CdcTest {};

TEST_F(CdcOrder, TellsTheWholeEvent) {
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    const AppendStatements statements = AppendStatements::from(shop->database->catalogue()).value();
    Uuid id;
    const auto outcome = transact(*shop->database, [&](Transaction& tx) -> Status {
        Outbox outbox(statements, "shop", shop->database->clock(), shop->database->random());
        id = outbox.append({.aggregate = {.type = "order", .id = "o-1", .version = 7},
                            .type = "order.created",
                            .payload = R"({"total":"1.10"})",
                            .headers = R"({"traceparent":"t"})"});
        outbox.post_to(tx);
        return {};
    });
    ASSERT_TRUE(outcome.committed());
    ASSERT_TRUE(eventually([&] { return sink.taken().size() == 1; }));
    const Message told = sink.taken()[0];
    EXPECT_EQ(told.id, id);
    EXPECT_EQ(told.tenant, "shop");
    EXPECT_EQ(told.aggregate.type, "order");
    EXPECT_EQ(told.aggregate.id, "o-1");
    EXPECT_EQ(told.aggregate.version, 7);
    EXPECT_EQ(told.type, "order.created");
    EXPECT_EQ(told.payload, R"({"total":"1.10"})");
    EXPECT_EQ(told.headers, R"({"traceparent":"t"})");
    EXPECT_EQ(static_cast<std::uint32_t>(told.partition), place_of("shop", {.type = "order", .id = "o-1"}).partition);
    EXPECT_LT(std::chrono::abs(system_clock().wall() - told.created_at), 1min);
    EXPECT_EQ(shop->pending(), "0") << "nothing is written but the event";
    EXPECT_EQ(one.relay->report().partitions, 64U);
}

TEST_F(CdcOrder, KeepsUpWithWritersAndLosesNothing) {
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    constexpr int writers = 4;
    constexpr int commits = 100;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.emplace_back([&, writer] {
                for (int n = 0; n < commits; ++n) EXPECT_TRUE(shop->tell({n % 9, (n + writer) % 13}));
            });
    }
    shop->expect_all(sink);
    one.relay->stop();
    EXPECT_EQ(CdcShop::repeats(sink), 0U) << "and each once";
    EXPECT_EQ(one.feed->report().received, 2U * writers * commits);
    EXPECT_EQ(shop->ask("SELECT count(*) FROM semel.outbox_partition WHERE owner IS NOT NULL"), "0");
}

TEST_F(CdcOrder, PlainSqlIsStreamedToo) {
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    std::ignore = shop->ask("SELECT semel.append('shop', 'order', 'o-1', NULL, 'order.created', '{}')");
    shop->expect_all(sink);
    EXPECT_EQ(sink.taken().size(), 1U);
    EXPECT_EQ(shop->pending(), "0");
}

TEST_F(CdcOrder, TwentyThousandAggregatesInOneTransactionLeaveInBoundedMemory) {
    shop->switch_in();
    ScriptedSink sink;
    RelayOptions how = CdcShop::options();
    how.rules.batch = 256;
    CdcProcess one = shop->process(sink, how);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    std::ignore = shop->ask(
        "SELECT count(semel.append('shop', 'order', n::text, NULL, 'told', "
        "'\"' || repeat('x', 1000) || '\"')) FROM generate_series(1, 20000) n");
    EXPECT_TRUE(eventually([&] { return sink.taken().size() == 20'000; }, 60s)) << sink.taken().size();
    EXPECT_EQ(CdcShop::repeats(sink), 0U);
    EXPECT_EQ(shop->pending(), "0");
    EXPECT_LE(one.feed->report().buffered_max, 256U + partition_count) << "about one batch";
}

TEST_F(CdcOrder, IdleTheSlotMovesOn) {
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    ASSERT_TRUE(shop->streams());
    const auto confirmed = [&] {
        return std::stod(shop->ask(
            "SELECT confirmed_flush_lsn - '0/0' FROM pg_replication_slots WHERE database = current_database()"));
    };
    const double before = confirmed();
    // Others write what is none of our business.
    std::ignore = shop->ask("CREATE TABLE noise (n int)");
    std::ignore = shop->ask("INSERT INTO noise SELECT generate_series(1, 10000)");
    const double end = std::stod(shop->ask("SELECT pg_current_wal_lsn() - '0/0'"));
    EXPECT_TRUE(eventually([&] { return confirmed() >= end; })) << before << " to " << end;
    EXPECT_TRUE(eventually([&] {
        return shop->ask(
                   "SELECT low_water >= pg_snapshot_xmin(pg_current_snapshot()) OR low_water::text::bigint > "
                   "(SELECT max(xmin::text::bigint) FROM noise) FROM semel.outbox_feed") == "t";
    })) << "and so does the low-water";
}

}  // namespace
}  // namespace semel::cdc
