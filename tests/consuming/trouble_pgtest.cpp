// The database fails, loses the answer to COMMIT, or something else that the handler needs is away: each message has its
// effect once, and the source is paused rather than emptied into nothing.

#include "semel/testing/faulty_database.hpp"
#include "tests/consuming/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using testing::FaultPlan;
using testing::Step;
using testing::StepFailure;

class ConsumerTrouble : public ConsumerTest {
protected:
    [[nodiscard]] std::unique_ptr<Database> faulty_database(FaultPlan& plan, const Policy& retry) const {
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        how.breaker.attempts_min = 100'000;
        how.budget.floor_per_second = 100'000;
        how.retry = retry;
        return Database::create(testing::faulty(driver_.connect, plan), how).value();
    }
    [[nodiscard]] static Policy quick_retry() {
        return Policy::create({.attempts = 5, .base = 1ms, .cap = 5ms, .throttled_base = 1ms}).value();
    }
};

TEST_P(ConsumerTrouble, EveryStepOfTheDatabaseMayFailBeforeOrAfterItWasDone) {
    FaultPlan plan;
    int rounds = 0;
    const auto round = [&](const Policy& retry) {
        const std::string name = std::to_string(++rounds);
        ScriptedSource from;
        from.send(message(name + "-a1", "a"));
        ASSERT_TRUE(from.receive(1, soon()));
        from.disconnect();  // So this one is marked as redelivered, and counted.
        from.send(message(name + "-a2", "a"));
        from.send(message(name + "-b1", "b"));
        const auto own = faulty_database(plan, retry);
        const auto one = Consumer::create(*own, from, quick_options(), note_effect).value();
        work_off(*one, from);
        EXPECT_EQ(one->report().parked, 0U);
    };
    round(quick_retry());
    const std::uint64_t steps = plan.steps();
    ASSERT_GT(steps, 8U);
    for (const Policy& retry : {quick_retry(), Policy::once()})
        for (std::uint64_t n = 1; n <= steps; ++n)
            for (const auto when : {StepFailure::When::before, StepFailure::When::after}) {
                SCOPED_TRACE("step " + std::to_string(n) + (when == StepFailure::When::before ? " before" : " after"));
                plan.restart();
                plan.fail_step(n, {.when = when});
                round(retry);
                if (HasFailure()) return;
            }
    plan.restart();
    expect_each_once(static_cast<std::size_t>(rounds) * 3);
    EXPECT_EQ(attempt_rows(), 0);
    std::printf("%llu steps, each failed four times\n", static_cast<unsigned long long>(steps));
}

TEST_P(ConsumerTrouble, ALostAnswerToCommitIsSettledByThePrimaryKey) {
    for (const Policy& retry : {quick_retry(), Policy::once()}) {
        FaultPlan plan;
        plan.fail_nth(Step::commit, 1, {.when = StepFailure::When::after});
        const auto own = faulty_database(plan, retry);
        const auto one = Consumer::create(*own, source, quick_options(), note_effect).value();
        source.send(message(retry == Policy::once() ? "once" : "again"));
        work_off(*one, source);
        EXPECT_EQ(plan.failures(), 1U);
        EXPECT_EQ(one->report().processed + one->report().duplicates, 1U);
    }
    expect_each_once(2);
}

TEST_P(ConsumerTrouble, ADependencyThatIsAwayPausesTheSourceAndCountsAgainstNobody) {
    std::atomic<bool> away = true;
    std::atomic<int> asked = 0;
    ConsumerOptions options = quick_options();
    options.rules.attempts_max = 1;
    const auto one = Consumer::create(*database, source, options, [&](ConsumerWork& work) -> Status {
                         ++asked;
                         SEMEL_TRY(note_effect(work));
                         if (away) return fail(Fault::throttled, "the warehouse asks for less");
                         return {};
                     }).value();
    for (int n = 0; n < 100; ++n) source.send(message(std::to_string(n)));
    one->start();
    EXPECT_TRUE(eventually([&] { return source.paused() && asked > 10; }));
    EXPECT_LE(source.unacknowledged(), options.rules.held_max);
    EXPECT_GE(source.waiting(), 100 - options.rules.held_max) << "the rest waits where it is safe";
    EXPECT_TRUE(effects().empty());
    away = false;
    EXPECT_TRUE(eventually([&] { return source.empty(); }));
    one->stop();
    expect_each_once(100);
    EXPECT_EQ(one->report().parked, 0U);
    EXPECT_GE(one->report().pauses, 1U);
    EXPECT_FALSE(source.paused());
}

TEST_P(ConsumerTrouble, WhatWasCountedIsTakenBackWhenItWasNotTheMessagesFault) {
    bool away = true;
    const ConsumerHandler handler = [&](ConsumerWork& work) -> Status {
        if (away) return fail(Fault::unavailable, "the warehouse is away");
        return note_effect(work);
    };
    source.send(message("m"));
    ASSERT_TRUE(source.receive(1, soon()));
    // Another process takes over again and again, as deployments do: what each of them counted is in the database.
    for (int n = 0; n < 8; ++n) {
        source.disconnect();
        const auto one = consumer(source, quick_options(), handler);
        one->run_until_idle();
        EXPECT_EQ(one->report().parked, 0U) << "attempt " << n << ", and none of them its own fault";
    }
    away = false;
    source.disconnect();
    const auto last = consumer(source, quick_options(), handler);
    work_off(*last, source);
    expect_each_once(1);
}

TEST_P(ConsumerTrouble, ASourceThatIsAwayIsAskedAgain) {
    const auto one = consumer(source);
    source.be_away(true);
    one->start();
    source.send(message("m"));
    std::this_thread::sleep_for(50ms);
    source.be_away(false);
    EXPECT_TRUE(eventually([&] { return source.empty(); }));
    one->stop();
    expect_each_once(1);
}

TEST_P(ConsumerTrouble, StoppingFinishesWhatWasBegunAndGivesTheRestBack) {
    std::atomic<int> begun = 0;
    std::atomic<bool> open = false;
    ConsumerOptions options = quick_options();
    options.rules.workers = 2;
    auto one = Consumer::create(*database, source, options, [&](ConsumerWork& work) -> Status {
                   ++begun;
                   while (!open) std::this_thread::sleep_for(1ms);
                   return note_effect(work);
               }).value();
    for (int n = 0; n < 10; ++n) source.send(message(std::to_string(n)));
    one->start();
    ASSERT_TRUE(eventually([&] { return begun == 2 && source.waiting() == 0; }));
    std::jthread stopper([&] { one->stop(); });
    std::this_thread::sleep_for(20ms);
    open = true;
    stopper.join();
    EXPECT_EQ(source.unacknowledged(), 0U) << "nothing is left hanging";
    EXPECT_GE(source.waiting(), 8U);
    EXPECT_EQ(effects().size(), 10 - source.waiting());
    const auto next = consumer(source);
    work_off(*next, source);
    expect_each_once(10);
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerTrouble, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::consuming
