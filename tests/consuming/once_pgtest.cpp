// However often and in whatever way a message is delivered, it has one effect, and messages of one key keep their order.

#include "semel/inbox/retention.hpp"
#include "tests/consuming/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

class ConsumerOnce : public ConsumerTest {};

TEST_P(ConsumerOnce, ADuplicateIsAcknowledgedAndHasNoEffect) {
    const auto one = consumer(source);
    for (int n = 0; n < 3; ++n) source.send(message("m"));
    work_off(*one, source);
    expect_each_once(1);
    EXPECT_EQ(one->report().processed, 1U);
    EXPECT_EQ(one->report().duplicates, 2U);
}

TEST_P(ConsumerOnce, ALostAcknowledgementBringsADuplicateThatDoesNotReachTheHandler) {
    int calls = 0;
    const auto one = consumer(source, quick_options(), [&](ConsumerWork& work) {
        ++calls;
        return note_effect(work);
    });
    source.play({.lose_acknowledgement = 100});
    source.send(message("m"));
    one->run_until_idle();
    source.play({});
    source.disconnect();
    work_off(*one, source);
    expect_each_once(1);
    EXPECT_EQ(calls, 1) << "what the broker marks as redelivered is looked for first";
    EXPECT_EQ(one->report().duplicates, 1U);
    EXPECT_EQ(attempt_rows(), 0);
}

TEST_P(ConsumerOnce, EachConsumerHasAnInboxOfItsOwn) {
    ScriptedSource other_source;
    const auto one = consumer(source);
    const auto other = consumer(other_source, quick_options("fulfilment"));
    source.send(message("m"));
    other_source.send(message("m"));
    work_off(*one, source);
    work_off(*other, other_source);
    EXPECT_EQ(effects().size(), 2U) << "a message is not lost because another consumer has had it";
}

TEST_P(ConsumerOnce, TheHandlersEventsCommitWithItsChange) {
    const auto one = consumer(source, quick_options(), [](ConsumerWork& work) -> Status {
        work.outbox.append({.aggregate = {.type = "invoice", .id = work.message.id}, .type = "sent", .payload = "{}"});
        return note_effect(work);
    });
    for (int n = 0; n < 2; ++n) source.send(message("m"));
    work_off(*one, source);
    EXPECT_EQ(
        sqlite() ? count("SELECT count(*) FROM semel_outbox_event") : count("SELECT count(*) FROM semel.outbox_event"),
        1);
}

TEST_P(ConsumerOnce, AHandlerThatReadsSeesTheDuplicateAtItsFirstRead) {
    std::atomic<int> read = 0;
    const auto one = consumer(source, quick_options(), [&](ConsumerWork& work) -> Status {
        // A handler that swallows the refusal does not get past it.
        if (work.tx.execute("SELECT 1")) ++read;
        return note_effect(work);
    });
    for (int n = 0; n < 2; ++n) source.send(message("m"));
    work_off(*one, source);
    EXPECT_EQ(read, 1);
    expect_each_once(1);
    EXPECT_EQ(one->report().duplicates, 1U);
}

TEST_P(ConsumerOnce, ABusinessKeyCatchesTheSameFactUnderAnotherId) {
    ConsumerOptions options = quick_options();
    options.business_key = [](const ReceivedMessage& received) { return received.key; };
    const auto one = consumer(source, options);
    source.send(message("first", "payment-7", R"({"amount":10,"currency":"EUR"})"));
    source.send(message("again", "payment-7", R"({"currency":"EUR", "amount":10.0})"));
    source.send(message("first", "payment-7", R"({"amount":10,"currency":"EUR"})"));
    work_off(*one, source);
    expect_each_once(1);
    EXPECT_EQ(one->report().same_facts, 1U);
    EXPECT_EQ(one->report().duplicates, 1U) << "both keys are violated: it is the same message";
}

TEST_P(ConsumerOnce, ABusinessKeyThatStandsForSomethingElseIsReportedAndNotSkipped) {
    ConsumerOptions options = quick_options();
    options.business_key = [](const ReceivedMessage& received) { return received.key; };
    const auto one = consumer(source, options);
    source.send(message("first", "payment-7", R"({"amount":10})"));
    source.send(message("other", "payment-7", R"({"amount":11})"));
    work_off(*one, source);
    expect_each_once(1);
    EXPECT_EQ(one->report().conflicts, 1U);
    const auto parked = one->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_EQ(parked[0].message, message("other", "payment-7", R"({"amount":11})")) << "whole";
    EXPECT_NE(parked[0].reason.find("business key"), std::string::npos) << parked[0].reason;
    EXPECT_EQ(one->redrive("other", soon()).value(), InboxVerdict::conflict);
    EXPECT_EQ(one->parked().list(10, soon()).value().size(), 1U);
}

