// What becomes of a command whose executor fell asleep, died, or does not know what the other side did.

#include "tests/leased/fixture.hpp"
#include "tests/leased/sleeper.hpp"

#include <latch>
#include <thread>

namespace semel::leased {
namespace {

using conformance::Target;
using Does = Bank::Does;

constexpr std::array capabilities{Capability::takes_key, Capability::queryable, Capability::neither};

class Sweeping : public LeasedTest {
protected:
    /// Whatever happened: money moved at most once, the books tell of it at most once, and the command is finished or
    /// listed.
    void check(const Bank& bank, std::string_view key, const std::string& where) {
        EXPECT_LE(bank.effects_max(), 1) << where;
        const CommandState ended = state(key);
        EXPECT_TRUE(finished(ended) || ended == CommandState::needs_reconciliation) << where << ": " << name(ended);
        EXPECT_EQ(transfers_written(), ended == CommandState::succeeded ? 1 : 0) << where;
        EXPECT_EQ(events(), transfers_written()) << where;
        if (ended == CommandState::succeeded) {
            EXPECT_EQ(bank.effects(), 1) << where;
            EXPECT_TRUE(listed().calls.empty()) << where;
        }
        if (ended == CommandState::needs_reconciliation) {
            EXPECT_EQ(listed().commands.size(), 1U) << where;
        }
    }

    void forget_everything() {
        run("DELETE FROM transfer; DELETE FROM note");
        run(sqlite() ? "DELETE FROM semel_command_record; DELETE FROM semel_outbox_event"
                     : "DELETE FROM semel.command_record; DELETE FROM semel.outbox_event");
    }
};

TEST_P(Sweeping, TakesOverFromAnExecutorThatSleepsAndItsLateWritesChangeNothing) {
    // Outside any open transaction, or SQLite's only writer would sleep too.
    for (const char* place : {"lease.after_claim", "lease.before_run", "call.after_intent", "call.after_perform",
                              "call.after_result", "lease.before_finish"}) {
        for (const Capability capability : capabilities) {
            const std::string where = std::string(place) + ", " + std::string(semel::name(capability));
            forget_everything();
            Bank bank(capability);
            Process sleeping;
            Process sweeping;
            add_process(sleeping, transfers(bank));
            add_process(sweeping, transfers(bank));
            std::optional<Outcome<Answer>> late;
            {
                Sleeper sleeper(place);
                std::jthread first([&] { late = execute(sleeping, "k"); });
                sleeper.await_asleep();
                EXPECT_EQ(refused(execute(sweeping, "k")), ClaimVerdict::in_progress) << where;
                EXPECT_EQ(sweep(sweeping).total(), 0) << where << ": its lease has not run out";
                sweep_to_the_end(sweeping);
                check(bank, "k", where);
                const NamedRecord before = record("k");
                const int effects = bank.effects();
                sleeper.wake();
                first.join();
                const NamedRecord after = record("k");
                EXPECT_EQ(after.record.state, before.record.state) << where;
                EXPECT_EQ(after.record.reply, before.record.reply) << where;
                EXPECT_EQ(after.attempts, before.attempts) << where;
                check(bank, "k", where);
                // It makes no call any more either, unless it had stored its intent in time to make it.
                if (std::string_view(place) != "call.after_intent") {
                    EXPECT_EQ(bank.effects(), effects) << where;
                }
            }
            ASSERT_TRUE(late) << where;
            if (late->committed()) {
                EXPECT_EQ(late->value().standing, Standing::replayed) << where;
                EXPECT_EQ(late->value().reply, record("k").record.reply) << where;
            } else {
                EXPECT_TRUE(verdict_of(late->error())) << where << ": " << late->error().describe();
            }
        }
    }
}

TEST_P(Sweeping, KeepsASleeperThatWakesInTheMiddleOfTheNextRunFromWritingAnything) {
    for (const char* place : {"lease.before_run", "call.after_perform", "call.after_result", "lease.before_finish"}) {
        forget_everything();
        Bank bank(Capability::takes_key);
        const auto notes_too = [&bank](LeasedWork& work) -> Result<Finish> {
            const CallResponse response = SEMEL_TRY(work.call("move", bank.integration(), "k", "5"));
            const auto note = [](Transaction& tx) -> Result<std::string> {
                tx.post("INSERT INTO note (id) VALUES ('n')");
                return "noted";
            };
            SEMEL_TRY(work.transact("note", note));
            return Finish([response](Work& last) { return written(last, "k", response.body); });
        };
        std::latch begun(1);
        std::latch go(1);
        Process sleeping;
        Process next;
        add_process(sleeping, notes_too);
        add_process(next, [&](LeasedWork& work) -> Result<Finish> {
            begun.count_down();
            go.wait();
            return notes_too(work);
        });
        Sleeper sleeper(place);
        std::optional<Outcome<Answer>> late;
        std::jthread first([&] { late = execute(sleeping, "k"); });
        sleeper.await_asleep();
        const std::int64_t noted = notes();
        age(std::chrono::seconds(120));
        std::jthread second([&] {
            EXPECT_EQ(sweep(next).finished, 1) << place;
            if (!begun.try_wait()) begun.count_down();  // It never ran: fail, do not hang.
        });
        begun.wait();
        sleeper.wake();
        first.join();
        EXPECT_EQ(transfers_written() + events(), 0) << place;
        EXPECT_EQ(notes(), noted) << place;
        EXPECT_EQ(state("k"), CommandState::processing) << place;
        EXPECT_EQ(refused(*late), ClaimVerdict::in_progress) << place;
        go.count_down();
        second.join();
        EXPECT_EQ(notes(), 1) << place;
        check(bank, "k", place);
        EXPECT_EQ(state("k"), CommandState::succeeded) << place;
    }
}

TEST_P(Sweeping, ReplaysWhatAnExecutorThatDiedAfterItsLastCommitHadDone) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    Sleeper sleeper("lease.after_finish");
    std::jthread first([&] { EXPECT_EQ(answer(execute(process, "k")).standing, Standing::executed); });
    sleeper.await_asleep();
    EXPECT_EQ(answer(execute(process, "k")).standing, Standing::replayed);
    age(std::chrono::seconds(120));
    EXPECT_EQ(sweep(process).total(), 0);
    sleeper.wake();
    first.join();
    check(bank, "k", "after the last commit");
}

TEST_P(Sweeping, RepeatsUnderTheSameKeyWhereTheOtherSideTakesOne) {
    for (const Does lost : {Does::job_unheard, Does::nothing_heard, Does::throws}) {
        forget_everything();
        Bank bank(Capability::takes_key);
        bank.script({lost});
        Process process;
        add_process(process, transfers(bank));
        EXPECT_TRUE(execute(process, "k").unknown());
        EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::in_progress);
        EXPECT_EQ(sweep(process).total(), 0) << "the call may still be under way";
        sweep_to_the_end(process);
        EXPECT_EQ(state("k"), CommandState::succeeded);
        EXPECT_EQ(bank.requests(), 2);
        check(bank, "k", "keyed");
    }
}

