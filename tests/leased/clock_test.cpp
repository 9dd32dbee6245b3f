// Leases and calls against a clock that moves when it is told to.

#include "semel/base/failpoint.hpp"
#include "semel/command/accept.hpp"
#include "semel/command/sweeper.hpp"
#include "semel/command/worker.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/manual_clock.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/leased/bank.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace semel::leased {
namespace {

using std::chrono::seconds;
using Does = Bank::Does;

class LeasedClock : public ::testing::Test {
protected:
    explicit LeasedClock(testing::ManualClock::Waiting waiting = testing::ManualClock::Waiting::jumps)
        : clock(waiting) {}

    void SetUp() override {
        const std::string address = "sqlite:" + (directory_.path() / "store.db").string();
        DatabaseOptions how;
        auto opened = open(address, how, clock);
        ASSERT_TRUE(opened) << opened.error().describe();
        database = std::move(opened->database);
        const auto migrated = migrate(*database, "semel", opened->schema, {});
        ASSERT_TRUE(migrated) << migrated.error().describe();
        executor = Executor::create(*database, {.cache_bytes = 0}).value();
    }

    void handle(LeasedHandler handler) {
        LeasedOptions options;
        options.lease = seconds(30);
        options.ask.grace = seconds(5);
        ASSERT_TRUE(operations.add("transfer", std::move(handler), options));
        leased = LeasedExecutor::create(*executor, operations).value();
    }

    /// Calls the bank, which has 5 seconds to be begun and 30 to be done.
    void transfers(Bank& bank) {
        handle([&bank](LeasedWork& work) -> Result<Finish> {
            const CallResponse response = SEMEL_TRY(work.call("move", bank.integration(), "k", "5"));
            return Finish(Reply{.status = 201, .body = response.body});
        });
    }

    Outcome<Answer> execute() { return leased->execute(command_, bytes_of("5")); }
    SweepReport sweep() { return Sweeper(*leased).sweep().value(); }

    testing::ManualClock clock;
    testing::TempDir directory_ = testing::TempDir::make("leased-clock").value();
    std::unique_ptr<Database> database;
    std::unique_ptr<Executor> executor;
    Operations operations;
    std::unique_ptr<LeasedExecutor> leased;
    Command command_{.identity = Identity::of("shop", "web", "transfer", "k").value(),
                     .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of("5"))},
                     .deadline = Deadline::never()};
};

TEST_F(LeasedClock, ACallWhoseIntentWasStoredTooLateIsNotBegunAndStoredAnew) {
    Bank bank(Capability::neither);
    transfers(bank);
    int intents = 0;
    int not_begun = 0;
    const failpoint::Hook hook([&](std::string_view name) {
        if (name == "call.after_intent" && ++intents == 1) clock.advance(seconds(5));
        if (name == "call.not_begun") ++not_begun;
    });
    const auto outcome = execute();
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(intents, 2);
    EXPECT_EQ(not_begun, 1);
    EXPECT_EQ(bank.requests(), 1);
}

TEST_F(LeasedClock, ACallIsNeverBegunAfterTheMomentThatItsIntentNames) {
    Bank bank(Capability::neither);
    transfers(bank);
    const failpoint::Hook hook([&](std::string_view name) {
        if (name == "call.after_intent") clock.advance(seconds(6));
    });
    const auto outcome = execute();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::unavailable);
    EXPECT_EQ(bank.requests(), 0);
}

TEST_F(LeasedClock, ACallIsGivenNoMoreTimeThanItsIntentNames) {
    Integration slow{.name = "bank", .capability = Capability::neither};
    Duration given{};
    slow.perform = [&](const CallRequest&, Deadline deadline) -> Result<CallResponse> {
        given = deadline.remaining(clock.now());
        return CallResponse{};
    };
    handle([&slow](LeasedWork& work) -> Result<Finish> {
        SEMEL_TRY(work.call("move", slow, "k", "5"));
        return Finish(Reply{});
    });
    ASSERT_TRUE(execute().committed());
    EXPECT_LE(given, seconds(35));
    EXPECT_GT(given, seconds(30));
}

TEST_F(LeasedClock, ALeaseIsSweptWhenItIsOverAndNotBefore) {
    Bank bank(Capability::takes_key);
    bank.script({Does::job_unheard});
    transfers(bank);
    EXPECT_TRUE(execute().unknown());
    // The call is over 35 s after its intent, and its grace 5 s later.
    clock.advance(seconds(39));
    EXPECT_EQ(sweep().total(), 0);
    clock.advance(seconds(2));
    EXPECT_EQ(sweep().finished, 1);
    EXPECT_EQ(bank.requests(), 2);
    EXPECT_EQ(bank.effects(), 1);
}

