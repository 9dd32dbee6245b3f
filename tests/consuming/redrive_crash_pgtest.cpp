// A process is killed before and after every durable step of a message's way into the parked ones and out of them. What it
// leaves behind is exactly what was committed, and the next process brings it to one effect: the message is parked or
// processed, never neither; a request stays until it has ended; whoever has died holds it no longer than its lease.

#include "semel/inbox/retention.hpp"
#include "semel/testing/process.hpp"
#include "tests/consuming/crash_steps.hpp"
#include "tests/consuming/file_broker.hpp"
#include "tests/consuming/redrive_fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

constexpr const char* step_address = "SEMEL_STEP_TEST_ADDRESS";
constexpr const char* step_broker = "SEMEL_STEP_TEST_BROKER";
constexpr const char* step_name = "SEMEL_STEP_TEST_NAME";
constexpr const char* step_does = "SEMEL_STEP_TEST_DOES";
constexpr const char* step_answer = "SEMEL_STEP_TEST_ANSWER";

ConsumerHandler handler_that_says(const std::string& answer) {
    if (answer == "bad") return says_bad;
    if (answer == "away") return says_away;
    return note_effect;
}

/// The child: does its part until it is killed.
TEST(ConsumerStep, DISABLED_IsTheChild) {
    const std::string name = std::getenv(step_name);
    const std::string does = std::getenv(step_does);
    auto opened = open(std::getenv(step_address)).value();
    Database& database = *opened.database;
    const Deadline deadline = Deadline::after(database.clock().now(), 20s);
    FileBroker broker(std::getenv(step_broker));
    const auto one =
        Consumer::create(database, broker, redrive_options(name), handler_that_says(std::getenv(step_answer))).value();
    if (does == "ask") std::ignore = RedriveRequests::of(database, name).value().ask(name, "ann", deadline);
    if (does == "redrive") std::ignore = one->redrive(name, deadline);
    if (does == "redrive asked") std::ignore = one->redrive_requested();
    if (does == "forget") std::ignore = apply_inbox_retention(database, {.window = 0s, .batch = 2}, deadline);
    while (does == "consume" && !broker.done() && !deadline.passed(database.clock().now())) one->run_until_idle();
}

class ConsumerCrashSteps : public RedriveTest {
protected:
    void kill_at(const std::string& place, const std::string& name, const std::string& does, const std::string& answer,
                 int visit = 1) {
        testing::Command child;
        child.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                      "--gtest_filter=ConsumerStep.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                      "--gtest_brief=1"};
        child.environment = {
            std::string(step_address) + "=" + address_, std::string(step_broker) + "=" + broker_of(name).string(),
            std::string(step_name) + "=" + name,        std::string(step_does) + "=" + does,
            std::string(step_answer) + "=" + answer,    "SEMEL_FAILPOINTS=" + place + "=kill@" + std::to_string(visit)};
        const auto ended = testing::run(child, 60s);
        ASSERT_TRUE(ended) << ended.error().describe();
        EXPECT_EQ(ended->exit.signal, SIGKILL) << place << " was never reached: " << ended->output;
    }
    [[nodiscard]] std::filesystem::path broker_of(const std::string& name) const { return brokers_.path() / name; }

