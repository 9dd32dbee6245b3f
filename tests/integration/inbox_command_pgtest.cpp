// `semel inbox …` as a person runs it, on both databases.

#include "semel/inbox/redrive_request.hpp"
#include "semel/testing/process.hpp"
#include "tests/consuming/fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <atomic>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class InboxCommand : public consuming::ConsumerTest {
protected:
    testing::Finished inbox(const std::string& verb, const std::vector<std::string>& arguments) {
        std::vector<std::string> argv{SEMEL_BINARY, "inbox", verb, "--db", address_};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto finished = testing::run({.argv = argv}, 60s);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : testing::Finished();
    }
    Json json(const std::string& verb, std::vector<std::string> arguments, int code = 0) {
        arguments.emplace_back("--json");
        const auto done = inbox(verb, arguments);
        EXPECT_EQ(done.exit.code, code) << verb << ": " << done.output << done.error_output;
        return Json::parse(done.output, nullptr, false);
    }
    /// A consumer that refuses everything while it is told to.
    [[nodiscard]] std::unique_ptr<Consumer> stubborn(const std::string& name = "billing") {
        ConsumerOptions options = consuming::quick_options(name);
        options.rules.redrive_poll = 50ms;
        return consumer(source, options, [this](ConsumerWork& work) -> Status {
            if (refuses) return fail(Fault::rejected, "there is no such order");
            return consuming::note_effect(work);
        });
    }
    void park(const std::vector<std::string>& ids) {
        const auto one = stubborn();
        for (const std::string& id : ids) source.send(consuming::message(id, id, R"({"n":1})"));
        work_off(*one, source);
        one->stop();
    }
    [[nodiscard]] RedriveRequests requests() { return RedriveRequests::of(*database, "billing").value(); }
    void ask(const std::string& id, const std::string& actor = "ann") {
        EXPECT_TRUE(requests().ask(id, actor, soon()).value());
    }
    std::atomic<bool> refuses = true;
};

TEST_P(InboxCommand, TellsWhatIsParkedAndWhy) {
    EXPECT_THAT(inbox("parked", {}).output, HasSubstr("nothing is parked"));
    park({"m-1"});
    park({"m-2"});
    const Json counts = json("parked", {});
    ASSERT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts[0]["consumer"], "billing");
    EXPECT_EQ(counts[0]["parked"], 2);
    const Json listed = json("parked", {"--consumer", "billing", "--limit", "1"});
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["id"], "m-1");
    EXPECT_EQ(listed[0]["attempts"], 3);
    EXPECT_THAT(listed[0]["reason"].get<std::string>(), HasSubstr("there is no such order"));
    EXPECT_FALSE(listed[0].contains("payload"));
    EXPECT_TRUE(json("parked", {"--consumer", "shipping"}).empty());
    const Json whole = json("parked", {"--consumer", "billing", "m-2"});
    EXPECT_EQ(whole["payload"], R"({"n":1})");
    EXPECT_EQ(whole["topic"], "orders");
    EXPECT_TRUE(json("parked", {"--consumer", "billing", "m-3"}, 1).is_null());
    EXPECT_THAT(inbox("parked", {"--consumer", "billing"}).output, AllOf(HasSubstr("m-1 "), HasSubstr("m-2 ")));
    EXPECT_EQ(inbox("parked", {"m-2"}).exit.code, 2) << "an id without a consumer says nothing";
}

TEST_P(InboxCommand, TheConsumerHandlesWhatAPersonAsksFor) {
    park({"m-1", "m-2", "m-3"});
    refuses = false;
    const auto running = stubborn();
    running->start();
    const Json done = json("redrive", {"--consumer", "billing", "m-2", "m-1", "--wait", "30s"});
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(done[0]["id"], "m-2");
    EXPECT_EQ(done[0]["state"], "processed");
    EXPECT_EQ(done[1]["state"], "processed");
    running->stop();
    expect_each_once(2);
    EXPECT_EQ(json("parked", {"--consumer", "billing"}).size(), 1U) << "what nobody asked for stays";
}

