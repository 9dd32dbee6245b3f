#include "semel/kafka/plan.hpp"

#include "semel/base/random.hpp"
#include "semel/sink/sink.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace semel::kafka {
namespace {

std::vector<Message> batch_of(const std::vector<std::string>& aggregates) {
    std::vector<Message> batch;
    for (const std::string& one : aggregates) {
        Message message;
        message.aggregate = {.type = "order", .id = one};
        batch.push_back(std::move(message));
    }
    return batch;
}

Error plan_error(Fault fault, std::string message) { return fail(fault, std::move(message)).value(); }

bool held_back(const Status& answer) { return !answer && answer.error().message == behind_unacknowledged().message; }

TEST(PublishPlan, SendsOneOfEachAggregateAtATime) {
    const auto batch = batch_of({"a", "b", "a", "a", "c"});
    PublishPlan plan(batch, 10);
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.next(), 1U);
    EXPECT_EQ(plan.next(), 4U);
    EXPECT_EQ(plan.next(), std::nullopt) << "the others wait for the first of their aggregate";
    plan.answered(0, {});
    EXPECT_EQ(plan.next(), 2U);
    EXPECT_EQ(plan.next(), std::nullopt);
}

TEST(PublishPlan, HasNoMoreUnderWayThanItsWindow) {
    const auto batch = batch_of({"a", "b", "c"});
    PublishPlan plan(batch, 2);
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.next(), 1U);
    EXPECT_EQ(plan.next(), std::nullopt);
    plan.answered(1, {});
    EXPECT_EQ(plan.next(), 2U);
}

TEST(PublishPlan, HoldsBackWhatStandsBehindAFailure) {
    const auto batch = batch_of({"a", "a", "b", "a"});
    PublishPlan plan(batch, 10);
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.next(), 2U);
    plan.answered(0, fail(plan_error(Fault::unknown, "lost")));
    plan.answered(2, {});
    EXPECT_TRUE(plan.finished());
    const auto answers = std::move(plan).take();
    EXPECT_EQ(answers[0].error().fault, Fault::unknown);
    EXPECT_TRUE(held_back(answers[1]));
    EXPECT_TRUE(answers[2]);
    EXPECT_TRUE(held_back(answers[3]));
}

TEST(PublishPlan, SendsWhatWasRefusedInCompanyAgainAlone) {
    const auto batch = batch_of({"a", "b", "c", "a"});
    PublishPlan plan(batch, 10);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(plan.next(), n);
    const Error too_large = plan_error(Fault::rejected, "too large");
    plan.refused(0, too_large);
    plan.refused(1, too_large);
    EXPECT_EQ(plan.next(), std::nullopt) << "not while something else is under way";
    plan.answered(2, {});
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.next(), std::nullopt) << "it must be alone";
    plan.answered(0, {});
    EXPECT_EQ(plan.next(), 1U) << "suspects come before others";
    plan.refused(1, too_large);
    EXPECT_EQ(plan.next(), 3U);
    plan.answered(3, {});
    EXPECT_TRUE(plan.finished());
    const auto answers = std::move(plan).take();
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(answers[1].error().message, "too large");
    EXPECT_TRUE(answers[3]);
}

TEST(PublishPlan, BeginsNothingOnceItIsClosed) {
    const auto batch = batch_of({"a", "b", "b", "a", "c"});
    PublishPlan plan(batch, 2);
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.next(), 1U);
    plan.close(plan_error(Fault::unavailable, "no time"));
    EXPECT_EQ(plan.next(), std::nullopt);
    EXPECT_FALSE(plan.finished());
    plan.answered(0, {});
    plan.refused(1, plan_error(Fault::rejected, "too large"));
    EXPECT_TRUE(plan.finished());
    const auto answers = std::move(plan).take();
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(answers[1].error().message, "no time") << "nobody knows whether it was the guilty one";
    EXPECT_TRUE(held_back(answers[2]));
    EXPECT_EQ(answers[3].error().message, "no time");
    EXPECT_EQ(answers[4].error().message, "no time");
}

/// A broker that takes batches of whatever is under way, and refuses a whole batch if one of it is bad.
TEST(PublishPlan, WhateverHappensKeepsOrderAndBlamesOnlyTheGuilty) {
    for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
        SeededRandom random(seed);
        std::vector<std::string> aggregates;
        for (std::size_t n = 0, count = random.below(20); n < count; ++n)
            aggregates.push_back(std::to_string(random.below(5)));
        const auto batch = batch_of(aggregates);
        std::set<std::size_t> bad;
        for (std::size_t n = 0; n < batch.size(); ++n)
            if (random.below(8) == 0) bad.insert(n);
        const std::size_t window = 1 + random.below(6);
        PublishPlan plan(batch, window);
        std::vector<std::size_t> under_way;
        std::map<std::string, std::size_t> newest;
        std::set<std::size_t> taken;
        bool closed = false;
        for (std::size_t step = 0; !plan.finished(); ++step) {
            ASSERT_LT(step, 1'000U) << "seed " << seed << ": no end";
            while (const auto number = plan.next()) {
                for (const std::size_t other : under_way)
                    ASSERT_NE(aggregates[other], aggregates[*number]) << "seed " << seed;
                under_way.push_back(*number);
                ASSERT_LE(under_way.size(), window) << "seed " << seed;
            }
            if (random.below(40) == 0) {
                plan.close(plan_error(Fault::unavailable, "no time"));
                closed = true;
            }
            if (under_way.empty()) continue;
            std::vector<std::size_t> together;
            for (std::size_t n = 0, size = 1 + random.below(under_way.size()); n < size; ++n) {
                together.push_back(under_way.back());
                under_way.pop_back();
            }
            const bool refused = std::ranges::any_of(together, [&](std::size_t n) { return bad.contains(n); });
            for (const std::size_t number : together) {
                if (refused) {
                    plan.refused(number, plan_error(Fault::rejected, "too large"));
                    continue;
                }
                plan.answered(number, {});
                taken.insert(number);
                const auto [entry, fresh] = newest.try_emplace(aggregates[number], number);
                ASSERT_TRUE(fresh || number > entry->second) << "seed " << seed << ": out of order";
                entry->second = number;
            }
        }
        const auto answers = std::move(plan).take();
        std::set<std::string> stopped;
        for (std::size_t n = 0; n < batch.size(); ++n) {
            ASSERT_EQ(answers[n].has_value(), taken.contains(n)) << "seed " << seed;
            if (answers[n]) {
                ASSERT_FALSE(stopped.contains(aggregates[n])) << "seed " << seed << ": overtook a failure";
                continue;
            }
            const bool first = stopped.insert(aggregates[n]).second;
            ASSERT_EQ(held_back(answers[n]), !first) << "seed " << seed;
            if (!first) continue;
            const bool blamed = answers[n].error().fault == Fault::rejected || !closed;
            ASSERT_TRUE(!blamed || bad.contains(n)) << "seed " << seed << ": an innocent was given up";
        }
    }
}

}  // namespace
}  // namespace semel::kafka
