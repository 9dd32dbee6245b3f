// Commands that are accepted first and executed later.

#include "tests/leased/fixture.hpp"
#include "tests/leased/sleeper.hpp"

#include <atomic>
#include <thread>

namespace semel::leased {
namespace {

using conformance::Target;
using Does = Bank::Does;

class Asynchronous : public LeasedTest {
protected:
    static Accepted accepted(Process& process, std::string_view key) {
        const auto outcome = accept(*process.leased, command(key), bytes_of("5"));
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : Accepted{};
    }
    static bool run_one(Process& process) {
        const auto ran = Worker(*process.leased).run_one();
        EXPECT_TRUE(ran) << ran.error().describe();
        return ran.value_or(false);
    }
};

TEST_P(Asynchronous, IsStoredOnceAndItsDuplicatesLearnWhereItStands) {
    Bank bank(Capability::takes_key);
    Process process;
    add_process(process, transfers(bank));
    const Accepted first = accepted(process, "k");
    EXPECT_FALSE(first.duplicate);
    EXPECT_EQ(first.state, CommandState::received);
    EXPECT_EQ(first.command_id, command("k").identity.command_id());
    const Accepted second = accepted(process, "k");
    EXPECT_TRUE(second.duplicate);
    EXPECT_EQ(second.state, CommandState::received);
    EXPECT_EQ(second.command_id, first.command_id);
    const auto other = accept(*process.leased, command("k", "6"), bytes_of("6"));
    ASSERT_TRUE(other.not_committed());
    EXPECT_EQ(verdict_of(other.error()), ClaimVerdict::mismatch);
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::in_progress);
    EXPECT_EQ(bank.requests(), 0);

    EXPECT_TRUE(run_one(process));
    EXPECT_FALSE(run_one(process));
    const Accepted third = accepted(process, "k");
    EXPECT_TRUE(third.duplicate);
    EXPECT_EQ(third.state, CommandState::succeeded);
    EXPECT_EQ(third.reply.body, "transferred k: moved 5");
    EXPECT_EQ(record("k").record.reply, third.reply);
    EXPECT_EQ(answer(execute(process, "k")).standing, Standing::replayed);
    EXPECT_EQ(bank.requests(), 1);
    age(std::chrono::hours(25));
    const auto late = accept(*process.leased, command("k"), bytes_of("5"));
    ASSERT_TRUE(late.not_committed());
    EXPECT_EQ(verdict_of(late.error()), ClaimVerdict::expired);
}

TEST_P(Asynchronous, IsStoredOnceByManyAtOnce) {
    Bank bank(Capability::takes_key);
    Process process;
    add_process(process, transfers(bank));
    std::atomic<int> fresh = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 8; ++i)
            clients.emplace_back([&] {
                if (!accepted(process, "k").duplicate) ++fresh;
            });
    }
    EXPECT_EQ(fresh, 1);
}

TEST_P(Asynchronous, IsExecutedOldestFirst) {
    std::vector<std::string> order;
    Process process;
    add_process(process, [&order](LeasedWork& work) -> Result<Finish> {
        order.push_back(work.command().identity.key());
        return Finish(Reply{});
    });
    for (const char* key : {"b", "a", "c"}) accepted(process, key);
    while (run_one(process)) {}
    EXPECT_EQ(order, (std::vector<std::string>{"b", "a", "c"}));
}

TEST_P(Asynchronous, CarriesItsPayloadAndCorrelation) {
    Process process;
    std::string seen;
    add_process(process, [&seen](LeasedWork& work) -> Result<Finish> {
        seen = std::string(work.payload_text()) + "/" + work.command().correlation_id;
        EXPECT_EQ(work.command().fingerprint, command("k").fingerprint);
        return Finish(Reply{});
    });
    Command asked = command("k");
    asked.correlation_id = "trace-1";
    ASSERT_TRUE(accept(*process.leased, asked, bytes_of(std::string_view("a\0b", 3))).committed());
    EXPECT_TRUE(run_one(process));
    EXPECT_EQ(seen, std::string("a\0b/trace-1", 11));
}

TEST_P(Asynchronous, IsTriedAgainWhenDueAndNotForEver) {
    Bank bank(Capability::takes_key);
    bank.script({Does::is_away, Does::is_away, Does::is_away, Does::is_away, Does::is_away, Does::is_away});
    LeasedOptions how = options();
    how.backoff = {.base = std::chrono::seconds(5), .cap = std::chrono::minutes(1), .jitter = Jitter::none};
    Process process;
    add_process(process, transfers(bank), how);
    accepted(process, "k");
    for (int i = 1; i <= 5; ++i) {
        EXPECT_TRUE(run_one(process));
        EXPECT_EQ(record("k").attempts, i);
        if (i == 5) break;
        EXPECT_EQ(state("k"), CommandState::failed_transient);
        EXPECT_FALSE(run_one(process)) << "not due yet";
        age(std::chrono::seconds(61));
    }
    EXPECT_EQ(state("k"), CommandState::failed);
    EXPECT_EQ(record("k").record.reply.status, 503);
    EXPECT_EQ(record("k").last_error, "connection refused");
    EXPECT_EQ(bank.requests(), 5);
}

TEST_P(Asynchronous, OutlivesAWorkerThatDiesWithIt) {
    Bank bank(Capability::neither);
    Process dying;
    Process sweeping;
    add_process(dying, transfers(bank));
    add_process(sweeping, transfers(bank));
    accepted(dying, "k");
    Sleeper sleeper("worker.after_take");
    std::jthread worker([&] { run_one(dying); });
    sleeper.await_asleep();
    EXPECT_FALSE(run_one(sweeping)) << "it is taken";
    sweep_to_the_end(sweeping);
    EXPECT_EQ(state("k"), CommandState::succeeded);
    sleeper.wake();
    worker.join();
    EXPECT_EQ(bank.requests(), 1);
    EXPECT_EQ(transfers_written(), 1);
    EXPECT_EQ(events(), 1);
    EXPECT_EQ(record("k").attempts, 2);
}