    void prepare(const CrashStep& step) {
        if (step.begins == "redelivered") {
            FileBroker broker(broker_of(step.place));
            broker.send(message(step.place));
            EXPECT_EQ(broker.receive(1, soon()).value().size(), 1U) << "and nobody acknowledges it";
            return;
        }
        park(step.place);
        if (step.begins.starts_with("asked")) ask(step.place);
        if (step.begins.ends_with("effect")) {  // Someone sent it again, as new.
            const auto one = redriver(step.place);
            source.send(message(step.place));
            work_off(*one, source);
        }
        if (step.begins == "asked 0/0") {  // Its request came when it was just being processed.
            const Sql removal = sqlite() ? Sql("DELETE FROM semel_inbox_parked WHERE consumer = $1")
                                         : Sql("DELETE FROM semel.inbox_parked WHERE consumer = $1");
            const auto removed = transact(*database, [&](Transaction& tx) -> Status {
                tx.post(removal, step.place);
                return {};
            });
            EXPECT_TRUE(removed.committed());
        }
        EXPECT_EQ(there_is_of(step.place), step.begins);
    }
    /// By a process that lives: nobody is to do anything about it but ask.
    void recover(const CrashStep& step) {
        const std::string& name = step.place;
        FileBroker broker(broker_of(name));
        const auto healthy = consumer(broker, redrive_options(name));
        EXPECT_TRUE(eventually([&] {
            healthy->run_until_idle();
            return broker.done();
        })) << name;
        if (const bool taken = step.leaves.starts_with("taken"); taken || step.leaves.starts_with("asked 0/1")) {
            pass(name, (taken ? redrive_lease : redrive_pause) - 12s);
            EXPECT_EQ(healthy->redrive_requested().value(), 0U) << name << ": nobody else takes it meanwhile";
            EXPECT_EQ(there_is_of(name), step.leaves);
            pass(name, 12s);
        }
        if (there_is_of(name).starts_with("parked")) ask(name);
        const std::string before = there_is_of(name);
        const bool asked = before.starts_with("asked") || before.starts_with("taken");
        // The server may not have noticed yet that the process died, and with it the transaction that held the request.
        std::size_t redriven = 0;
        EXPECT_TRUE(eventually([&] {
            redriven += healthy->redrive_requested().value();
            return redriven == (asked ? 1U : 0U);
        })) << name;
        EXPECT_EQ(there_is_of(name), step.begins == "asked 0/0" ? "" : "effect") << name;
    }

    testing::TempDir brokers_ = testing::TempDir::make("redrive-crash").value();
};

TEST_P(ConsumerCrashSteps, LeaveWhatWasCommittedAndTheNextProcessBringsItToOneEffect) {
    for (const CrashStep& step : crash_steps) {
        prepare(step);
        kill_at(step.place, step.place, step.does, step.answer);
        EXPECT_EQ(there_is_of(step.place), step.leaves) << step.place;
        recover(step);
        if (HasFailure()) return;
    }
}

TEST_P(ConsumerCrashSteps, AProcessThatDiesEachTimeHasThreeTriesAndTheMessageStaysParked) {
    park("killer");
    ask("killer");
    for (const char* died : {"taken 1/0, parked 3", "taken 2/0, parked 3", "taken 3/0, parked 3"}) {
        kill_at("consumer.before_commit", "killer", "redrive asked", "good");
        EXPECT_EQ(there_is_of("killer"), died);
        pass("killer", redrive_lease);
    }
    EXPECT_EQ(redriver("killer")->redrive_requested().value(), 1U);
    EXPECT_EQ(there_is_of("killer"), "parked 3");
    EXPECT_NE(reason_of("killer").find("begun 3 times"), std::string::npos) << reason_of("killer");
}

TEST_P(ConsumerCrashSteps, OfRetentionLeaveTheBatchesThatAreDone) {
    for (const std::string& place : retention_places) {
        park("parked");
        const auto one = redriver("billing");
        for (int n = 0; n < 5; ++n) source.send(message(place + std::to_string(n)));
        work_off(*one, source);
        // Before the second batch is committed, or after the first is: the same.
        kill_at(place, "billing", "forget", "good", place == "inbox.before_forget" ? 2 : 1);
        EXPECT_EQ(inbox_rows(), 3) << place;
        // Again and again: what the dead one was about to forget is skipped until the server notices that it died.
        std::int64_t forgotten = 0;
        EXPECT_TRUE(eventually([&] {
            forgotten += apply_inbox_retention(*database, {.window = 0s, .batch = 2}, soon()).value().messages;
            return inbox_rows() == 0;
        })) << place;
        EXPECT_EQ(forgotten, 3) << place;
        EXPECT_EQ(there_is_of("parked"), "parked 3") << place;
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerCrashSteps, ::testing::Values(Target::sqlite, Target::postgres),
                         target_name);

}  // namespace
}  // namespace semel::consuming
