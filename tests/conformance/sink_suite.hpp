#pragma once

// What every sink must answer. Included by one source of each program that instantiates it:
//   INSTANTIATE_TEST_SUITE_P(Brokers, SinkConformance, ::testing::Values(SinkCase{"nats", make_target}), case_name);

#include "semel/base/time.hpp"
#include "tests/conformance/sink_target.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <utility>

namespace semel::conformance {

inline std::string case_name(const ::testing::TestParamInfo<SinkCase>& one) { return one.param.name; }

class SinkConformance : public ::testing::TestWithParam<SinkCase> {
protected:
    void SetUp() override {
        auto made = GetParam().make();
        const Status ready = made->prepare();
        if (!ready) GTEST_SKIP() << ready.error().describe();
        target = std::move(made);
        sink = open();
    }
    void TearDown() override {
        if (!target) return;
        target->be_mute(false);
        target->be_away(false);
    }

    [[nodiscard]] std::unique_ptr<Sink> open(const SinkSettings& settings = {}) {
        auto made = target->make_sink(settings);
        EXPECT_TRUE(made) << made.error().describe();
        return made ? *std::move(made) : nullptr;
    }

    /// The next event of an aggregate; its number is in its payload.
    [[nodiscard]] Message event(const std::string& aggregate) {
        Message one;
        one.id = new_uuid();
        one.tenant = "shop";
        one.aggregate = {.type = "order", .id = aggregate, .version = ++numbers};
        one.type = "order.changed";
        one.payload = "{\"number\":" + std::to_string(numbers) + "}";
        one.headers = "{}";
        one.created_at = system_clock().wall();
        one.position = numbers;
        return one;
    }
    [[nodiscard]] std::vector<Message> events(std::size_t count, std::size_t aggregates) {
        std::vector<Message> all;
        for (std::size_t n = 0; n < count; ++n) all.push_back(event("o-" + std::to_string(n * 7919 % aggregates)));
        return all;
    }