TEST_P(InboxCommand, WhatFailsAgainStaysParkedWithItsNewReason) {
    park({"m-1"});
    ConsumerOptions options = consuming::quick_options();
    options.rules.redrive_poll = 50ms;
    const auto running = consumer(
        source, options, [](ConsumerWork&) -> Status { return fail(Fault::rejected, "the order is still missing"); });
    running->start();
    const auto done = inbox("redrive", {"--consumer", "billing", "m-1", "--wait", "30s"});
    running->stop();
    EXPECT_EQ(done.exit.code, 1);
    EXPECT_THAT(done.output, AllOf(HasSubstr("m-1 stays parked"), HasSubstr("the order is still missing")));
    EXPECT_EQ(json("parked", {"--consumer", "billing", "m-1"})["attempts"], 4);
    EXPECT_TRUE(effects().empty());
}

TEST_P(InboxCommand, SaysWhenNothingWasDoneOrNobodyHasTakenItYet) {
    park({"m-1"});
    const Json unknown = json("redrive", {"--consumer", "billing", "m-9"}, 1);
    EXPECT_EQ(unknown[0]["state"], "not_parked");
    EXPECT_EQ(json("redrive", {"--consumer", "shipping", "m-1"}, 1)[0]["state"], "not_parked");
    EXPECT_EQ(json("redrive", {"--consumer", "billing", "m-1", "--wait", "0s"}, 1)[0]["state"], "asked");
    EXPECT_THAT(inbox("redrive", {"--consumer", "billing", "m-1", "--wait", "300ms"}).output,
                HasSubstr("no consumer of that name has taken it so far"));
    EXPECT_EQ(inbox("redrive", {"--consumer", "billing", "m-1", "--wait", "soon"}).exit.code, 3);
    EXPECT_EQ(inbox("redrive", {"--consumer", "billing"}).exit.code, 2);
    EXPECT_EQ(inbox("redrive", {"m-1"}).exit.code, 2);
    // And the consumer takes it when it comes.
    refuses = false;
    EXPECT_EQ(stubborn()->redrive_requested().value(), 1U);
    expect_each_once(1);
    EXPECT_TRUE(json("parked", {}).empty());
}

TEST_P(InboxCommand, OneThatNeverEndedIsTakenAgainWhenItsTimeIsUp) {
    park({"m-1"});
    ask("m-1", "ann");
    EXPECT_EQ(requests().look("m-1", soon()).value()->asked_by, "ann");
    // As a process that died.
    EXPECT_EQ(requests().take(2s, soon()).value()->message_id, "m-1");
    refuses = false;
    EXPECT_EQ(stubborn()->redrive_requested().value(), 0U);
    EXPECT_TRUE(requests().look("m-1", soon()).value()->begun);
    const auto later = stubborn();
    EXPECT_TRUE(consuming::eventually([&] { return later->redrive_requested().value() == 1U; }));
    expect_each_once(1);
}

TEST_P(InboxCommand, OneThatKeepsKillingItsProcessIsOverUntilSomeoneAsks) {
    park({"m-1"});
    ask("m-1");
    for (int n = 1; n <= 3; ++n) EXPECT_EQ(requests().take(0s, soon()).value()->begun, n);
    refuses = false;
    EXPECT_EQ(stubborn()->redrive_requested().value(), 1U);
    EXPECT_TRUE(effects().empty()) << "its handler did not run";
    EXPECT_FALSE(requests().look("m-1", soon()).value());
    EXPECT_THAT(json("parked", {"--consumer", "billing", "m-1"})["reason"].get<std::string>(),
                HasSubstr("begun 3 times without an end"));
    ask("m-1");
    EXPECT_EQ(stubborn()->redrive_requested().value(), 1U);
    expect_each_once(1);
}