TEST_P(Sweeping, AsksWhereTheOtherSideCanBeAskedAndBelievesWhatItFinds) {
    Bank bank(Capability::queryable);
    bank.script({Does::job_unheard});
    bank.hide(true);
    Process process;
    add_process(process, transfers(bank));
    EXPECT_TRUE(execute(process, "k").unknown());
    age(std::chrono::seconds(120));
    EXPECT_EQ(sweep(process).unfinished, 1) << "not visible over there yet";
    EXPECT_EQ(state("k"), CommandState::processing);
    bank.hide(false);
    sweep_to_the_end(process);
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "transferred k: found k");
    EXPECT_EQ(bank.requests(), 1);
    EXPECT_EQ(bank.queries(), 2);
    check(bank, "k", "queried");
}

TEST_P(Sweeping, NeverTakesNotFoundForALicenceToRepeat) {
    Bank bank(Capability::queryable);
    bank.script({Does::nothing_heard});
    Process process;
    add_process(process, transfers(bank));
    EXPECT_TRUE(execute(process, "k").unknown());
    sweep_to_the_end(process);
    EXPECT_EQ(bank.requests(), 1);
    EXPECT_EQ(bank.queries(), 3) << "as often as it may be asked in vain";
    EXPECT_EQ(bank.effects(), 0);
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::needs_reconciliation);
    const Unresolved open = listed();
    ASSERT_EQ(open.commands.size(), 1U);
    ASSERT_EQ(open.calls.size(), 1U);
    EXPECT_EQ(open.calls[0].integration, "bank");
    EXPECT_EQ(open.calls[0].business_key, "k");
    EXPECT_EQ(open.calls[0].command_id, open.commands[0].command_id);
    check(bank, "k", "not found");
}

TEST_P(Sweeping, HandsToAPersonWhatNobodyCanBeAskedAbout) {
    for (const Does lost : {Does::job_unheard, Does::nothing_heard, Does::throws}) {
        forget_everything();
        Bank bank(Capability::neither);
        bank.script({lost});
        Process process;
        add_process(process, transfers(bank));
        EXPECT_TRUE(execute(process, "k").unknown());
        sweep_to_the_end(process);
        EXPECT_EQ(state("k"), CommandState::needs_reconciliation);
        EXPECT_EQ(bank.requests(), 1);
        EXPECT_EQ(listed().calls.size(), 1U);
        check(bank, "k", "neither");
    }
}