TEST_P(ConsumerOnce, TheInboxKeepsWhatIsKnownOfAMessage) {
    const auto one = consumer(source);
    ReceivedMessage full = message("m", "k", R"({"a":1})");
    full.partition = 3;
    full.offset = 44;
    full.version = "2";
    source.send(full);
    work_off(*one, source);
    EXPECT_EQ(sqlite()
                  ? count("SELECT count(*) FROM semel_inbox_message WHERE consumer = 'billing' AND message_id = 'm'"
                          " AND tenant = 'shop' AND topic = 'orders' AND source_partition = 3 AND source_offset = 44"
                          " AND type = 'changed' AND version = '2' AND length(payload_hash) = 32")
                  : count("SELECT count(*) FROM semel.inbox_message WHERE consumer = 'billing' AND message_id = 'm'"
                          " AND tenant = 'shop' AND topic = 'orders' AND source_partition = 3 AND source_offset = 44"
                          " AND type = 'changed' AND version = '2' AND length(payload_hash) = 32"),
              1);
}

TEST_P(ConsumerOnce, RetentionIsTheWindowInWhichARepeatIsKnown) {
    const auto one = consumer(source);
    for (int n = 0; n < 5; ++n) source.send(message("m" + std::to_string(n)));
    work_off(*one, source);
    EXPECT_EQ(apply_inbox_retention(*database, {}, soon()).value().messages, 0);
    EXPECT_EQ(inbox_rows(), 5);
    EXPECT_EQ(apply_inbox_retention(*database, {.window = 0s, .batch = 2}, soon()).value().messages, 5);
    EXPECT_EQ(inbox_rows(), 0);
    source.send(message("m0"));
    work_off(*one, source);
    EXPECT_EQ(effect_counts()["m0"], 2) << "past the window it is as good as new";
}

TEST_P(ConsumerOnce, OfManyConsumersAtOnceUnderEveryMischiefEachEffectHappensOnceAndInOrder) {
    constexpr int keys = 20;
    constexpr int each = 30;
    source.play({.duplicate = 20, .lose_acknowledgement = 10, .refuse_acknowledgement = 10, .shuffle = true});
    for (int n = 0; n < each; ++n)
        for (int key = 0; key < keys; ++key)
            source.send(message(std::to_string(key) + "-" + std::to_string(n), std::to_string(key)));
    const auto one = consumer(source);
    one->start();
    ASSERT_TRUE(eventually([&] { return source.waiting() == 0; }));
    source.play({});
    ASSERT_TRUE(eventually([&] {
        source.disconnect();
        std::this_thread::sleep_for(20ms);
        return source.empty();
    }));
    one->stop();
    expect_each_once(keys * each);
    std::map<std::string, int> newest;
    for (const auto& [id, key] : effects()) {
        const int number = std::stoi(id.substr(id.find('-') + 1)) + 1;
        EXPECT_GT(number, newest[key]) << "key " << key << " out of order";
        newest[key] = number;
    }
    const ConsumerReport report = one->report();
    EXPECT_EQ(report.processed, static_cast<std::uint64_t>(keys * each));
    EXPECT_GT(report.duplicates, 0U);
    EXPECT_EQ(report.parked, 0U);
    std::printf("%d messages, %llu deliveries, %llu duplicates\n", keys * each,
                static_cast<unsigned long long>(report.received), static_cast<unsigned long long>(report.duplicates));
}

TEST_P(ConsumerOnce, TwoConsumersThatGetTheSameMessagesHaveOneEffectBetweenThem) {
    ScriptedSource other_source;
    for (int n = 0; n < 100; ++n) {
        source.send(message(std::to_string(n)));
        other_source.send(message(std::to_string(n)));
    }
    const auto one = consumer(source);
    const auto other = consumer(other_source);
    one->start();
    other->start();
    EXPECT_TRUE(eventually([&] { return source.empty() && other_source.empty(); }));
    one->stop();
    other->stop();
    expect_each_once(100);
    EXPECT_EQ(one->report().processed + other->report().processed, 100U);
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerOnce, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::consuming
