#pragma once

// What every source must answer. Included by one source file of each program that instantiates it:
//   INSTANTIATE_TEST_SUITE_P(Brokers, SourceConformance, ::testing::Values(SourceCase{"nats", make_target}), source_name);

#include "tests/conformance/source_fixture.hpp"

namespace semel::conformance {

TEST_P(SourceConformance, DeliversWhatWasSentAsItWasSent) {
    send(3, 3);
    const auto source = open();
    const auto got = take(*source, 3);
    ASSERT_EQ(got.size(), 3U);
    std::set<std::string> keys;
    for (const Delivery& one : got) {
        const auto sent = std::ranges::find(last_sent, one.message.id, [](const Message& it) { return it.id.text(); });
        ASSERT_NE(sent, last_sent.end()) << one.message.id;
        EXPECT_FALSE(one.message.topic.empty());
        EXPECT_EQ(one.message.tenant, sent->tenant);
        EXPECT_EQ(one.message.type, sent->type);
        EXPECT_EQ(one.message.payload, sent->payload);
        const auto headers = nlohmann::json::parse(one.message.headers, nullptr, false);
        ASSERT_TRUE(headers.is_object()) << one.message.headers;
        EXPECT_EQ(headers.value("traceparent", ""), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        EXPECT_TRUE(keys.insert(one.message.key).second) << "each aggregate has a key of its own";
    }
    acknowledge(*source, got);
}

TEST_P(SourceConformance, DeliversEachOnceAndInOrderWhenNothingGoesWrong) {
    const Ids sent = send(2'000, 20);
    auto source = open();
    std::vector<Delivery> all;
    while (all.size() < sent.size()) {
        auto some = take(*source, 100);
        ASSERT_EQ(some.size(), 100U);
        acknowledge(*source, some);
        for (Delivery& one : some) all.push_back(std::move(one));
    }
    EXPECT_EQ(sorted(ids(all)), sorted(sent));
    expect_order(all);
    std::set<DeliveryTag> different;
    for (const Delivery& one : all) EXPECT_TRUE(different.insert(one.tag).second) << "a tag came twice";
    close(source);
    source = open();
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(500)).empty()) << "what was acknowledged came again";
}

TEST_P(SourceConformance, DeliversAgainWhatWasNotAcknowledged) {
    const Ids sent = send(10);
    auto source = open();
    const auto first = take(*source, 10);
    ASSERT_EQ(first.size(), 10U);
    acknowledge(*source, std::span(first).first(4));
    close(source);
    source = open();
    const auto again = take(*source, 6);
    EXPECT_EQ(sorted(ids(again)), sorted(ids({first.begin() + 4, first.end()})));
    for (const Delivery& one : again) EXPECT_TRUE(one.redelivered) << "someone may have begun with it";
    expect_order(again);
    acknowledge(*source, again);
}

TEST_P(SourceConformance, DeliversAgainWhatWasGivenBackBeforeWhatStandsBehindIt) {
    const Ids sent = send(8, 1);
    const auto source = open();
    const auto first = take(*source, 3);
    ASSERT_EQ(first.size(), 3U);
    acknowledge(*source, std::span(first).first(1));
    const Status given = source->give_back(tags(std::span(first).subspan(1)));
    ASSERT_TRUE(given) << given.error().describe();
    const auto rest = take(*source, 7);
    EXPECT_EQ(sorted(ids(rest)), sorted({sent.begin() + 1, sent.end()}));
    for (const Delivery& one : rest) {
        const bool begun_before = one.message.id == sent[1] || one.message.id == sent[2];
        EXPECT_TRUE(one.redelivered || !begun_before);
    }
    if (target->gives_back_in_place()) expect_order(rest);
    acknowledge(*source, rest);
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(300)).empty());
}

TEST_P(SourceConformance, RemembersWhatWasAcknowledgedOutOfOrder) {
    send(10, 2);
    auto source = open();
    const auto first = take(*source, 10);
    ASSERT_EQ(first.size(), 10U);
    std::set<std::string> open_ones;
    for (std::size_t n = 10; n > 0; --n)
        if (n % 2 == 0)
            acknowledge(*source, std::span(first).subspan(n - 1, 1));
        else
            open_ones.insert(first[n - 1].message.id);
    close(source);
    source = open();
    if (target->acknowledges_each()) {
        const auto again = take(*source, 5);
        for (const Delivery& one : again) EXPECT_EQ(open_ones.erase(one.message.id), 1U) << "acknowledged before";
        acknowledge(*source, again);
        EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(300)).empty());
        return;
    }
    const Instant limit = now() + std::chrono::seconds(20);
    while (!open_ones.empty() && now() < limit)
        for (const Delivery& one : take_for(*source, std::chrono::milliseconds(100))) open_ones.erase(one.message.id);
    EXPECT_TRUE(open_ones.empty()) << open_ones.size() << " were lost";
}

