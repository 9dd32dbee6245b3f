// A server keeps the plan of a statement. One that was made while the outbox was empty must serve a backlog too.

#include "semel/outbox/partitions.hpp"
#include "semel/outbox/pending.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using namespace std::chrono_literals;

class RelayPlan : public RelayTest {
protected:
    static PendingRow nobody() { return {.id = 1, .position = 1, .partition = 1}; }
    /// A statement that looks at every row for each of its own needs far longer.
    [[nodiscard]] Deadline soon() const { return Deadline::after(database->clock().now(), 3s); }
};

TEST_P(RelayPlan, MadeForAnEmptyOutboxServesABacklog) {
    DatabaseOptions how;
    how.catalogue = driver_.catalogue;
    how.pool.size = 1;  // One session, and so one plan of each statement.
    const auto session = Database::create(driver_.connect, how).value();
    const Uuid relay = new_uuid();
    const Pending outbox = Pending::of(*session, relay).value();
    Partitions partitions = Partitions::of(*session, relay, "one", 1min).value();
    run("ANALYZE semel.outbox_event, semel.outbox_pending, semel.outbox_waiting, semel.outbox_parked");
    const auto tended = partitions.tend(soon());
    ASSERT_TRUE(tended) << tended.error().describe();
    ASSERT_EQ(tended->held.size(), partition_count);
    const Settlement every_kind{.acknowledged = {nobody()},
                                .failures = {{.row = nobody(), .under = under(tended->held, nobody())}},
                                .parked = {{.row = nobody(), .under = under(tended->held, nobody())}}};
    for (int n = 0; n < 10; ++n) {
        ASSERT_TRUE(outbox.read(tended->held, 4, soon()));
        ASSERT_TRUE(outbox.settle(every_kind, soon()));
        ASSERT_TRUE(partitions.tend(soon()));
    }
    // A backlog, of whose end some thousands wait.
    run("INSERT INTO semel.outbox_event (event_id, position, aggregate, tenant, aggregate_type, aggregate_id, type, "
        "payload, headers, partition) SELECT gen_random_uuid(), n, n % 1000, 'shop', 'order', '1', 'changed', '{}', "
        "'{}', n % 64 FROM generate_series(1, 100000) AS n;"
        "INSERT INTO semel.outbox_pending (pending_id, position, aggregate, event_id, partition) "
        "SELECT position, position, aggregate, event_id, partition FROM semel.outbox_event;"
        "INSERT INTO semel.outbox_waiting (pending_id, position, aggregate, partition, attempts, next_attempt_at, "
        "last_error) SELECT pending_id, position, aggregate, partition, 1, now() + interval '1 hour', 'refused' "
        "FROM semel.outbox_pending WHERE position > 95000");
    const auto first = outbox.read(tended->held, 4, soon());
    ASSERT_TRUE(first) << first.error().describe();
    ASSERT_EQ(first->events.size(), 256U);
    Settlement settlement;
    for (std::size_t n = 0; n < first->events.size(); ++n) {
        const PendingRow& row = first->events[n].row;
        if (n < 100)
            settlement.acknowledged.push_back(row);
        else if (n < 200)
            settlement.failures.push_back({.row = row, .under = under(tended->held, row), .attempts = 1, .delay = 1h});
        else
            settlement.parked.push_back({.row = row, .under = under(tended->held, row), .attempts = 1});
    }
    const Status settled = outbox.settle(settlement, soon());
    ASSERT_TRUE(settled) << settled.error().describe();
    EXPECT_EQ(pending(), 100'000 - 156);
    EXPECT_EQ(waiting(), 5'100);
    EXPECT_EQ(parked(), 56);
    Settlement rest;
    for (const Failure& one : settlement.failures) rest.acknowledged.push_back(one.row);
    ASSERT_TRUE(outbox.settle(rest, soon()));
    EXPECT_EQ(pending(), 100'000 - 256);
    EXPECT_EQ(waiting(), 5'000) << "what has left does not wait";
    ASSERT_TRUE(partitions.tend(soon()));
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayPlan, ::testing::Values(Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
