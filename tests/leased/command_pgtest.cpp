// What a command with effects outside the database guarantees, the same on every database.

#include "semel/idempotency/retention.hpp"
#include "tests/leased/fixture.hpp"

#include <latch>
#include <thread>

namespace semel::leased {
namespace {

using conformance::Target;
using Does = Bank::Does;

class LeasedCommand : public LeasedTest {};

TEST_P(LeasedCommand, IsExecutedOnceAndReplayedByteForByte) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    const Answer first = answer(execute(process, "k"));
    const Answer second = answer(execute(process, "k"));
    EXPECT_EQ(first.standing, Standing::executed);
    EXPECT_EQ(first.reply.body, "transferred k: moved 5");
    EXPECT_EQ(second.standing, Standing::replayed);
    EXPECT_EQ(second.reply, first.reply);
    EXPECT_EQ(bank.requests(), 1);
    EXPECT_EQ(transfers_written(), 1);
    EXPECT_EQ(events(), 1);
}

TEST_P(LeasedCommand, TellsARepeatThatItIsInProgressAndAStrangerThatTheKeyIsTaken) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    std::latch asked(1);
    std::latch answered(1);
    bank.on_request([&] {
        asked.count_down();
        answered.wait();
    });
    std::jthread first([&] { EXPECT_EQ(answer(execute(process, "k")).standing, Standing::executed); });
    asked.wait();
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::in_progress);
    EXPECT_EQ(refused(execute(process, "k", "6")), ClaimVerdict::mismatch) << "even while it is in flight";
    EXPECT_EQ(state("k"), CommandState::processing);
    answered.count_down();
    first.join();
    EXPECT_EQ(bank.requests(), 1);
    EXPECT_EQ(answer(execute(process, "k")).standing, Standing::replayed);
    EXPECT_EQ(refused(execute(process, "k", "6")), ClaimVerdict::mismatch);
}

TEST_P(LeasedCommand, LetsARepeatWaitForTheReplyIfItMay) {
    Bank bank(Capability::neither);
    LeasedOptions how = options();
    how.in_progress = InProgress::wait;
    how.in_progress_wait = std::chrono::seconds(10);
    Process process;
    add_process(process, transfers(bank), how);
    std::vector<std::jthread> clients;
    std::atomic<int> executed = 0;
    for (int i = 0; i < 6; ++i)
        clients.emplace_back([&] {
            if (answer(execute(process, "k")).standing == Standing::executed) ++executed;
        });
    clients.clear();
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(bank.requests(), 1);
}

TEST_P(LeasedCommand, StoresARefusalAndKeepsNothingElseOfIt) {
    Process process;
    int runs = 0;
    add_process(process, [&runs](LeasedWork&) -> Result<Finish> {
        return Finish([&runs](Work& work) -> Result<CommandDecision> {
            ++runs;
            work.tx.post("INSERT INTO transfer (id, receipt) VALUES ('x', 'x')");
            return Rejection{.reply = {.status = 409, .body = "no " + std::to_string(runs)}};
        });
    });
    const Answer first = answer(execute(process, "k"));
    EXPECT_EQ(first.standing, Standing::rejected);
    EXPECT_EQ(first.reply.body, "no 1");
    const Answer again = answer(execute(process, "k"));
    EXPECT_EQ(again.standing, Standing::replayed);
    EXPECT_EQ(again.reply.body, "no 1");
    EXPECT_EQ(transfers_written(), 0);
    EXPECT_EQ(state("k"), CommandState::failed);
}

TEST_P(LeasedCommand, IsTriedAgainByARepeatOnceItsNextAttemptIsDue) {
    Bank bank(Capability::neither);
    bank.script({Does::is_away});
    Process process;
    add_process(process, transfers(bank));
    const auto first = execute(process, "k");
    ASSERT_TRUE(first.not_committed());
    EXPECT_EQ(first.error().fault, Fault::unavailable);
    EXPECT_TRUE(first.error().cause.retry_after);
    EXPECT_EQ(state("k"), CommandState::failed_transient);
    EXPECT_EQ(refused(execute(process, "k", "6")), ClaimVerdict::mismatch);
    age(std::chrono::seconds(60));
    EXPECT_EQ(answer(execute(process, "k")).standing, Standing::executed);
    EXPECT_EQ(record("k").attempts, 2);
    EXPECT_EQ(bank.requests(), 2);
    EXPECT_EQ(bank.effects(), 1);
    EXPECT_EQ(transfers_written(), 1);
}

