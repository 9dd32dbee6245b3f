// Several relays share the partitions evenly, and take over those of one that dies.

#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

class RelayShare : public RelayTest {
protected:
    [[nodiscard]] static RelayOptions quick() {
        RelayOptions how = options();
        how.rules.lease = 900ms;
        how.rules.publish_limit = 500ms;
        how.rules.poll = 20ms;
        return how;
    }
    static std::vector<std::uint64_t> shares(const std::vector<Process>& processes) {
        std::vector<std::uint64_t> all;
        for (const Process& one : processes)
            if (one.relay) all.push_back(one.relay->report().partitions);
        std::ranges::sort(all);
        return all;
    }
    using Shares = std::vector<std::uint64_t>;
};

TEST_P(RelayShare, ThreeRelaysShareThePartitionsAndRebalanceWhenOneLeavesOrDies) {
    ScriptedSink sink;
    std::vector<Process> processes;
    for (int n = 0; n < 3; ++n) {
        processes.push_back(process(sink, quick()));
        processes.back().relay->start();
    }
    EXPECT_TRUE(eventually([&] { return shares(processes) == Shares{20, 22, 22}; }))
        << ::testing::PrintToString(shares(processes));
    // One leaves in order: the others need not wait for its leases to end.
    processes[0].relay->stop();
    processes[0].relay.reset();
    EXPECT_TRUE(eventually([&] { return shares(processes) == Shares{32, 32}; }))
        << ::testing::PrintToString(shares(processes));
    // One dies: it neither renews nor gives back.
    ScriptedSink lost;
    Process dying = process(lost, quick());
    ASSERT_TRUE(eventually([&] {
        std::ignore = dying.relay->step();
        return dying.relay->report().partitions >= 20;
    }));
    EXPECT_TRUE(eventually([&] { return shares(processes) == Shares{32, 32}; }))
        << ::testing::PrintToString(shares(processes));
    EXPECT_EQ(held_partitions(), 64);
    for (Process& one : processes)
        if (one.relay) one.relay->stop();
}

TEST_P(RelayShare, EventsLeaveInOrderWhilePartitionsChangeHands) {
    ScriptedSink sink;
    std::vector<Process> processes;
    for (int n = 0; n < 3; ++n) processes.push_back(process(sink, quick()));
    processes[0].relay->start();
    int written = 0;
    for (int n = 0; n < 150; ++n) {
        append({n % 8, n % 17});
        written += 2;
        bell.ring();
        if (n == 30) processes[1].relay->start();
        if (n == 60) processes[2].relay->start();
        if (n == 100) processes[0].relay->stop();
        if (n % 10 == 0) std::this_thread::sleep_for(20ms);
    }
    EXPECT_TRUE(eventually([&] { return pending() == 0; }));
    for (Process& one : processes) one.relay->stop();
    EXPECT_EQ(sink.first_taken().size(), static_cast<std::size_t>(written));
    expect_order(sink);
}

TEST(FairShare, CoversEveryPartition) {
    for (std::size_t relays = 1; relays <= 100; ++relays) EXPECT_GE(fair_share(64, relays) * relays, 64U);
    EXPECT_EQ(fair_share(64, 3), 22U);
    EXPECT_EQ(fair_share(64, 64), 1U);
    EXPECT_EQ(fair_share(64, 65), 1U);
    EXPECT_EQ(fair_share(64, 0), 64U);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayShare, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