TEST_P(InboxCommand, ARequestWaitsWhileWhatTheHandlerNeedsIsAway) {
    park({"m-1"});
    ask("m-1");
    const auto away = consumer(source, consuming::quick_options(),
                               [](ConsumerWork&) -> Status { return fail(Fault::unavailable, "no tax office"); });
    EXPECT_FALSE(away->redrive_requested());
    EXPECT_EQ(json("parked", {"--consumer", "billing", "m-1"})["attempts"], 3) << "nobody is to blame";
    EXPECT_EQ(away->redrive_requested().value(), 0U) << "not at once";
    const auto request = requests().look("m-1", soon()).value();
    ASSERT_TRUE(request);
    EXPECT_FALSE(request->begun);
    EXPECT_EQ(request->put_back, 1);
    refuses = false;
    const auto later = stubborn();
    EXPECT_TRUE(consuming::eventually([&] { return later->redrive_requested().value() == 1U; }));
    expect_each_once(1);
}

TEST_P(InboxCommand, OneThatCannotBeDoneNowHoldsUpNoOther) {
    park({"m-1", "m-2", "m-3"});
    for (const char* id : {"m-1", "m-2", "m-3"}) ask(id);
    const auto one = consumer(source, consuming::quick_options(), [](ConsumerWork& work) -> Status {
        if (work.message.id == "m-1") return fail(Fault::unavailable, "no tax office");
        return consuming::note_effect(work);
    });
    const auto run = one->redrive_requested();
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().message, AllOf(HasSubstr("m-1"), HasSubstr("no tax office")));
    expect_each_once(2);
}

TEST_P(InboxCommand, AHandlerThatRunsOutOfTimeEndsTheRequest) {
    park({"m-1"});
    ask("m-1");
    ConsumerOptions options = consuming::quick_options();
    options.handle_limit = 300ms;
    const auto slow = consumer(source, options, [this](ConsumerWork& work) -> Status {
        database->clock().sleep(database->clock().now() + 400ms, {});
        return consuming::note_effect(work);
    });
    const auto run = slow->redrive_requested();
    EXPECT_TRUE(run) << run.error().describe();
    EXPECT_FALSE(requests().look("m-1", soon()).value());
    const Json kept = json("parked", {"--consumer", "billing", "m-1"});
    EXPECT_THAT(kept["reason"].get<std::string>(), HasSubstr("ran out of its handle_limit"));
    EXPECT_EQ(kept["attempts"], 4);
    EXPECT_TRUE(effects().empty());
}

TEST_P(InboxCommand, WhatAHandlerSaysTooLateIsSaidAllTheSame) {
    park({"m-1"});
    const auto slow = consumer(source, consuming::quick_options(), [this](ConsumerWork& work) -> Status {
        SEMEL_TRY(work.tx.flush());
        database->clock().sleep(database->clock().now() + 400ms, {});
        return fail(Fault::rejected, "the order was deleted");
    });
    const auto verdict = slow->redrive("m-1", Deadline::after(database->clock().now(), 300ms));
    ASSERT_FALSE(verdict);
    EXPECT_THAT(verdict.error().message, HasSubstr("the order was deleted"));
    EXPECT_THAT(json("parked", {"--consumer", "billing", "m-1"})["reason"].get<std::string>(),
                HasSubstr("the order was deleted"));
}

TEST_P(InboxCommand, ARequestIsPutBackWhereNoHandlerRan) {
    park({"m-1"});
    ask("m-1");
    refuses = false;
    run(sqlite() ? "ALTER TABLE semel_inbox_parked RENAME TO semel_inbox_gone"
                 : "ALTER TABLE semel.inbox_parked RENAME TO inbox_gone");
    EXPECT_FALSE(stubborn()->redrive_requested());
    run(sqlite() ? "ALTER TABLE semel_inbox_gone RENAME TO semel_inbox_parked"
                 : "ALTER TABLE semel.inbox_gone RENAME TO inbox_parked");
    EXPECT_FALSE(requests().look("m-1", soon()).value()->begun);
    const auto later = stubborn();
    EXPECT_TRUE(consuming::eventually([&] { return later->redrive_requested().value() == 1U; }));
    expect_each_once(1);
}

