// The power is cut before every single write, truncation, creation, removal and sync that the program makes, and what was
// not synced is lost, whole or in part. What was acknowledged is there after the restart, everything else whole or absent.

#include "semel/testing/losing_disk.hpp"
#include "tests/crash/payments.hpp"
#include "tests/crash/power_cuts.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace semel::crash {
namespace {

using testing::DiskOperation;
using testing::LosingDisk;

class PowerCut : public ::testing::Test {
protected:
    /// Runs the program once: alone, through a change of its schema, over a restart, and with four threads that may
    /// share their COMMITs.
    Recording record(LosingDisk::Syncs syncs) {
        const std::filesystem::path directory = directory_.path() / "recorded";
        std::filesystem::remove_all(directory);
        std::filesystem::create_directory(directory);
        LosingDisk disk(directory, syncs);
        Recording made;
        std::mutex mutex;
        const auto pay = [&](Payments& payments, int number) {
            const auto outcome = payments.pay(number);
            const std::size_t at = disk.now();
            const std::lock_guard guard(mutex);
            EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
            if (outcome.committed()) made.acknowledged[number] = at;
        };
        {
            const auto payments = Payments::open(disk.uri("store.db"), system_clock(), system_random()).value();
            EXPECT_TRUE(payments->migrate_to(1));
            for (int number = 0; number <= 4; ++number) pay(*payments, number);
            EXPECT_TRUE(payments->migrate_to(2));
            pay(*payments, 5);
            EXPECT_GT(payments->stats().checkpoints, 1U);
        }
        const auto payments = Payments::open(disk.uri("store.db"), system_clock(), system_random()).value();
        EXPECT_TRUE(payments->migrate_to(2));
        {
            std::vector<std::jthread> crowd;
            for (int thread = 0; thread < 4; ++thread)
                crowd.emplace_back([&, thread] {
                    pay(*payments, 6 + thread);
                    if (10 + thread <= Payments::count) pay(*payments, 10 + thread);
                });
        }
        made.operations = disk.operations();
        EXPECT_EQ(made.acknowledged.size(), Payments::count + 1U);
        return made;
    }

    [[nodiscard]] std::filesystem::path recovered() const { return directory_.path() / "recovered"; }

    testing::TempDir directory_ = make_scratch("power-cut");
};

TEST_F(PowerCut, BeforeAnyWriteLosesNothingThatWasAcknowledgedAndLeavesNothingInPart) {
    using Kind = DiskOperation::Kind;
    const Recording recording = record(LosingDisk::Syncs::all);
    EXPECT_GT(recording.count(Kind::write), 100U);
    EXPECT_GT(recording.count(Kind::sync), std::size_t{Payments::count});
    EXPECT_GT(recording.count(Kind::create), 2U) << "the file, its journal, its log";
    EXPECT_GT(recording.count(Kind::remove), 0U);
    EXPECT_GT(recording.count(Kind::sync_directory), 0U);
    const std::uint64_t seeds = std::getenv("SEMEL_SOAK") != nullptr ? 50 : 2;
    const CutTally tally = cut_power(recording, {.seeds = seeds}, recovered());
    EXPECT_EQ(tally.troubles, 0U) << tally.first_trouble;
    EXPECT_GT(tally.restarts, recording.operations.size());
    std::printf("power cut: %zu operations, %zu cuts, %zu restarts\n", recording.operations.size(), tally.cuts,
                tally.restarts);
}

/// Unless these fail, the test above proves nothing.
TEST_F(PowerCut, IsNoticedOnADiskThatLies) {
    using enum LosingDisk::Syncs;
    for (const auto syncs : {none, not_of_log, not_of_database, not_of_directory}) {
        const CutTally tally = cut_power(record(syncs), {}, recovered());
        EXPECT_GT(tally.troubles, 0U) << "disk " << static_cast<int>(syncs);
        std::printf("power cut: disk %d: %zu of %zu restarts, %s\n", static_cast<int>(syncs), tally.troubles,
                    tally.restarts, tally.first_trouble.c_str());
    }
}

}  // namespace
}  // namespace semel::crash
