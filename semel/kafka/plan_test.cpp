#include "semel/kafka/plan.hpp"

#include "semel/base/random.hpp"
#include "semel/sink/sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

/// Begins a round with everything that may go with it.
std::vector<std::size_t> round_of(PublishPlan& plan) {
    std::vector<std::size_t> all;
    plan.begin_round();
    while (const auto number = plan.next()) {
        plan.begun(*number);
        all.push_back(*number);
    }
    return all;
}

using Places = std::vector<std::size_t>;

TEST(PublishPlan, SendsAllOfAnAggregateInOneRound) {
    const auto batch = batch_of({"a", "b", "a", "a", "c"});
    PublishPlan plan(batch, 10);
    EXPECT_EQ(round_of(plan), (Places{0, 1, 2, 3, 4}));
    for (std::size_t n = 0; n < batch.size(); ++n) plan.answered(n, {});
    EXPECT_TRUE(plan.finished());
}

TEST(PublishPlan, SaysWhoGoesBeforeAMessageAndHoldsItBackForTheRoundIfAsked) {
    const auto batch = batch_of({"a", "b", "a", "a"});
    PublishPlan plan(batch, 10);
    plan.begin_round();
    EXPECT_EQ(plan.next(), 0U);
    EXPECT_EQ(plan.ahead_of(0), std::nullopt);
    plan.begun(0);
    EXPECT_EQ(plan.next(), 1U);
    plan.begun(1);
    EXPECT_EQ(plan.next(), 2U);
    EXPECT_EQ(plan.ahead_of(2), 0U);
    plan.hold(2);
    EXPECT_EQ(plan.next(), std::nullopt) << "nothing of its aggregate passes it";
    plan.answered(0, {});
    plan.answered(1, {});
    EXPECT_EQ(round_of(plan), (Places{2, 3}));
}

TEST(PublishPlan, HasNoMoreUnderWayThanItsWindow) {
    const auto batch = batch_of({"a", "b", "a"});
    PublishPlan plan(batch, 2);
    EXPECT_EQ(round_of(plan), (Places{0, 1}));
    plan.answered(1, {});
    plan.answered(0, {});
    EXPECT_EQ(round_of(plan), Places{2});
}

TEST(PublishPlan, HoldsBackWhatStandsBehindAFailure) {
    const auto batch = batch_of({"a", "b", "a"});
    PublishPlan plan(batch, 2);
    EXPECT_EQ(round_of(plan), (Places{0, 1}));
    plan.answered(0, fail(plan_error(Fault::unknown, "lost")));
    plan.answered(1, {});
    EXPECT_TRUE(plan.finished());
    const auto answers = std::move(plan).take();
    EXPECT_EQ(answers[0].error().fault, Fault::unknown);
    EXPECT_TRUE(answers[1]);
    EXPECT_TRUE(held_back(answers[2]));
}

TEST(PublishPlan, OfABatchThatFailedTheFirstSaysWhyWhoeverIsReportedFirst) {
    const auto batch = batch_of({"a", "a", "a"});
    PublishPlan plan(batch, 10);
    EXPECT_EQ(round_of(plan).size(), 3U);
    for (const std::size_t number : {2U, 0U, 1U}) plan.answered(number, fail(plan_error(Fault::unknown, "lost")));
    const auto answers = std::move(plan).take();
    EXPECT_EQ(answers[0].error().fault, Fault::unknown);
    EXPECT_TRUE(held_back(answers[1]));
    EXPECT_TRUE(held_back(answers[2]));
}

TEST(PublishPlan, WhatCannotBeWrittenStopsWhatStandsBehindItOnly) {
    const auto batch = batch_of({"a", "a", "a"});
    PublishPlan plan(batch, 10);
    plan.begin_round();
    plan.begun(plan.next().value());
    plan.answered(plan.next().value(), fail(plan_error(Fault::rejected, "no event")));
    EXPECT_EQ(plan.next(), std::nullopt);
    plan.answered(0, {});
    EXPECT_TRUE(plan.finished());
    const auto answers = std::move(plan).take();
    EXPECT_TRUE(answers[0]);
    EXPECT_EQ(answers[1].error().message, "no event");
    EXPECT_TRUE(held_back(answers[2]));
}