TEST_P(LeasedCommand, IsNotTriedBeforeItsNextAttemptIsDue) {
    Bank bank(Capability::neither);
    bank.script({Does::is_away});
    LeasedOptions how = options();
    how.backoff = {.base = std::chrono::hours(1), .cap = std::chrono::hours(1), .jitter = Jitter::none};
    Process process;
    add_process(process, transfers(bank), how);
    ASSERT_TRUE(execute(process, "k").not_committed());
    const auto early = execute(process, "k");
    EXPECT_EQ(refused(early), ClaimVerdict::in_progress);
    EXPECT_GT(early.error().cause.retry_after.value_or(Duration()), std::chrono::minutes(50));
    EXPECT_EQ(bank.requests(), 1);
}

TEST_P(LeasedCommand, FailsForGoodWhenItsAttemptsAreUsedUpAndNothingHappened) {
    Bank bank(Capability::neither);
    bank.script({Does::is_away, Does::is_away, Does::is_away, Does::is_away, Does::is_away, Does::is_away});
    Process process;
    add_process(process, transfers(bank));
    for (int i = 1; i < 5; ++i) {
        EXPECT_TRUE(execute(process, "k").not_committed());
        age(std::chrono::seconds(60));
    }
    const Answer last = answer(execute(process, "k"));
    EXPECT_EQ(last.standing, Standing::rejected);
    EXPECT_EQ(last.reply.status, 503);
    EXPECT_EQ(answer(execute(process, "k")).reply, last.reply);
    EXPECT_EQ(bank.requests(), 5);
    EXPECT_EQ(state("k"), CommandState::failed);
}

TEST_P(LeasedCommand, RemembersARefusalOfTheOtherSide) {
    Bank bank(Capability::neither);
    bank.script({Does::refuses});
    Process process;
    add_process(process, [&](LeasedWork& work) -> Result<Finish> {
        const auto response = work.call("move", bank.integration(), "k", "5");
        EXPECT_FALSE(response);
        EXPECT_EQ(response.error().fault, Fault::rejected);
        EXPECT_EQ(response.error().message, "the account is closed");
        EXPECT_EQ(response.error().cause.code, "closed");
        if (work.attempt() == 1) return fail(Fault::unavailable, "something else is away");
        return Finish(Rejection{.reply = {.status = 402, .body = response.error().message}});
    });
    EXPECT_TRUE(execute(process, "k").not_committed());
    age(std::chrono::seconds(60));
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "the account is closed");
    EXPECT_EQ(bank.requests(), 1);
}

TEST_P(LeasedCommand, TakesEachOfItsStepsOnceHoweverOftenItsHandlerRuns) {
    Bank bank(Capability::neither);
    Process process;
    int runs = 0;
    add_process(process, [&](LeasedWork& work) -> Result<Finish> {
        ++runs;
        const std::string number = SEMEL_TRY(work.transact("note", [&](Transaction& tx) -> Result<std::string> {
            tx.post("INSERT INTO note (id) VALUES ('n')");
            return std::to_string(runs);
        }));
        EXPECT_EQ(number, "1") << "what the step returned the first time";
        const CallResponse response = SEMEL_TRY(work.call("move", bank.integration(), "k", number));
        SEMEL_TRY(work.renew());
        if (runs < 4) return fail(Fault::unavailable, "away");
        return Finish([response](Work& last) { return written(last, "k", response.body); });
    });
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(execute(process, "k").not_committed());
        age(std::chrono::seconds(60));
    }
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "transferred k: moved 1");
    EXPECT_EQ(runs, 4);
    EXPECT_EQ(notes(), 1);
    EXPECT_EQ(bank.requests(), 1);
}

