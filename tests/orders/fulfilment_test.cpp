// What an order takes and how it gets done, by values alone: planning, counting, holding, completing, cancelling.

#include "apps/orders/domain/fulfilment.hpp"
#include "semel/base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace orders {
namespace {

using namespace std::chrono_literals;

constexpr semel::Timestamp noon{};

/// 1, 2, 3, … as ids.
NewId counter() {
    return [next = 0]() mutable {
        semel::Uuid id;
        ++next;
        id.bytes[14] = static_cast<std::byte>(next >> 8);
        id.bytes[15] = static_cast<std::byte>(next & 0xff);
        return id;
    };
}

Quote quote_of(int items) {
    Quote quote{
        .id = {}, .customer_id = "c-1", .currency = "EUR", .state = std::string(quote_state::accepted), .revision = 3};
    for (int i = 0; i < items; ++i) {
        LinePrice price =
            price_as_agreed(semel::Decimal::of(1'005 + i, 2).value(), standard_tax_rate, i + 1, "EUR").value();
        quote.items.push_back({.id = {},
                               .sku = "sku-" + std::to_string(i),
                               .quantity = i + 1,
                               .instance_key = i % 2 == 0 ? "" : "line-" + std::to_string(i),
                               .price = price});
    }
    quote.sums = quote.summed().value();
    return quote;
}

Fulfilment planned(int items) { return plan(quote_of(items), "2026-12-01", noon, counter()); }

std::int64_t count_in(const Fulfilment& all, std::string_view state) {
    return std::ranges::count(all.tasks, state, &Task::state);
}

const Task& task_of(const Fulfilment& all, std::string_view kind, std::size_t item = 0) {
    for (const Task& task : all.tasks)
        if (task.kind == kind && (!task.item_id || *task.item_id == all.order.items[item].id)) return task;
    ADD_FAILURE() << "no such task";
    return all.tasks.front();
}

/// The fulfilment after what was decided.
Fulfilment apply(Fulfilment all, const Progress& progress) {
    all.order = progress.order;
    for (const TaskChange& change : progress.tasks)
        *std::ranges::find(all.tasks, change.task.id, &Task::id) = change.task;
    return all;
}
Fulfilment completed(const Fulfilment& all, const Task& task) {
    return apply(all, after_completion(all, task, task_step::complete));
}

/// What must hold of any order at any time.
void expect_consistent(const Fulfilment& all) {
    const Order& order = all.order;
    EXPECT_EQ(order.task_count, static_cast<std::int64_t>(all.tasks.size()));
    EXPECT_EQ(order.open_task_count,
              order.task_count - count_in(all, task_state::completed) - count_in(all, task_state::cancelled));
    EXPECT_EQ(order.failed_task_count, count_in(all, task_state::failed));
    for (const Task& task : all.tasks) {
        const auto open = std::ranges::count_if(
            task.needs, [&](const semel::Uuid& id) { return all.find(id)->state != task_state::completed; });
        EXPECT_EQ(task.waits_for, open);
        if (task.state != task_state::cancelled) {
            EXPECT_EQ(task.state == task_state::waiting, open > 0);
        }
    }
    if (order.state == order_state::cancelled) return;
    EXPECT_EQ(order.state == order_state::completed, order.open_task_count == 0);
    EXPECT_EQ(order.state == order_state::held, order.failed_task_count > 0);
}

TEST(Plan, ReservesAndProvisionsEachItemAndActivatesTheWhole) {
    const Fulfilment made = planned(3);
    ASSERT_EQ(made.tasks.size(), 7);
    EXPECT_EQ(made.order.state, order_state::created);
    EXPECT_EQ(made.order.quote_revision, 3);
    EXPECT_EQ(made.order.target_date, "2026-12-01");
    EXPECT_EQ(count_in(made, task_state::ready), 3);
    for (std::size_t item = 0; item < 3; ++item) {
        const Task& reserve = task_of(made, task_kind::reserve, item);
        EXPECT_EQ(reserve.state, task_state::ready);
        EXPECT_THAT(reserve.needs, ::testing::IsEmpty());
        EXPECT_THAT(task_of(made, task_kind::provision, item).needs, ::testing::ElementsAre(reserve.id));
    }
    EXPECT_THAT(task_of(made, task_kind::activate).needs,
                ::testing::UnorderedElementsAre(task_of(made, task_kind::provision, 0).id,
                                                task_of(made, task_kind::provision, 1).id,
                                                task_of(made, task_kind::provision, 2).id));
    expect_consistent(made);
}

TEST(Plan, KeepsEverySumToTheLastDigit) {
    for (const int items : {1, 2, 7, 100}) {
        const Quote quote = quote_of(items);
        const Order order = planned(items).order;
        EXPECT_EQ(order.sums, quote.sums);
        Sums sum = order.items.front().sums;
        for (std::size_t i = 1; i < order.items.size(); ++i) sum = sum.plus(order.items[i].sums).value();
        EXPECT_EQ(sum, order.sums);
        EXPECT_EQ(sum.net.plus(sum.tax).value(), sum.gross);
    }
}

TEST(Plan, GivesEveryItemSomethingToRunOn) {
    const Order order = planned(4).order;
    EXPECT_EQ(order.items[1].instance_key, "line-1");
    EXPECT_EQ(order.items[0].instance_key, order.items[0].id.text());
}

TEST(Fulfilment, ACompletedTaskReleasesThoseThatWaitedForItAlone) {
    const Fulfilment made = planned(2);
    const Progress reserved = after_completion(made, task_of(made, task_kind::reserve), task_step::complete);
    EXPECT_EQ(reserved.order.state, order_state::in_progress);
    EXPECT_EQ(reserved.order.version, 2);
    EXPECT_EQ(reserved.event, "order.progressed");
    ASSERT_EQ(reserved.tasks.size(), 2);
    EXPECT_EQ(reserved.tasks[0].event, "task.completed");
    EXPECT_EQ(reserved.tasks[0].from, task_state::ready);
    EXPECT_EQ(reserved.tasks[1].event, "task.ready");
    EXPECT_EQ(reserved.tasks[1].task.version, 2);
    const Fulfilment next = apply(made, reserved);
    expect_consistent(next);
    // The activation waits for the other item still: nothing to tell, and no new version.
    const Progress provisioned = after_completion(next, task_of(next, task_kind::provision), task_step::complete);
    ASSERT_EQ(provisioned.tasks.size(), 2);
    EXPECT_EQ(provisioned.tasks[1].event, "");
    EXPECT_EQ(provisioned.tasks[1].task.version, 1);
    EXPECT_EQ(provisioned.tasks[1].task.waits_for, 1);
    expect_consistent(apply(next, provisioned));
}

TEST(Fulfilment, TheLastTaskCompletesTheOrderWithOneAssetForEachItem) {
    Fulfilment all = planned(3);
    for (std::size_t item = 0; item < 3; ++item) {
        all = completed(all, task_of(all, task_kind::reserve, item));
        all = completed(all, task_of(all, task_kind::provision, item));
    }
    EXPECT_EQ(all.order.state, order_state::in_progress);
    const Progress last = after_completion(all, task_of(all, task_kind::activate), task_step::complete);
    EXPECT_EQ(last.order.state, order_state::completed);
    EXPECT_EQ(last.event, "order.completed");
    EXPECT_EQ(last.order.open_task_count, 0);
    expect_consistent(apply(all, last));
    const auto assets = assets_of(last.order, noon, counter());
    ASSERT_EQ(assets.size(), 3);
    EXPECT_TRUE(std::ranges::is_sorted(assets, {}, &Asset::instance_key));
    for (const OrderItem& item : last.order.items) {
        const auto asset = std::ranges::find(assets, item.id, &Asset::item_id);
        ASSERT_NE(asset, assets.end());
        EXPECT_EQ(asset->instance_key, item.instance_key);
        EXPECT_EQ(asset->quantity, item.quantity);
        EXPECT_EQ(asset->state, asset_state::active);
    }
}

TEST(Fulfilment, AFailedTaskHoldsTheOrderUntilNoneIsFailed) {
    Fulfilment all = planned(2);
    all = apply(all, after_failure(all, task_of(all, task_kind::reserve, 0), "none left"));
    EXPECT_EQ(all.order.state, order_state::held);
    EXPECT_EQ(task_of(all, task_kind::reserve, 0).failure, "none left");
    all = apply(all, after_failure(all, task_of(all, task_kind::reserve, 1), "nor of these"));
    EXPECT_EQ(all.order.failed_task_count, 2);
    const Progress retried = after_retry(all, task_of(all, task_kind::reserve, 0));
    EXPECT_EQ(retried.order.state, order_state::held) << "the other one still holds it";
    EXPECT_EQ(retried.event, "order.held");
    EXPECT_EQ(retried.tasks[0].task.attempt, 2);
    EXPECT_EQ(retried.tasks[0].task.failure, "");
    all = apply(all, retried);
    all = completed(all, task_of(all, task_kind::reserve, 0));
    EXPECT_EQ(all.order.state, order_state::held);
    all = apply(all, after_completion(all, task_of(all, task_kind::reserve, 1), task_step::skip));
    EXPECT_EQ(all.order.state, order_state::in_progress);
    EXPECT_EQ(task_of(all, task_kind::provision, 1).state, task_state::ready);
    expect_consistent(all);
}

TEST(Fulfilment, ACancelledOrderTakesItsOpenTasksAlong) {
    Fulfilment all = planned(2);
    all = completed(all, task_of(all, task_kind::reserve, 0));
    all = apply(all, after_failure(all, task_of(all, task_kind::reserve, 1), "none left"));
    const Progress cancelled = after_cancellation(all);
    EXPECT_EQ(cancelled.tasks.size(), 4);
    all = apply(all, cancelled);
    EXPECT_EQ(all.order.state, order_state::cancelled);
    EXPECT_EQ(all.order.open_task_count, 0);
    EXPECT_EQ(count_in(all, task_state::cancelled), 4);
    EXPECT_EQ(count_in(all, task_state::completed), 1);
    expect_consistent(all);
    for (const Task& task : all.tasks)
        for (const Step* step : {&task_step::complete, &task_step::fail, &task_step::retry, &task_step::skip})
            EXPECT_TRUE(obstacle(*step, all, task, std::nullopt));
}

TEST(Fulfilment, NoTaskTakesAStepOnceItsOrderIsFinal) {
    Fulfilment all = planned(1);
    const Task& ready = task_of(all, task_kind::reserve);
    EXPECT_EQ(obstacle(task_step::complete, all, ready, 1), std::nullopt);
    EXPECT_EQ(obstacle(task_step::complete, all, ready, std::nullopt), std::nullopt);
    EXPECT_TRUE(std::holds_alternative<Stale>(*obstacle(task_step::complete, all, ready, 2)));
    for (const std::string_view state : {order_state::completed, order_state::cancelled}) {
        all.order.state = state;
        const auto refusal = obstacle(task_step::complete, all, ready, 1);
        ASSERT_TRUE(refusal);
        EXPECT_EQ(std::get<WrongState>(*refusal).kind, "order");
    }
}

TEST(Fulfilment, EverythingThatIsReadyIsBegunAtOnceAndTheOrderIsInProgress) {
    const Fulfilment made = planned(3);
    const auto progress = after_start(made);
    ASSERT_TRUE(progress);
    EXPECT_EQ(progress->event, "order.progressed");
    EXPECT_EQ(progress->order.version, made.order.version + 1);
    ASSERT_EQ(progress->tasks.size(), 3);
    for (const TaskChange& change : progress->tasks) {
        EXPECT_EQ(change.event, "task.started");
        EXPECT_EQ(change.from, task_state::ready);
        EXPECT_EQ(change.task.version, made.find(change.task.id)->version + 1);
    }
    const Fulfilment begun = apply(made, *progress);
    EXPECT_EQ(begun.order.state, order_state::in_progress);
    EXPECT_EQ(count_in(begun, task_state::running), 3);
    expect_consistent(begun);
    EXPECT_FALSE(after_start(begun)) << "there is nothing left to begin";
    // What is begun can be done, fail, and be cancelled.
    const Task& first = task_of(begun, task_kind::reserve);
    for (const Step* step : {&task_step::complete, &task_step::fail})
        EXPECT_FALSE(obstacle(*step, begun, first, first.version)) << step->event;
    const Fulfilment gone = apply(begun, after_cancellation(begun));
    EXPECT_EQ(count_in(gone, task_state::cancelled), gone.order.task_count);
}

TEST(Fulfilment, NothingIsBegunOfAnOrderThatIsFinalAndAHeldOneStaysHeld) {
    const Fulfilment made = planned(2);
    Fulfilment gone = made;
    gone.order.state = order_state::cancelled;
    EXPECT_FALSE(after_start(gone)) << "though two of its tasks look ready";
    gone.order.state = order_state::completed;
    EXPECT_FALSE(after_start(gone));
    const Fulfilment held = apply(made, after_failure(made, task_of(made, task_kind::reserve), "none left"));
    const auto progress = after_start(held);
    ASSERT_TRUE(progress);
    EXPECT_EQ(progress->order.state, order_state::held) << "until the task that failed is retried";
    expect_consistent(apply(held, *progress));
}

TEST(Fulfilment, CountsAgreeAfterAnyStepsInAnyOrder) {
    semel::SeededRandom random(20'261'115);
    for (int round = 0; round < 300; ++round) {
        Fulfilment all = planned(1 + static_cast<int>(random.next() % 4));
        std::int64_t version = 1;
        for (int steps = 0; all.order.state != order_state::completed && steps < 400; ++steps) {
            const Task& task = all.tasks[random.next() % all.tasks.size()];
            const auto may = [&](const Step& step) { return !obstacle(step, all, task, task.version); };
            const std::uint64_t wish = random.next() % 6;
            if (const auto started = wish == 5 ? after_start(all) : std::nullopt)
                all = apply(all, *started);
            else if (wish < 2 && may(task_step::complete))
                all = apply(all, after_completion(all, task, task_step::complete));
            else if (wish == 2 && may(task_step::fail))
                all = apply(all, after_failure(all, task, "chance"));
            else if (wish == 3 && may(task_step::retry))
                all = apply(all, after_retry(all, task));
            else if (wish == 4 && may(task_step::skip))
                all = apply(all, after_completion(all, task, task_step::skip));
            else
                continue;
            ASSERT_EQ(all.order.version, ++version);
            expect_consistent(all);
            if (HasFailure()) return;
        }
        EXPECT_EQ(all.order.state, order_state::completed) << "chance gets there in the end";
    }
}

TEST(Asset, TakesTheStepThatTheChangeNames) {
    Asset asset;
    asset.quantity = 2;
    EXPECT_EQ(asset_step_of("SUSPEND"), &asset_step::suspend);
    EXPECT_EQ(asset_step_of("DESTROY"), nullptr);
    for (const std::string_view change : asset_change::all) EXPECT_NE(asset_step_of(change), nullptr) << change;
    const Asset more = after(asset_step::change, asset, 5);
    EXPECT_EQ(more.quantity, 5);
    EXPECT_EQ(more.version, 2);
    const Asset away = after(asset_step::suspend, more, std::nullopt);
    EXPECT_EQ(away.state, asset_state::suspended);
    EXPECT_EQ(away.quantity, 5);
    EXPECT_TRUE(obstacle(asset_step::change, away.snapshot(), away.version)) << "what is out of service stays as it is";
    EXPECT_EQ(after(asset_step::end, away, std::nullopt).state, asset_state::ended);
}

}  // namespace
}  // namespace orders