TEST(PublishPlan, SendsWhatWasRefusedInCompanyAgainAlone) {
    const auto batch = batch_of({"a", "b", "c", "a"});
    PublishPlan plan(batch, 10);
    EXPECT_EQ(round_of(plan).size(), 4U);
    const Error too_large = plan_error(Fault::rejected, "too large");
    for (const std::size_t number : {0U, 1U, 3U}) plan.refused(number, too_large);
    plan.answered(2, {});
    EXPECT_EQ(round_of(plan), Places{0}) << "it must be alone";
    plan.answered(0, {});
    EXPECT_EQ(round_of(plan), Places{1});
    plan.refused(1, too_large);
    EXPECT_EQ(round_of(plan), Places{3}) << "it was in that batch too";
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
    EXPECT_EQ(round_of(plan), (Places{0, 1}));
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

/// Brokers that take one batch of each partition in a round, or refuse it as a whole if one of it is bad, or say nothing.
struct ModelBroker {
    SeededRandom& random;
    const std::vector<std::string>& aggregates;
    const std::set<std::size_t>& bad;
    std::map<std::string, std::size_t> newest{};
    std::set<std::size_t> taken{};
    bool in_order = true;

    void answer(PublishPlan& plan, const std::vector<std::size_t>& round) {
        std::map<std::size_t, std::vector<std::size_t>> batches;
        for (const std::size_t number : round) batches[std::stoul(aggregates[number]) % 2].push_back(number);
        for (auto& [partition, numbers] : batches) {
            const bool refused = std::ranges::any_of(numbers, [&](std::size_t n) { return bad.contains(n); });
            const bool silent = random.below(10) == 0;
            for (const std::size_t number : numbers) {
                if (!refused && !silent) take(number);
            }
            // Reports come in any order.
            while (!numbers.empty()) {
                const std::size_t at = random.below(numbers.size());
                const std::size_t number = numbers[at];
                numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(at));
                if (silent)
                    plan.answered(number, fail(plan_error(Fault::unknown, "silence")));
                else if (refused)
                    plan.refused(number, plan_error(Fault::rejected, "too large"));
                else
                    plan.answered(number, {});
            }
        }
    }
    void take(std::size_t number) {
        taken.insert(number);
        const auto [entry, fresh] = newest.try_emplace(aggregates[number], number);
        in_order = in_order && (fresh || number > entry->second);
        entry->second = number;
    }
};

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
        const std::size_t window = 1 + random.below(12);
        PublishPlan plan(batch, window);
        ModelBroker broker{.random = random, .aggregates = aggregates, .bad = bad};
        bool closed = false;
        for (std::size_t step = 0; !plan.finished(); ++step) {
            ASSERT_LT(step, 1'000U) << "seed " << seed << ": no end";
            std::vector<std::size_t> round;
            plan.begin_round();
            while (const auto number = plan.next()) {
                if (plan.ahead_of(*number) && random.below(6) == 0) {
                    plan.hold(*number);
                    continue;
                }
                plan.begun(*number);
                round.push_back(*number);
                ASSERT_LE(round.size(), window) << "seed " << seed;
                if (random.below(10) == 0) break;
            }
            if (random.below(40) == 0) {
                plan.close(plan_error(Fault::unavailable, "no time"));
                closed = true;
            }
            broker.answer(plan, round);
            ASSERT_TRUE(broker.in_order) << "seed " << seed << ": out of order";
        }
        const auto answers = std::move(plan).take();
        std::set<std::string> stopped;
        for (std::size_t n = 0; n < batch.size(); ++n) {
            ASSERT_EQ(answers[n].has_value(), broker.taken.contains(n)) << "seed " << seed;
            if (answers[n]) {
                ASSERT_FALSE(stopped.contains(aggregates[n])) << "seed " << seed << ": overtook a failure";
                continue;
            }
            const bool first = stopped.insert(aggregates[n]).second;
            ASSERT_EQ(held_back(answers[n]), !first) << "seed " << seed;
            if (!first) continue;
            const Fault fault = answers[n].error().fault;
            ASSERT_TRUE(fault != Fault::rejected || bad.contains(n)) << "seed " << seed << ": an innocent was blamed";
            ASSERT_TRUE(fault != Fault::unavailable || closed) << "seed " << seed << ": given up for nothing";
        }
    }
}

}  // namespace
}  // namespace semel::kafka
