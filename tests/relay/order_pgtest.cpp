// What was committed leaves, in the order of commits per aggregate; what was not never does.

#include "tests/relay/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::relaying {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

class RelayOrder : public RelayTest {};

TEST_P(RelayOrder, DrainsTheOutboxInOrder) {
    for (int n = 0; n < 40; ++n) append({n % 5, n % 7, n % 11});
    EXPECT_EQ(pending(), 120);
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->run_until_idle();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(sink.taken().size(), 120U) << "each once";
    expect_order(sink);
    EXPECT_EQ(one.relay->report().acknowledged, 120U);
    EXPECT_EQ(one.relay->report().partitions, 64U);
}

TEST_P(RelayOrder, TellsTheWholeEvent) {
    const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
    Uuid id;
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        Outbox outbox(statements, "shop", database->clock(), database->random());
        id = outbox.append({.aggregate = {.type = "order", .id = "o-1", .version = 7},
                            .type = "order.created",
                            .payload = R"({"total":"1.10"})",
                            .headers = R"({"traceparent":"t"})"});
        outbox.post_to(tx);
        return {};
    });
    ASSERT_TRUE(outcome.committed());
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->run_until_idle();
    const auto taken = sink.taken();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].id, id);
    EXPECT_EQ(taken[0].tenant, "shop");
    EXPECT_EQ(taken[0].aggregate.type, "order");
    EXPECT_EQ(taken[0].aggregate.id, "o-1");
    EXPECT_EQ(taken[0].aggregate.version, 7);
    EXPECT_EQ(taken[0].type, "order.created");
    EXPECT_EQ(taken[0].payload, R"({"total":"1.10"})");
    EXPECT_EQ(taken[0].headers, R"({"traceparent":"t"})");
    EXPECT_EQ(static_cast<std::uint32_t>(taken[0].partition),
              place_of("shop", {.type = "order", .id = "o-1"}).partition);
    const auto age = system_clock().wall() - taken[0].created_at;
    EXPECT_LT(std::chrono::abs(age), 1min);
}

TEST_P(RelayOrder, TellsNothingThatWasRolledBack) {
    const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        Outbox outbox(statements, "shop", database->clock(), database->random());
        outbox.append(event(1));
        outbox.post_to(tx);
        SEMEL_TRY(tx.flush());
        return fail(Fault::rejected, "no");
    });
    EXPECT_TRUE(outcome.not_committed());
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->run_until_idle();
    EXPECT_TRUE(sink.taken().empty());
    EXPECT_EQ(pending(), 0);
}

TEST_P(RelayOrder, KeepsUpWithWritersAndLosesNothing) {
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->start();
    constexpr int writers = 4;
    constexpr int commits = 60;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.emplace_back([&, writer] {
                for (int n = 0; n < commits; ++n) {
                    append({n % 9, (n + writer) % 13});
                    bell.ring();
                }
            });
    }
    EXPECT_TRUE(eventually([&] { return sink.first_taken().size() == 2U * writers * commits; }))
        << sink.first_taken().size();
    one.relay->stop();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(sink.taken().size(), 2U * writers * commits) << "and each once";
    expect_order(sink);
    EXPECT_EQ(held_partitions(), 0) << "it gave its leases back";
}

TEST_P(RelayOrder, IsWokenByTheBellLongBeforeItsNextLook) {
    ScriptedSink sink;
    RelayOptions how = options();
    how.rules.poll = 10min;
    how.rules.lease = 30min;
    Process one = process(sink, how);
    one.relay->start();
    ASSERT_TRUE(eventually([&] { return one.relay->report().partitions == 64; }));
    append({1});
    bell.ring();
    EXPECT_TRUE(eventually([&] { return sink.taken().size() == 1; }));
    const Instant begun = now();
    one.relay->stop();
    EXPECT_LT(now() - begun, 20s) << "and it is stopped while it waits";
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayOrder, ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         target_name);

class RelayBesideWriters : public RelayTest {};

TEST_P(RelayBesideWriters, AWriterThatStaysOpenDelaysNobodyElse) {
    // Its event has the lowest position, and is not there yet.
    const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
    auto open = driver_.connect(soon()).value();
    Transaction held(*open, {}, soon());
    Outbox outbox(statements, "shop", database->clock(), database->random());
    outbox.append(event(1));
    outbox.post_to(held);
    ASSERT_TRUE(held.flush());

    append({2});
    append({3});
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->run_until_idle();
    EXPECT_EQ(sink.taken().size(), 2U);
    // And when it commits, it is not too late.
    ASSERT_TRUE(std::move(held).commit().committed());
    bell.ring();
    one.relay->run_until_idle();
    ASSERT_EQ(sink.taken().size(), 3U);
    EXPECT_EQ(sink.taken()[2].aggregate.id, "1");
    EXPECT_LT(sink.taken()[2].position, sink.taken()[0].position);
    EXPECT_EQ(pending(), 0);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayBesideWriters, ::testing::Values(Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
