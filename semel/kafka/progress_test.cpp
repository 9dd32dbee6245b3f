#include "semel/kafka/progress.hpp"

#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace semel::kafka {
namespace {

using Arrival = PartitionProgress::Arrival;
constexpr std::int64_t far_end = 1'000'000;

TEST(PartitionProgress, MovesOnlyOverWhatHasNothingOpenBeforeIt) {
    PartitionProgress progress(0);
    for (const std::int64_t offset : {10, 11, 12, 13}) EXPECT_EQ(progress.arrived(offset, far_end), Arrival::fresh);
    EXPECT_EQ(progress.done(12), std::nullopt);
    EXPECT_EQ(progress.done(10), 11);
    EXPECT_EQ(progress.done(11), 13) << "over what was done before";
    EXPECT_EQ(progress.done(13), 14);
    EXPECT_EQ(progress.outstanding(), 0U);
    EXPECT_EQ(progress.done(13), std::nullopt);
}

TEST(PartitionProgress, MovesOverGapsOfTheLog) {
    PartitionProgress progress(0);
    std::ignore = progress.arrived(3, far_end);
    std::ignore = progress.arrived(90, far_end);
    EXPECT_EQ(progress.done(3), 4);
    EXPECT_EQ(progress.done(90), 91);
}

TEST(PartitionProgress, SuspectsTheFirstMessagesAfterAnAssignmentOnly) {
    PartitionProgress progress(2);
    EXPECT_EQ(progress.arrived(5, far_end), Arrival::begun);
    EXPECT_EQ(progress.arrived(6, far_end), Arrival::begun);
    EXPECT_EQ(progress.arrived(7, far_end), Arrival::fresh);
}

TEST(PartitionProgress, SuspectsNothingThatCameAfterTheAssignment) {
    PartitionProgress progress(100);
    EXPECT_EQ(progress.arrived(5, 6), Arrival::begun);
    EXPECT_EQ(progress.arrived(6, 7), Arrival::fresh) << "the log ended before it when we began";
}

TEST(PartitionProgress, DeliversAgainOnlyWhatWasGivenBack) {
    PartitionProgress progress(0);
    for (const std::int64_t offset : {1, 2, 3, 4}) std::ignore = progress.arrived(offset, far_end);
    EXPECT_EQ(progress.rewind(), std::nullopt);
    EXPECT_EQ(progress.done(4), std::nullopt);
    progress.give_back(2);
    progress.give_back(4);
    EXPECT_EQ(progress.rewind(), 2);
    EXPECT_EQ(progress.arrived(2, far_end), Arrival::begun);
    EXPECT_EQ(progress.rewind(), std::nullopt) << "what is done with was not given back";
    EXPECT_EQ(progress.arrived(3, far_end), Arrival::ignored) << "held";
    EXPECT_EQ(progress.arrived(4, far_end), Arrival::ignored) << "done with";
    EXPECT_EQ(progress.arrived(5, far_end), Arrival::fresh);
}

TEST(PartitionProgress, WhateverHappensCommitsNothingThatIsNotDoneAndLosesNothing) {
    for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
        SeededRandom random(seed);
        PartitionProgress progress(random.below(10));
        std::vector<std::int64_t> log;
        for (std::int64_t offset = 0; log.size() < 30; offset += 1 + static_cast<std::int64_t>(random.below(3)))
            log.push_back(offset);
        std::size_t reading = 0;
        std::set<std::int64_t> held;
        std::set<std::int64_t> done;
        std::int64_t committed = 0;
        for (int step = 0; step < 2'000 && done.size() < log.size(); ++step) {
            const auto pick = [&] {
                return *std::next(held.begin(), static_cast<std::ptrdiff_t>(random.below(held.size())));
            };
            const auto what = random.below(10);
            if (what < 5 && reading < log.size()) {
                const std::int64_t offset = log[reading++];
                const Arrival arrival = progress.arrived(offset, far_end);
                ASSERT_EQ(arrival == Arrival::ignored, held.contains(offset) || done.contains(offset)) << seed;
                if (arrival != Arrival::ignored) held.insert(offset);
            } else if (what < 8 && !held.empty()) {
                const std::int64_t offset = pick();
                held.erase(offset);
                done.insert(offset);
                if (const auto position = progress.done(offset)) {
                    ASSERT_GT(*position, committed) << seed << ": it went back";
                    committed = *position;
                    for (const std::int64_t before : log)
                        ASSERT_TRUE(before >= committed || done.contains(before)) << seed << ": " << before;
                }
            } else if (!held.empty()) {
                const std::int64_t offset = pick();
                held.erase(offset);
                progress.give_back(offset);
                const auto from = progress.rewind();
                ASSERT_TRUE(from) << seed;
                ASSERT_LE(*from, offset) << seed;
                reading = static_cast<std::size_t>(std::ranges::lower_bound(log, *from) - log.begin());
            }
        }
        ASSERT_EQ(done.size(), log.size()) << seed << ": some never came";
        EXPECT_EQ(committed, log.back() + 1) << seed;
    }
}

}  // namespace
}  // namespace semel::kafka
