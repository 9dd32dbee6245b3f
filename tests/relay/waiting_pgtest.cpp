// What waits for its next attempt is kept apart from what is pending on PostgreSQL; the two must not part.

#include "semel/outbox/partitions.hpp"
#include "semel/outbox/pending.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using conformance::Target;
using namespace std::chrono_literals;

class RelayWaiting : public RelayTest {
protected:
    [[nodiscard]] Deadline soon() const { return Deadline::after(database->clock().now(), 20s); }
};

TEST_P(RelayWaiting, WhatAnotherAcknowledgesWhileItsFailureIsWrittenDoesNotWait) {
    append({1});
    const auto owner_session = open_again();
    const Uuid holder = new_uuid();
    const auto tended = Partitions::of(*owner_session, holder, "holder", 1min).value().tend(soon());
    ASSERT_TRUE(tended) << tended.error().describe();
    const Pending own = Pending::of(*owner_session, holder).value();
    const auto found = own.read(tended->held, 1, soon());
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_EQ(found->events.size(), 1U);
    const PendingRow row = found->events.front().row;
    const Settlement failed{
        .acknowledged = {},
        .failures = {{.row = row, .under = under(tended->held, row), .attempts = 1, .delay = 1h, .reason = "refused"}},
        .parked = {}};
    const auto stale_session = open_again();
    const Pending stale = Pending::of(*stale_session, new_uuid()).value();
    std::jthread other;
    const auto outcome = transact(*owner_session, [&](Transaction& tx) -> Status {
        own.post_settlement(tx, failed);
        SEMEL_TRY(tx.flush());
        // Someone whose lease has ended says that it has left, and has to wait for this transaction.
        other = std::jthread(
            [&] { EXPECT_TRUE(stale.settle({.acknowledged = {row}, .failures = {}, .parked = {}}, soon())); });
        EXPECT_TRUE(eventually([&] {
            return count(
                       "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                       "AND wait_event_type = 'Lock'") == 1;
        }));
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    other.join();
    EXPECT_EQ(pending(), 0);
    EXPECT_EQ(waiting(), 0) << "it would hide the later events of its aggregate";
    // And the other way round: a failure behind the acknowledgement finds nothing that could wait.
    ASSERT_TRUE(own.settle(failed, soon()));
    EXPECT_EQ(waiting(), 0);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayWaiting, ::testing::Values(Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
