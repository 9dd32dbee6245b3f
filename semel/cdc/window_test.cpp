#include "semel/cdc/window.hpp"

#include "semel/base/random.hpp"
#include "semel/cdc/snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace semel::cdc {
namespace {

/// One transaction with so many events; their numbers.
std::vector<std::int64_t> transaction(Window& window, int events, std::uint64_t end) {
    std::vector<std::int64_t> numbers;
    window.begin();
    for (int n = 0; n < events; ++n) numbers.push_back(window.add({}).number);
    window.commit(Lsn{end});
    return numbers;
}

TEST(Window, ConfirmsATransactionWhenAllOfItsEventsAreSettled) {
    Window window;
    const auto events = transaction(window, 2, 10);
    EXPECT_EQ(window.confirmed(), Lsn());
    window.settle(events[1]);
    EXPECT_EQ(window.confirmed(), Lsn());
    window.settle(events[0]);
    EXPECT_EQ(window.confirmed(), Lsn{10});
}

TEST(Window, ConfirmsNothingBehindAnEventThatIsNotSettled) {
    Window window;
    const auto first = transaction(window, 1, 10);
    const auto second = transaction(window, 1, 20);
    window.settle(second[0]);
    EXPECT_EQ(window.confirmed(), Lsn());
    window.settle(first[0]);
    EXPECT_EQ(window.confirmed(), Lsn{20});
}

TEST(Window, ConfirmsNothingOfATransactionWhoseCommitHasNotCome) {
    Window window;
    window.begin();
    const std::int64_t one = window.add({}).number;
    window.settle(one);
    window.idle(Lsn{99});
    EXPECT_EQ(window.confirmed(), Lsn()) << "the server may be far ahead of what it has sent";
    window.commit(Lsn{10});
    EXPECT_EQ(window.confirmed(), Lsn{10});
}

TEST(Window, AnIdleServerMovesItOnUnlessSomethingIsUnsettled) {
    Window window;
    window.idle(Lsn{5});
    EXPECT_EQ(window.confirmed(), Lsn{5});
    const auto events = transaction(window, 1, 10);
    window.idle(Lsn{50});
    EXPECT_EQ(window.confirmed(), Lsn{5});
    window.settle(events[0]);
    EXPECT_EQ(window.confirmed(), Lsn{50});
}

TEST(Window, AHeartbeatCountsOnceEverythingBeforeItIsSettled) {
    Window window;
    const auto before = transaction(window, 1, 10);
    window.begin();
    window.heartbeat(700);
    window.commit(Lsn{20});
    const auto after = transaction(window, 1, 30);
    window.settle(after[0]);
    EXPECT_FALSE(window.low_water());
    window.settle(before[0]);
    EXPECT_EQ(window.low_water(), 700U);
}

TEST(Window, ForgetsWhatIsNotConfirmedAndGivesNoNumberTwice) {
    Window window;
    const auto lost = transaction(window, 2, 10);
    window.restart();
    EXPECT_EQ(window.size(), 0U);
    const auto again = transaction(window, 2, 10);
    window.settle(lost[0]);
    window.settle(lost[1]);
    EXPECT_EQ(window.confirmed(), Lsn()) << "an answer to what was given out before";
    EXPECT_EQ(window.find(lost[0]), nullptr);
    for (const std::int64_t one : again) window.settle(one);
    EXPECT_EQ(window.confirmed(), Lsn{10});
}

TEST(Window, WhateverTheOrderConfirmsExactlyTheSettledBeginning) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SeededRandom random(seed);
        Window window;
        std::vector<std::vector<std::int64_t>> transactions;
        std::vector<std::int64_t> open;
        for (std::uint64_t n = 1; n <= 20; ++n) {
            transactions.push_back(transaction(window, static_cast<int>(random.below(4)), n));
            for (const std::int64_t one : transactions.back()) open.push_back(one);
        }
        std::set<std::int64_t> settled;
        while (!open.empty()) {
            const auto at = static_cast<std::ptrdiff_t>(random.below(open.size()));
            window.settle(open[static_cast<std::size_t>(at)]);
            settled.insert(open[static_cast<std::size_t>(at)]);
            open.erase(open.begin() + at);
            std::uint64_t expected = 0;
            for (const auto& one : transactions) {
                if (!std::ranges::all_of(one, [&](std::int64_t event) { return settled.contains(event); })) break;
                ++expected;
            }
            ASSERT_EQ(window.confirmed(), Lsn{expected}) << "seed " << seed;
        }
    }
}

TEST(SnapshotOfTransactions, KnowsWhichHaveEnded) {
    const Snapshot snapshot = Snapshot::parse("10:20:10,15").value();
    EXPECT_TRUE(snapshot.ended(9));
    EXPECT_FALSE(snapshot.ended(10));
    EXPECT_TRUE(snapshot.ended(14));
    EXPECT_FALSE(snapshot.ended(15));
    EXPECT_TRUE(snapshot.ended(19));
    EXPECT_FALSE(snapshot.ended(20));
    EXPECT_TRUE(Snapshot::parse("726:726:").value().ended(725));
    for (const char* wrong : {"", "1", "1:2", "1:x:", "1:2:x", "1:2:3,,4"})
        EXPECT_FALSE(Snapshot::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace semel::cdc