TEST_P(Sweeping, KeepsOthersAwayUntilACallIsOverAndAsksNobodyBefore) {
    Bank bank(Capability::queryable);
    Process process;
    Process other;
    add_process(process, transfers(bank));
    add_process(other, transfers(bank));
    std::optional<Outcome<Answer>> late;
    Sleeper sleeper("call.after_perform");
    std::jthread first([&] { late = execute(process, "k"); });
    sleeper.await_asleep();
    // The lease is over (its intent had stretched it to 65 s), and the call would be too; but the grace is not.
    run(sqlite() ? "UPDATE semel_command_record SET lease_until = lease_until - 66000000"
                 : "UPDATE semel.command_record SET lease_until = lease_until - interval '66 seconds'");
    EXPECT_EQ(sweep(other).waiting, 1);
    EXPECT_EQ(bank.queries(), 0);
    EXPECT_EQ(sweep(other).total(), 0) << "it is left alone until then";
    age(std::chrono::seconds(38));  // Of the call's 35; its grace of 5 lasts.
    EXPECT_EQ(sweep(other).total(), 0);
    EXPECT_EQ(bank.queries(), 0);
    age(std::chrono::seconds(3));
    EXPECT_EQ(sweep(other).finished, 1);
    EXPECT_EQ(bank.queries(), 1);
    sleeper.wake();
    first.join();
    check(bank, "k", "graced");
}

TEST_P(Sweeping, EndsACommandThatTakesItsExecutorDownEachTime) {
    Process process;
    std::atomic<int> runs = 0;
    add_process(process, [&runs](LeasedWork&) -> Result<Finish> {
        ++runs;
        return fail(Fault::unknown, "as if it had died here");
    });
    EXPECT_TRUE(execute(process, "k").unknown());
    sweep_to_the_end(process);
    EXPECT_EQ(runs, 5);
    EXPECT_EQ(state("k"), CommandState::failed) << "nothing of it had happened";
    EXPECT_EQ(answer(execute(process, "k")).reply.status, 503);
}

TEST_P(Sweeping, ManyAtOnceTakeEachCommandOnce) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    constexpr int commands = 20;
    run(sqlite() ? "DELETE FROM semel_command_record" : "DELETE FROM semel.command_record");
    for (int i = 0; i < commands; ++i) {
        const Command one = command("k" + std::to_string(i));
        ASSERT_TRUE(accept(*process.leased, one, bytes_of("5")).committed());
    }
    // As if a worker had taken them all and died.
    run(sqlite() ? "UPDATE semel_command_record SET state = 'processing', epoch = 1, attempts = 1, "
                   "next_attempt_at = NULL, lease_until = 0, owner = '00000000-0000-0000-0000-000000000001'"
                 : "UPDATE semel.command_record SET state = 'processing', epoch = 1, attempts = 1, "
                   "next_attempt_at = NULL, lease_until = now() - interval '1 second', "
                   "owner = '00000000-0000-0000-0000-000000000001'");
    std::atomic<std::int64_t> ended = 0;
    {
        std::vector<std::jthread> sweepers;
        for (int i = 0; i < 4; ++i) sweepers.emplace_back([&] { ended += sweep(process).finished; });
    }
    EXPECT_EQ(ended, commands);
    EXPECT_EQ(bank.requests(), commands);
    EXPECT_EQ(transfers_written(), commands);
    EXPECT_EQ(events(), commands);
}

TEST_P(Sweeping, LeavesCommandsAloneWhoseOperationItDoesNotKnow) {
    Bank bank(Capability::takes_key);
    bank.script({Does::job_unheard});
    Process process;
    add_process(process, transfers(bank));
    EXPECT_TRUE(execute(process, "k").unknown());
    age(std::chrono::seconds(120));
    Process other;
    other.database = open_again();
    ASSERT_TRUE(other.operations.add("transfer.refund", transfers(bank), options()));
    other.executor = Executor::create(*other.database).value();
    other.leased = LeasedExecutor::create(*other.executor, other.operations).value();
    EXPECT_EQ(sweep(other).total(), 0);
    EXPECT_EQ(sweep(process).finished, 1);
}

TEST_P(Sweeping, RunsByItselfUntilItIsStopped) {
    Bank bank(Capability::takes_key);
    bank.script({Does::job_unheard});
    LeasedOptions how = options();
    how.lease = std::chrono::milliseconds(100);
    how.ask.grace = std::chrono::milliseconds(20);
    how.backoff.base = how.backoff.cap = std::chrono::milliseconds(1);
    Process process;
    add_process(
        process,
        [&bank](LeasedWork& work) -> Result<Finish> {
            Integration integration = bank.integration();
            integration.start_within = std::chrono::milliseconds(2000);
            integration.duration_max = std::chrono::milliseconds(100);
            const CallResponse response = SEMEL_TRY(work.call("move", integration, "k", "5"));
            return Finish([response](Work& last) { return written(last, "k", response.body); });
        },
        how);
    Sweeper sweeper(*process.leased, {.poll = std::chrono::milliseconds(20)});
    sweeper.start();
    EXPECT_TRUE(execute(process, "k").unknown());
    const Instant until = now() + std::chrono::seconds(20);
    while (state("k") == CommandState::processing && now() < until)
        std::ignore = system_clock().sleep(now() + std::chrono::milliseconds(20), {});
    sweeper.stop();
    check(bank, "k", "by itself");
    EXPECT_EQ(state("k"), CommandState::succeeded);
    EXPECT_EQ(bank.requests(), 2);
}

INSTANTIATE_TEST_SUITE_P(Databases, Sweeping, ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         target_name);

}  // namespace
}  // namespace semel::leased