    [[nodiscard]] static Instant now() { return system_clock().now(); }
    [[nodiscard]] static Deadline within(Duration limit) { return Deadline::after(now(), limit); }
    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages,
                                              Duration limit = std::chrono::seconds(20)) {
        std::vector<Status> answers = sink->publish(messages, within(limit));
        EXPECT_EQ(answers.size(), messages.size());
        answers.resize(messages.size(), fail(Fault::broken, "no answer"));
        return answers;
    }
    void expect_taken(std::span<const Message> messages) {
        const auto answers = publish(messages);
        for (std::size_t n = 0; n < answers.size(); ++n)
            ASSERT_TRUE(answers[n]) << n << ": " << answers[n].error().describe();
    }
    /// Publishes as a relay would, again and again, until each was acknowledged.
    void publish_until_taken(std::vector<Message> left) {
        const Instant limit = now() + std::chrono::seconds(40);
        std::string last;
        while (!left.empty() && now() < limit) {
            const auto answers = publish(left, std::chrono::seconds(2));
            std::vector<Message> again;
            for (std::size_t n = 0; n < left.size(); ++n)
                if (!answers[n]) again.push_back(left[n]);
            if (again.size() == left.size()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (!again.empty()) last = "not taken at last";
            for (std::size_t n = 0; n < left.size() && !again.empty(); ++n)
                if (!answers[n] && !held_back(answers[n])) last = answers[n].error().describe();
            left = std::move(again);
        }
        EXPECT_TRUE(left.empty()) << left.size() << " were never taken: " << last;
    }

    [[nodiscard]] std::vector<Arrived> arrived() {
        auto all = target->arrived();
        EXPECT_TRUE(all) << all.error().describe();
        return all ? *std::move(all) : std::vector<Arrived>{};
    }
    /// Each of them is there, those of an aggregate in their order: the first copy of each counts.
    void expect_arrived(std::span<const Message> messages) { expect_arrived(messages, arrived()); }
    static void expect_arrived(std::span<const Message> messages, const std::vector<Arrived>& all) {
        std::map<std::string, std::vector<std::string>> got;
        std::set<std::string> seen;
        for (const Arrived& one : all)
            if (const std::string& id = one.attributes.at("id"); seen.insert(id).second)
                got[one.attributes.at("subject")].push_back(id);
        std::map<std::string, std::vector<std::string>> sent;
        for (const Message& one : messages) sent[one.aggregate.type + "/" + one.aggregate.id].push_back(one.id.text());
        EXPECT_EQ(got.size(), sent.size());
        for (const auto& [aggregate, ids] : sent)
            EXPECT_EQ(got[aggregate], ids) << aggregate << ": lost or out of order";
    }
    [[nodiscard]] static bool held_back(const Status& answer) {
        return !answer && answer.error().message == behind_unacknowledged().message;
    }
    /// The heads of the aggregates got an answer that allows another try, the rest was held back.
    static void expect_none_taken(std::span<const Message> messages, const std::vector<Status>& answers) {
        std::set<std::string> begun;
        for (std::size_t n = 0; n < messages.size(); ++n) {
            ASSERT_FALSE(answers[n]) << n << " was acknowledged by nobody";
            if (begun.insert(messages[n].aggregate.id).second)
                EXPECT_TRUE(answers[n].error().fault == Fault::unavailable ||
                            answers[n].error().fault == Fault::unknown || answers[n].error().fault == Fault::throttled)
                    << n << ": " << answers[n].error().describe();
            else
                EXPECT_TRUE(held_back(answers[n])) << n << ": " << answers[n].error().describe();
        }
    }
    /// As the other side must show it.
    void expect_unchanged(const Message& sent, const std::vector<Arrived>& all) {
        for (const Arrived& one : all) {
            if (one.attributes.at("id") != sent.id.text()) continue;
            std::map<std::string, std::string> expected;
            const auto attributes = cloud_event_attributes(sent, {.source = event_source}).value();
            for (const CloudEventAttribute& attribute : attributes) expected[attribute.name] = attribute.value;
            EXPECT_EQ(one.attributes, expected);
            EXPECT_TRUE(one.payload == sent.payload)
                << one.payload.size() << " bytes instead of " << sent.payload.size() << ", or others";
            return;
        }
        ADD_FAILURE() << sent.id.text() << " did not arrive";
    }

    std::unique_ptr<SinkTarget> target;
    std::unique_ptr<Sink> sink;
    std::int64_t numbers = 0;
};

TEST_P(SinkConformance, AnswersNothingToNothing) { EXPECT_TRUE(publish({}).empty()); }

TEST_P(SinkConformance, AcknowledgesEachMessageInTheOrderOfTheBatch) {
    const auto sent = events(100, 10);
    expect_taken(sent);
    expect_arrived(sent);
}

TEST_P(SinkConformance, CarriesEveryAttributeAndEveryByteInBinaryMode) {
    Message plain = event("plain");
    Message rich = event("Grüße/7 & more");
    rich.headers =
        R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=1,b=2"})";
    rich.aggregate.version = 9'007'199'254'740'993;
    Message untold = event("without a version");
    untold.aggregate.version.reset();
    untold.tenant.clear();
    Message empty = event("empty");
    empty.payload.clear();
    Message binary = event("binary");
    binary.payload.clear();
    for (int byte = 0; byte < 256; ++byte) binary.payload += static_cast<char>(byte);
    Message large = event("large");
    large.payload = "\"" + std::string(900 * 1024, 'x') + "\"";
    const std::vector<Message> sent{plain, rich, untold, empty, binary, large};
    expect_taken(sent);
    const auto all = arrived();
    for (const Message& one : sent) expect_unchanged(one, all);
}

TEST_P(SinkConformance, CarriesEveryAttributeAndEveryByteInStructuredMode) {
    sink = open({.structured = true});
    Message plain = event("plain");
    plain.payload = "{ \"amount\" : 1.10, \"umlaut\": \"\xc3\xa4\\u00e4\" }";
    Message rich = event("Grüße/7 & more");
    rich.headers =
        R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=1,b=2"})";
    Message large = event("large");
    large.payload = "[\"" + std::string(900 * 1024, 'x') + "\"]";
    const std::vector<Message> sent{plain, rich, large};
    expect_taken(sent);
    const auto all = arrived();
    for (const Message& one : sent) expect_unchanged(one, all);
}

TEST_P(SinkConformance, KeepsTheOrderOfEachAggregateOverManyBatches) {
    const auto sent = events(3'000, 40);
    for (std::size_t from = 0; from < sent.size(); from += 250) expect_taken(std::span(sent).subspan(from, 250));
    expect_arrived(sent);
}

TEST_P(SinkConformance, TakesABatchLargerThanItsWindow) {
    sink = open({.max_in_flight = 8});
    auto sent = events(500, 100);
    for (int n = 0; n < 50; ++n) sent.push_back(event("one of many"));
    expect_taken(sent);
    expect_arrived(sent);
}

TEST_P(SinkConformance, RejectsWhatIsNotTakenAndHoldsBackWhatStandsBehindIt) {
    std::vector<Message> batch{event("a"), event("b"), event("a"), event("c"), event("a"), event("b")};
    if (!target->poison(batch[2])) GTEST_SKIP() << "the other side takes anything";
    const auto answers = publish(batch);
    EXPECT_TRUE(answers[0]) << answers[0].error().describe();
    ASSERT_FALSE(answers[2]);
    EXPECT_EQ(answers[2].error().fault, Fault::rejected) << answers[2].error().describe();
    EXPECT_TRUE(held_back(answers[4]));
    for (const std::size_t other : {1U, 3U, 5U})
        EXPECT_TRUE(answers[other]) << "of another aggregate: " << answers[other].error().describe();
    expect_arrived(std::vector{batch[0], batch[1], batch[3], batch[5]});
    expect_taken(std::vector{event("a")});
}

TEST_P(SinkConformance, RejectsWhatIsTooLargeAndLosesNothingByIt) {
    if (!target->payload_max()) GTEST_SKIP() << "nothing is too large for the other side";
    std::vector<Message> batch{event("a"), event("a"), event("b"), event("a")};
    batch[1].payload = "\"" + std::string(*target->payload_max() + 1024, 'x') + "\"";
    const auto answers = publish(batch);
    EXPECT_TRUE(answers[0]) << answers[0].error().describe();
    ASSERT_FALSE(answers[1]);
    EXPECT_EQ(answers[1].error().fault, Fault::rejected) << answers[1].error().describe();
    EXPECT_TRUE(answers[2]) << answers[2].error().describe();
    EXPECT_TRUE(held_back(answers[3]));
    expect_arrived(std::vector{batch[0], batch[2]});
    const std::vector<Message> next{event("b")};
    expect_taken(next);
}

TEST_P(SinkConformance, RejectsWhatIsNoCloudEvent) {
    std::vector<Message> batch{event("a"), event("b"), event("a")};
    batch[0].headers = "no object";
    const auto answers = publish(batch);
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().fault, Fault::rejected);
    EXPECT_TRUE(answers[1]) << answers[1].error().describe();
    EXPECT_TRUE(held_back(answers[2]));
    expect_arrived(std::vector{batch[1]});
}

TEST_P(SinkConformance, TakesARepeatAndTheOtherSideCountsItAsItDoes) {
    const auto sent = events(20, 5);
    expect_taken(sent);
    expect_taken(sent);
    const auto all = arrived();
    EXPECT_EQ(all.size(), sent.size() * target->copies_of_a_repeat());
    expect_arrived(sent, all);
}

TEST_P(SinkConformance, AnswersInTimeWhileTheOtherSideIsAwayAndGoesOnWhenItIsBack) {
    const auto first = events(10, 3);
    expect_taken(first);
    if (!target->be_away(true)) GTEST_SKIP() << "the other side is always there";
    const auto sent = events(10, 3);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const Instant begun = now();
        const auto answers = publish(sent, std::chrono::milliseconds(700));
        EXPECT_LT(now() - begun, std::chrono::milliseconds(3000)) << "the deadline was not kept";
        expect_none_taken(sent, answers);
    }
    target->be_away(false);
    publish_until_taken(sent);
    std::vector<Message> both = first;
    both.insert(both.end(), sent.begin(), sent.end());
    expect_arrived(both);
}

