// A server keeps the plan of a statement. One that was made while the outbox was empty must serve a backlog too.

#include "semel/outbox/pending.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using namespace std::chrono_literals;

class RelayPlan : public RelayTest {
protected:
    static std::vector<HeldPartition> all_partitions() {
        std::vector<HeldPartition> all;
        for (std::int32_t n = 0; n < static_cast<std::int32_t>(partition_count); ++n)
            all.push_back({.partition = n, .epoch = 1});
        return all;
    }
    static PendingRow nobody() { return {.id = 1, .position = 1, .partition = 1}; }
    /// A statement that looks at every row for each of its own needs far longer.
    [[nodiscard]] Deadline soon() const { return Deadline::after(database->clock().now(), 3s); }
};

TEST_P(RelayPlan, MadeForAnEmptyOutboxServesABacklog) {
    DatabaseOptions how;
    how.catalogue = driver_.catalogue;
    how.pool.size = 1;  // One session, and so one plan of each statement.
    const auto session = Database::create(driver_.connect, how).value();
    const Pending outbox = Pending::of(*session, new_uuid()).value();
    run("ANALYZE semel.outbox_event, semel.outbox_pending, semel.outbox_waiting, semel.outbox_parked");
    const HeldPartition under{.partition = 1, .epoch = 1};
    const Settlement every_kind{.acknowledged = {nobody()},
                                .failures = {{.row = nobody(), .under = under}},
                                .parked = {{.row = nobody(), .under = under}}};
    for (int n = 0; n < 10; ++n) {
        ASSERT_TRUE(outbox.read(all_partitions(), 4, soon()));
        ASSERT_TRUE(outbox.settle(every_kind, soon()));
    }
    run("INSERT INTO semel.outbox_event (event_id, position, aggregate, tenant, aggregate_type, aggregate_id, type, "
        "payload, headers, partition) SELECT gen_random_uuid(), n, n % 1000, 'shop', 'order', '1', 'changed', '{}', "
        "'{}', n % 64 FROM generate_series(1, 100000) AS n;"
        "INSERT INTO semel.outbox_pending (pending_id, position, aggregate, event_id, partition) "
        "SELECT position, position, aggregate, event_id, partition FROM semel.outbox_event");
    const auto first = outbox.read(all_partitions(), 4, soon());
    ASSERT_TRUE(first) << first.error().describe();
    ASSERT_EQ(first->events.size(), 256U);
    Settlement settlement;
    for (const PendingEvent& one : first->events) {
        settlement.acknowledged.push_back(one.row);
        settlement.failures.push_back({.row = one.row, .under = under});
        settlement.parked.push_back({.row = one.row, .under = under});
    }
    const Status settled = outbox.settle(settlement, soon());
    ASSERT_TRUE(settled) << settled.error().describe();
    EXPECT_EQ(pending(), 100'000 - 256);
    EXPECT_EQ(waiting(), 0) << "what has left does not wait";
}

TEST_P(RelayPlan, WhatWasToBeTriedAgainADayAgoIsForgotten) {
    run("INSERT INTO semel.outbox_waiting (pending_id, position, aggregate, partition, attempts, next_attempt_at, "
        "last_error) SELECT n, n, n, 1, 3, now() - n * interval '12 hours 1 minute', 'refused' FROM "
        "generate_series(1, 3) AS n");
    ScriptedSink sink;
    Process one = process(sink);
    one.relay->run_until_idle();
    EXPECT_EQ(waiting(), 1) << "what stayed behind without its event, and only once it is old";
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayPlan, ::testing::Values(Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