TEST_P(LeasedCommand, IsHandedToAPersonIfItFailsAfterMoneyWasMoved) {
    Bank bank(Capability::takes_key);
    Process process;
    add_process(process, [&](LeasedWork& work) -> Result<Finish> {
        SEMEL_TRY(work.call("move", bank.integration(), "k", "5"));
        return fail(Fault::rejected, "the books are closed");
    });
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::needs_reconciliation);
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::needs_reconciliation);
    const Unresolved open = listed();
    ASSERT_EQ(open.commands.size(), 1U);
    EXPECT_EQ(open.commands[0].command_id, command("k").identity.command_id());
    EXPECT_EQ(open.commands[0].reason, "the books are closed");
    EXPECT_EQ(open.commands[0].key, "k");
    EXPECT_TRUE(open.calls.empty()) << "the call itself is known";
}

TEST_P(LeasedCommand, FailsIfItIsRefusedBeforeAnythingHappened) {
    Process process;
    add_process(process, [](LeasedWork&) -> Result<Finish> { return fail(Fault::rejected, "no such account"); });
    const Answer given = answer(execute(process, "k"));
    EXPECT_EQ(given.standing, Standing::rejected);
    EXPECT_EQ(given.reply.status, 422);
    EXPECT_TRUE(given.reply.body.contains(R"("detail":"no such account")")) << given.reply.body;
    EXPECT_EQ(answer(execute(process, "k")).reply, given.reply);
}

TEST_P(LeasedCommand, WhoseHandlerThrowsIsHandedToAPerson) {
    Process process;
    add_process(process, [](LeasedWork& work) -> Result<Finish> {
        if (work.attempt() == 1) throw std::runtime_error("boom");
        return Finish([](Work&) -> Result<Reply> { throw 7; });
    });
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::needs_reconciliation);
    EXPECT_EQ(listed().commands.size(), 1U);
}

TEST_P(LeasedCommand, WithAnUnregisteredOperationOrTooLargeAPayloadIsRefusedAtOnce) {
    Bank bank(Capability::neither);
    LeasedOptions how = options();
    how.payload_max = 10;
    Process process;
    add_process(process, transfers(bank), how);
    const auto large = execute(process, "k", "12345678901");
    ASSERT_TRUE(large.not_committed());
    EXPECT_EQ(large.error().fault, Fault::rejected);
    Command other = command("k");
    other.identity = Identity::of("shop", "web", "refund", "k").value();
    EXPECT_TRUE(process.leased->execute(other, {}).not_committed());
    EXPECT_EQ(bank.requests(), 0);
}

TEST_P(LeasedCommand, KeepsARecordWithAnUnknownCallPastItsRetention) {
    Bank bank(Capability::neither);
    bank.script({Does::job_unheard});
    Process process;
    // A handler that can do without the answer: the command succeeds, the call stays open.
    add_process(process, [&](LeasedWork& work) -> Result<Finish> {
        std::ignore = work.call("notify", bank.integration(), "k", "5");
        return Finish(Reply{.status = 200, .body = "done"});
    });
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "done");
    ASSERT_EQ(listed().calls.size(), 1U);
    EXPECT_EQ(listed().calls[0].command_state, CommandState::succeeded);
    age(std::chrono::hours(100));
    const RetentionOptions retention{.tombstone = std::chrono::hours(1), .batch = 10};
    EXPECT_EQ(apply_retention(*database, retention, soon())->expired, 0);
    const SettledBy by{.who = "ann", .reason = "asked the bank"};
    const auto settled = settle_call(*database, listed().calls[0].call_id, LeasedSettlement::confirmed, by, soon());
    EXPECT_TRUE(settled.committed()) << settled.error().describe();
    EXPECT_TRUE(listed().calls.empty());
    const auto after = apply_retention(*database, retention, soon());
    EXPECT_EQ(after->expired, 1);
    EXPECT_EQ(after->forgotten, 1);
    EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_call") : count("SELECT count(*) FROM semel.call"), 0);
}

INSTANTIATE_TEST_SUITE_P(Databases, LeasedCommand,
                         ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer), target_name);

}  // namespace
}  // namespace semel::leased