TEST_P(Asynchronous, IsExecutedOnceByEightWorkersInTwoProcesses) {
    constexpr int commands = 500;
    Bank bank(Capability::neither);
    Process one;
    Process two;
    add_process(one, transfers(bank));
    add_process(two, transfers(bank));
    Worker first(*one.leased, {.threads = 4, .poll = std::chrono::milliseconds(50)});
    Worker second(*two.leased, {.threads = 4, .poll = std::chrono::milliseconds(50)});
    first.start();
    second.start();
    for (int i = 0; i < commands; ++i) {
        accepted(one, "k" + std::to_string(i));
        if (i % 50 == 0) first.notify();
    }
    const Instant until = now() + std::chrono::seconds(90);
    while (transfers_written() < commands && now() < until)
        std::ignore = system_clock().sleep(now() + std::chrono::milliseconds(50), {});
    first.stop();
    second.stop();
    EXPECT_EQ(transfers_written(), commands);
    EXPECT_EQ(count("SELECT count(DISTINCT id) FROM transfer"), commands);
    EXPECT_EQ(events(), commands);
    EXPECT_EQ(bank.requests(), commands);
    EXPECT_EQ(bank.effects_max(), 1);
    EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_command_record WHERE state = 'succeeded' AND attempts = 1")
                       : count("SELECT count(*) FROM semel.command_record WHERE state = 'succeeded' AND attempts = 1"),
              commands);
}

INSTANTIATE_TEST_SUITE_P(Databases, Asynchronous,
                         ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer), target_name);

class Settling : public LeasedTest {
protected:
    /// A command whose call may have happened, before a person.
    void leave_open(Process& process, Bank& bank, std::string_view key, Does lost = Does::job_unheard) {
        bank.script({lost});
        EXPECT_TRUE(execute(process, key).unknown());
        sweep_to_the_end(process);
        EXPECT_EQ(state(key), CommandState::needs_reconciliation);
    }
    Outcome<> settled(std::string_view key, LeasedSettlement settlement, const Reply& reply) {
        return settle(*database, command(key).identity.command_id(), settlement, reply,
                      {.who = "ann", .reason = "asked the bank"}, soon());
    }
    [[nodiscard]] std::int64_t audited() {
        return sqlite()
                   ? count("SELECT count(*) FROM semel_settlement WHERE who = 'ann' AND reason = 'asked the bank'")
                   : count("SELECT count(*) FROM semel.settlement WHERE who = 'ann' AND reason = 'asked the bank'");
    }
};

TEST_P(Settling, EndsACommandWithTheReplyThatAPersonGives) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    for (const LeasedSettlement settlement : {LeasedSettlement::confirmed, LeasedSettlement::failed}) {
        const std::string key(name(settlement));
        leave_open(process, bank, key);
        const Reply reply{.status = 200, .body = "by hand", .headers = {{"ETag", "\"7\""}}};
        const auto outcome = settled(key, settlement, reply);
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        const Answer given = answer(execute(process, key));
        EXPECT_EQ(given.reply, reply);
        EXPECT_EQ(state(key),
                  settlement == LeasedSettlement::confirmed ? CommandState::succeeded : CommandState::failed);
        EXPECT_TRUE(listed().commands.empty());
        EXPECT_TRUE(listed().calls.empty());
    }
    EXPECT_EQ(bank.requests(), 2);
    EXPECT_EQ(audited(), 2);
}

TEST_P(Settling, LetsACommandGoOnWhosePersonKnowsThatNothingHappened) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    leave_open(process, bank, "k", Does::nothing_heard);
    EXPECT_EQ(bank.effects(), 0);
    const auto outcome = settled("k", LeasedSettlement::rerun, {});
    EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(refused(execute(process, "k")), ClaimVerdict::in_progress);
    EXPECT_EQ(sweep(process).finished, 1) << "the next sweep runs it, without waiting";
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "transferred k: moved 5");
    EXPECT_EQ(bank.requests(), 2);
    EXPECT_EQ(bank.effects(), 1);
    EXPECT_EQ(audited(), 1);
}

TEST_P(Settling, IsRefusedForWhatNeedsNoPerson) {
    Bank bank(Capability::neither);
    Process process;
    add_process(process, transfers(bank));
    answer(execute(process, "done"));
    for (const LeasedSettlement settlement :
         {LeasedSettlement::confirmed, LeasedSettlement::failed, LeasedSettlement::rerun}) {
        const auto outcome = settled("done", settlement, {});
        ASSERT_TRUE(outcome.not_committed());
        EXPECT_EQ(outcome.error().fault, Fault::rejected);
        EXPECT_TRUE(settled("missing", settlement, {}).not_committed());
    }
    leave_open(process, bank, "open");
    EXPECT_TRUE(settle(*database, command("open").identity.command_id(), LeasedSettlement::failed, {}, {}, soon())
                    .not_committed())
        << "nobody settles without a name and a reason";
    EXPECT_TRUE(settle_call(*database, listed().calls.at(0).call_id, LeasedSettlement::failed,
                            {.who = "ann", .reason = "r"}, soon())
                    .not_committed())
        << "its command comes first";
    EXPECT_TRUE(settled("open", LeasedSettlement::failed, {.status = 500}).committed());
    EXPECT_TRUE(settled("open", LeasedSettlement::confirmed, {}).not_committed()) << "a second person comes too late";
    EXPECT_EQ(audited(), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, Settling, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::leased