TEST_P(SinkConformance, AnswersInTimeWhenNothingIsAnsweredAndGoesOnWhenItIs) {
    const auto first = events(10, 3);
    expect_taken(first);
    if (!target->be_mute(true)) GTEST_SKIP() << "the other side always answers";
    const auto sent = events(10, 3);
    const Instant begun = now();
    const auto answers = publish(sent, std::chrono::milliseconds(700));
    EXPECT_LT(now() - begun, std::chrono::milliseconds(3000)) << "the deadline was not kept";
    expect_none_taken(sent, answers);
    target->be_mute(false);
    publish_until_taken(sent);
    std::vector<Message> both = first;
    both.insert(both.end(), sent.begin(), sent.end());
    expect_arrived(both);
}

TEST_P(SinkConformance, WhatWasAcknowledgedSurvivesACrashOfTheOtherSide) {
    const auto first = events(200, 20);
    expect_taken(first);
    const auto restarted = target->crash_and_restart();
    if (!restarted) GTEST_SKIP() << "the other side cannot be killed";
    ASSERT_TRUE(*restarted) << restarted->error().describe();
    const auto then = events(50, 20);
    publish_until_taken(then);
    std::vector<Message> both = first;
    both.insert(both.end(), then.begin(), then.end());
    expect_arrived(both);
}

TEST_P(SinkConformance, KeepsOrderWhenTheOtherSideCrashesInTheMiddle) {
    const auto sent = events(2'000, 25);
    std::optional<Status> restarted;
    std::jthread killer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        restarted = target->crash_and_restart();
    });
    for (std::size_t from = 0; from < sent.size(); from += 100) {
        const auto batch = std::span(sent).subspan(from, 100);
        publish_until_taken({batch.begin(), batch.end()});
    }
    killer.join();
    expect_arrived(sent);
    if (!restarted) GTEST_SKIP() << "the other side cannot be killed";
    ASSERT_TRUE(*restarted) << restarted->error().describe();
}

}  // namespace semel::conformance