TEST_P(SourceConformance, GivesNothingWhileItIsPaused) {
    const auto source = open();
    source->pause();
    send(5);
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(300)).empty());
    source->resume();
    auto got = take(*source, 2);
    source->pause();
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(200)).empty());
    acknowledge(*source, got);
    source->resume();
    got = take(*source, 3);
    acknowledge(*source, got);
}

TEST_P(SourceConformance, WaitsNoLongerThanItIsTold) {
    const auto source = open();
    std::ignore = take_for(*source, std::chrono::milliseconds(500));
    for (const auto limit : {std::chrono::milliseconds(0), std::chrono::milliseconds(200)}) {
        const Instant begun = now();
        const auto none = source->receive(10, within(limit));
        ASSERT_TRUE(none) << none.error().describe();
        EXPECT_TRUE(none->empty());
        EXPECT_LT(now() - begun, limit + std::chrono::milliseconds(700));
        EXPECT_GE(now() - begun, limit - std::chrono::milliseconds(5));
    }
}

TEST_P(SourceConformance, IsWokenFromAnotherThread) {
    const auto source = open();
    std::ignore = take_for(*source, std::chrono::milliseconds(500));
    for (const bool paused : {false, true}) {
        if (paused) source->pause();
        const Instant begun = now();
        std::jthread waker([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            source->wake();
        });
        const auto none = source->receive(10, within(std::chrono::seconds(10)));
        ASSERT_TRUE(none) << none.error().describe();
        EXPECT_TRUE(none->empty());
        EXPECT_LT(now() - begun, std::chrono::seconds(3));
    }
    source->resume();
    source->wake();
    const Instant begun = now();
    std::ignore = source->receive(10, within(std::chrono::seconds(10)));
    EXPECT_LT(now() - begun, std::chrono::seconds(3)) << "woken before it waited";
    send(1);
    acknowledge(*source, take(*source, 1));
}

TEST_P(SourceConformance, KeepsWhatItHoldsHoweverLongThatTakesWhileItIsCalled) {
    const SourceSettings impatient{.patience = std::chrono::seconds(1)};
    send(5);
    const auto source = open(impatient);
    const auto held = take(*source, 5);
    for (int n = 0; n < 12; ++n) {
        if (n == 6) source->pause();
        const auto none = source->receive(n % 2 == 0 ? 0 : 10, within(std::chrono::milliseconds(250)));
        ASSERT_TRUE(none) << none.error().describe();
        EXPECT_TRUE(none->empty()) << "what is held came again";
    }
    source->resume();
    acknowledge(*source, held);
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(1500)).empty());
}

TEST_P(SourceConformance, SharesItsMessagesAmongSourcesOfOneConsumer) {
    const auto one = open({.prefetch = 20});
    const auto other = open({.prefetch = 20});
    const Ids sent = send(400, 40);
    Ids all;
    const Instant limit = now() + std::chrono::seconds(30);
    while (std::set(all.begin(), all.end()).size() < sent.size() && now() < limit) {
        for (Source* source : {one.get(), other.get()}) {
            const auto some = source->receive(10, within(std::chrono::milliseconds(100)));
            ASSERT_TRUE(some) << some.error().describe();
            acknowledge(*source, *some);
            for (const Delivery& delivery : *some) all.push_back(delivery.message.id);
        }
    }
    const std::set<std::string> different(all.begin(), all.end());
    EXPECT_EQ(Ids(different.begin(), different.end()), sorted(sent)) << "some were lost";
    EXPECT_TRUE(take_for(*one, std::chrono::milliseconds(300)).empty());
}

TEST_P(SourceConformance, DeliversToEachConsumerByItself) {
    const Ids sent = send(20);
    const auto one = open({.consumer = "billing"});
    acknowledge(*one, take(*one, 20));
    const auto other = open({.consumer = "shipping"});
    const auto got = take(*other, 20);
    EXPECT_EQ(sorted(ids(got)), sorted(sent));
    acknowledge(*other, got);
}