TEST_F(LeasedClock, AHandlerThatKeepsSilentForLongLosesItsLeaseUnlessItRenewsIt) {
    int runs = 0;
    bool renews = false;
    handle([&](LeasedWork& work) -> Result<Finish> {
        ++runs;
        if (runs > 1) return Finish(Reply{.status = 200, .body = "second"});
        for (int i = 0; i < 3; ++i) {
            clock.advance(seconds(20));
            if (renews) SEMEL_TRY(work.renew());
            EXPECT_EQ(sweep().finished, !renews && i == 1 ? 1 : 0) << i;
        }
        return Finish(Reply{.status = 200, .body = "first"});
    });
    const auto lost = execute();
    ASSERT_TRUE(lost.committed());
    EXPECT_EQ(lost.value().reply.body, "second") << "whoever took over was faster, and is replayed";
    EXPECT_EQ(lost.value().standing, Standing::replayed);
    renews = true;
    runs = 0;
    command_.identity = Identity::of("shop", "web", "transfer", "other").value();
    EXPECT_EQ(execute().value().reply.body, "first");
    EXPECT_EQ(runs, 1);
}

TEST_F(LeasedClock, ARepeatWhoseIntentWasStoredTooLateLeavesTheCallInDoubt) {
    Bank bank(Capability::takes_key);
    bank.script({Does::job_unheard});
    transfers(bank);
    EXPECT_TRUE(execute().unknown());
    clock.advance(seconds(41));
    {
        const failpoint::Hook hook([&](std::string_view name) {
            if (name == "call.after_intent") clock.advance(seconds(6));
        });
        EXPECT_EQ(sweep().unfinished, 1);
    }
    EXPECT_EQ(bank.requests(), 1);
    const auto open = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
        return SEMEL_TRY(tx.execute("SELECT count(*) FROM semel_call WHERE status = 'unknown'")).scalar<std::int64_t>();
    });
    EXPECT_EQ(open.value(), 1) << "the money was moved";
    clock.advance(seconds(41));
    EXPECT_EQ(sweep().finished, 1);
    EXPECT_EQ(bank.requests(), 2);
    EXPECT_EQ(bank.effects(), 1);
}

TEST_F(LeasedClock, AReplyIsRememberedNoLongerThanItsRecordIsKept) {
    executor = Executor::create(*database, {}).value();
    LeasedOptions options;
    options.retention = seconds(60);
    bool refuses = false;
    const auto decide = [&refuses](LeasedWork&) -> Result<Finish> {
        if (refuses) return Finish(Rejection{.reply = {.status = 409}});
        return Finish(Reply{});
    };
    ASSERT_TRUE(operations.add("transfer", decide, options));
    leased = LeasedExecutor::create(*executor, operations).value();
    for (const std::string_view slow : {"lease.after_finish", "lease.before_rejection"}) {
        command_.identity = Identity::of("shop", "web", "transfer", slow).value();
        {
            const failpoint::Hook hook([&](std::string_view name) {
                if (name == slow) clock.advance(seconds(20));
            });
            ASSERT_TRUE(execute().committed());
        }
        EXPECT_NE(executor->cached(command_), nullptr) << slow;
        clock.advance(seconds(41));
        EXPECT_EQ(executor->cached(command_), nullptr) << slow;
        refuses = true;
    }
}

class LeasedRunners : public LeasedClock {
protected:
    LeasedRunners() : LeasedClock(testing::ManualClock::Waiting::blocks) {}

    [[nodiscard]] NamedRecord record() {
        const auto found = executor->look_up(command_.identity.command_id(), {});
        EXPECT_TRUE(found && *found);
        return found && *found ? **found : NamedRecord{};
    }
};

TEST_F(LeasedRunners, WaitThroughTheClockWakeWhenNotifiedAndStopWhenAsked) {
    std::atomic<int> runs = 0;
    handle([&runs](LeasedWork&) -> Result<Finish> {
        // The first run ends as if its process had died; the sweeper makes the second.
        if (++runs == 1) return fail(Fault::unknown, "died");
        return Finish(Reply{.status = 200, .body = "done"});
    });
    Worker worker(*leased, {.threads = 2});
    Sweeper sweeper(*leased);
    worker.start();
    sweeper.start();
    clock.await_waiters(3);
    ASSERT_TRUE(accept(*leased, command_, bytes_of("5")).committed());
    worker.notify();
    while (record().last_error != "died") std::this_thread::yield();
    // While time stands still nobody looks again.
    clock.await_waiters(3);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(record().record.state, CommandState::processing);
    // Until the sweeper has come: time must not run away from the transactions of the second run.
    while (record().record.state == CommandState::processing) {
        if (runs == 1) clock.advance(std::chrono::milliseconds(1));
        std::this_thread::yield();
    }
    EXPECT_EQ(record().record.state, CommandState::succeeded);
    EXPECT_EQ(runs, 2);
    worker.stop();
    sweeper.stop();
}

}  // namespace
}  // namespace semel::leased