TEST_P(InboxCommand, WhoeverTookARequestEndsNoneThatWasAskedSince) {
    park({"m-1"});
    ask("m-1", "ann");
    const auto old = requests().take(1min, soon()).value();
    ask("m-1", "bob");
    EXPECT_TRUE(requests().end(*old, soon()));
    EXPECT_TRUE(requests().put_back(*old, 1min, soon()));
    const auto asked = requests().look("m-1", soon()).value();
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->asked_by, "bob");
    const auto taken = requests().take(0s, soon()).value();
    ASSERT_TRUE(taken) << "it waits for nobody";
    EXPECT_EQ(taken->begun, 1);
    // The same for one whose time was up, and that another consumer has taken since.
    const auto newer = requests().take(1min, soon()).value();
    ASSERT_TRUE(newer);
    EXPECT_TRUE(requests().end(*taken, soon()));
    EXPECT_TRUE(requests().look("m-1", soon()).value());
    EXPECT_TRUE(requests().end(*newer, soon()));
    EXPECT_FALSE(requests().look("m-1", soon()).value());
}

TEST_P(InboxCommand, ARequestGoesWithItsMessage) {
    park({"m-1"});
    ask("m-1");
    refuses = false;
    EXPECT_EQ(stubborn()->redrive("m-1", soon()).value(), InboxVerdict::fresh);
    EXPECT_FALSE(requests().look("m-1", soon()).value()) << "in the same transaction";
}

TEST_P(InboxCommand, WhatIsNoLongerParkedIsNotParkedByARedriveThatFails) {
    park({"m-1"});
    ask("m-1");
    const auto store = ParkedMessages::of(*database, "billing").value();
    const auto one = consumer(source, consuming::quick_options(), [&](ConsumerWork&) -> Status {
        // As another process that is faster, and whose inbox row was forgotten since.
        const auto removed = transact(*database, [&](Transaction& tx) -> Status {
            store.remove(tx, "m-1");
            return {};
        });
        EXPECT_TRUE(removed.committed());
        return fail(Fault::rejected, "there is no such order");
    });
    EXPECT_EQ(one->redrive_requested().value(), 1U);
    EXPECT_TRUE(json("parked", {}).empty());
}

TEST_P(InboxCommand, WhoeverStopsTheConsumerDoesNotWaitForTheRetriesOfARedrive) {
    park({"m-1"});
    ask("m-1");
    DatabaseOptions patient;
    patient.catalogue = driver_.catalogue;
    patient.retry = Policy::create({.base = 20s, .cap = 20s, .throttled_base = 20s, .jitter = Jitter::none}).value();
    const auto other = Database::create(driver_.connect, patient).value();
    ConsumerOptions options = consuming::quick_options();
    options.rules.redrive_poll = 10ms;
    std::atomic<int> calls = 0;
    const auto running = Consumer::create(*other, source, options, [&](ConsumerWork&) -> Status {
                             ++calls;
                             return fail(Fault::conflict, "lost a race");
                         }).value();
    running->start();
    EXPECT_TRUE(consuming::eventually([&] { return calls > 0; }));
    const Instant begun = now();
    running->stop();
    EXPECT_LT(now() - begun, 10s);
    EXPECT_EQ(calls, 1);
    const auto request = requests().look("m-1", soon()).value();
    ASSERT_TRUE(request);
    EXPECT_FALSE(request->begun) << "the next consumer takes it";
    EXPECT_EQ(json("parked", {"--consumer", "billing", "m-1"})["attempts"], 3) << "nobody is to blame";
}

TEST_P(InboxCommand, WhatIsWrongForLongIsSaidOnce) {
    std::atomic<int> warnings = 0;
    set_log_sink([&](LogLevel level, std::string_view line) {
        if (level == LogLevel::warning && line.find("take a request to redrive") != line.npos) ++warnings;
    });
    run(sqlite() ? "ALTER TABLE semel_inbox_redrive RENAME TO semel_inbox_gone"
                 : "ALTER TABLE semel.inbox_redrive RENAME TO inbox_gone");
    ConsumerOptions options = consuming::quick_options();
    options.rules.redrive_poll = 10ms;
    const auto running = consumer(source, options);
    running->start();
    EXPECT_TRUE(consuming::eventually([&] { return warnings > 0; }));
    database->clock().sleep(database->clock().now() + 300ms, {});
    running->stop();
    set_log_sink({});
    EXPECT_EQ(warnings, 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, InboxCommand,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres),
                         conformance::target_name);

}  // namespace
}  // namespace semel::integration