TEST_P(SourceConformance, HoldsNoMoreThanItsPrefetch) {
    if (!target->bounds_prefetch()) GTEST_SKIP() << "the broker delivers whatever is asked for";
    const Ids sent = send(100);
    const auto source = open({.prefetch = 10});
    const auto first = take_for(*source, std::chrono::milliseconds(500));
    EXPECT_EQ(first.size(), 10U);
    acknowledge(*source, first);
    std::size_t done = first.size();
    while (done < sent.size()) {
        const auto some = take(*source, 10);
        ASSERT_EQ(some.size(), 10U);
        acknowledge(*source, some);
        done += some.size();
    }
}

TEST_P(SourceConformance, AcknowledgesNothingByATagFromBeforeItsConnectionBroke) {
    const Ids sent = send(10);
    auto source = open();
    const auto before = take(*source, 10);
    ASSERT_EQ(before.size(), 10U);
    if (!target->cut_connections()) GTEST_SKIP() << "connections do not break";
    if (target->tags_outlive_connections()) {
        EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(500)).empty()) << "they are held";
        acknowledge(*source, before);
        close(source);
        source = open();
        EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(500)).empty());
        return;
    }
    auto after = take(*source, 10);
    EXPECT_EQ(sorted(ids(after)), sorted(sent));
    std::set<DeliveryTag> old;
    for (const Delivery& one : before) old.insert(one.tag);
    for (const Delivery& one : after) {
        EXPECT_TRUE(one.redelivered);
        EXPECT_FALSE(old.contains(one.tag)) << "a tag came twice";
    }
    // Fine or an Error: either way it must not hit what was delivered since.
    std::ignore = source->acknowledge(tags(before));
    std::ignore = source->give_back(tags(before));
    close(source);
    source = open();
    const auto again = take(*source, 10);
    EXPECT_EQ(sorted(ids(again)), sorted(sent)) << "a stale tag acknowledged something";
    acknowledge(*source, again);
}

TEST_P(SourceConformance, GivesWhatADeadSourceHeldBeforeWhatCameAfterIt) {
    const Ids sent = send(10, 1);
    const SourceSettings impatient{.patience = std::chrono::seconds(1)};
    auto dying = open(impatient);
    ASSERT_EQ(ids(take(*dying, 3)), Ids(sent.begin(), sent.begin() + 3));
    if (!target->kill(dying)) GTEST_SKIP() << "the source cannot be killed";
    const auto source = open(impatient);
    const auto all = take(*source, 10);
    EXPECT_EQ(ids(all), sent) << "out of order";
    for (const Delivery& one : std::span(all).first(std::min<std::size_t>(3, all.size()))) EXPECT_TRUE(one.redelivered);
    acknowledge(*source, all);
}

TEST_P(SourceConformance, LosesNothingWhenTheBrokerCrashes) {
    const Ids sent = send(200, 10);
    const SourceSettings impatient{.patience = std::chrono::seconds(2)};
    auto source = open(impatient);
    const auto first = take(*source, 50);
    ASSERT_EQ(first.size(), 50U);
    acknowledge(*source, std::span(first).first(25));
    const auto restarted = target->crash_and_restart();
    if (!restarted) GTEST_SKIP() << "the broker cannot be killed";
    ASSERT_TRUE(*restarted) << restarted->error().describe();
    // The rest of them was done when it crashed; whether the broker hears of that is another matter.
    std::ignore = source->acknowledge(tags(std::span(first).subspan(25)));
    std::set<std::string> seen;
    for (const Delivery& one : first) seen.insert(one.message.id);
    const Instant limit = now() + std::chrono::seconds(40);
    // Until then something that was acknowledged in vain may come again.
    const Duration quiet = target->tags_outlive_connections() ? impatient.patience * 2 : std::chrono::seconds(1);
    Instant quiet_since = now();
    while ((seen.size() < sent.size() || now() - quiet_since < quiet) && now() < limit) {
        const auto some = source->receive(100, within(std::chrono::milliseconds(500)));
        if (!some) {
            EXPECT_NE(some.error().fault, Fault::broken) << some.error().describe();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            continue;
        }
        for (const Delivery& one : *some) seen.insert(one.message.id);
        if (!some->empty()) quiet_since = now();
        std::ignore = source->acknowledge(tags(*some));
    }
    EXPECT_EQ(Ids(seen.begin(), seen.end()), sorted(sent)) << "some were lost";
    close(source);
    source = open(impatient);
    EXPECT_TRUE(take_for(*source, std::chrono::milliseconds(500)).empty()) << "not all acknowledgements count";
}

}  // namespace semel::conformance
