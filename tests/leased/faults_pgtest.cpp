// Every step of a leased command's transactions is made to fail in turn, before and after it took effect. Whatever the
// answer was, money moved at most once, and in the end the command is finished or listed.

#include "semel/testing/faulty_database.hpp"
#include "tests/leased/fixture.hpp"

#include <latch>
#include <thread>

namespace semel::leased {
namespace {

using conformance::Target;
using testing::FaultPlan;
using testing::Step;
using testing::StepFailure;
using Does = Bank::Does;

class LeasedFaults : public LeasedTest {
protected:
    [[nodiscard]] std::unique_ptr<Database> faulty_database(FaultPlan& plan) const {
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        how.pool.size = 2;
        how.retry = Policy::create({.attempts = 4, .base = std::chrono::milliseconds(1)}).value();
        how.breaker.attempts_min = 1000;
        return Database::create(testing::faulty(driver_.connect, plan), how).value();
    }

    [[nodiscard]] std::int64_t written_for(const std::string& key) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
            const Rows rows = SEMEL_TRY(tx.execute("SELECT count(*) FROM transfer WHERE id = $1", key));
            return rows.scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed());
        return outcome.committed() ? outcome.value() : -1;
    }

    /// Nothing was stored, since someone else seemed to be at it.
    [[nodiscard]] bool was_sent_away(const Outcome<Answer>& outcome, const std::string& key) {
        if (!outcome.not_committed() || verdict_of(outcome.error()) != ClaimVerdict::in_progress) return false;
        const auto executor = Executor::create(*database, {.cache_bytes = 0}).value();
        const auto found = executor->look_up(command(key).identity.command_id(), soon());
        EXPECT_TRUE(found) << found.error().describe();
        return found && !*found;
    }

    [[nodiscard]] bool has_ended(const std::string& key) {
        const CommandState ended = state(key);
        return finished(ended) || ended == CommandState::needs_reconciliation;
    }

    void check(const Bank& bank, const std::string& key, const std::string& which) {
        EXPECT_LE(bank.effects_max(), 1) << which;
        const CommandState ended = state(key);
        EXPECT_TRUE(finished(ended) || ended == CommandState::needs_reconciliation) << which << ": " << name(ended);
        EXPECT_EQ(written_for(key), ended == CommandState::succeeded ? 1 : 0) << which;
        if (finished(ended)) {
            EXPECT_EQ(bank.effects(), ended == CommandState::succeeded ? 1 : 0) << which;
        }
    }

    /// Runs `act` once to count its steps, then once for each of them to fail it.
    template <class F>
    void fail_every_step_in_turn(Capability capability, F&& act) {
        Process healthy;
        std::unique_ptr<Bank> bank = std::make_unique<Bank>(capability);
        add_process(healthy, [&bank](LeasedWork& work) { return transfers(*bank)(work); });
        FaultPlan plan;
        act("clean", *bank, plan, healthy);
        sweep_to_the_end(healthy);
        check(*bank, "clean", "clean");
        ASSERT_EQ(state("clean"), CommandState::succeeded);
        const auto history = plan.history();
        ASSERT_GT(history.size(), 5U);
        int run = 0;
        for (const auto when : {StepFailure::When::before, StepFailure::When::after}) {
            for (const bool closes : {true, false}) {
                for (std::uint64_t n = 1; n <= history.size(); ++n) {
                    const std::string key = "k" + std::to_string(++run);
                    const std::string which = std::string(semel::name(capability)) + " step " + std::to_string(n) +
                                              " " + std::string(testing::name(history[n - 1])) +
                                              (when == StepFailure::When::before ? " before" : " after") +
                                              (closes ? " closing" : "");
                    bank = std::make_unique<Bank>(capability);
                    plan.restart();
                    plan.fail_step(n, {.when = when, .closes = closes});
                    act(key, *bank, plan, healthy);
                    EXPECT_EQ(plan.failures(), 1U) << which << ": the failure was never met";
                    plan.restart();
                    sweep_to_the_end(healthy);
                    // The server may still be undoing what the faulty process left, and a locked row is passed by.
                    for (int i = 0; i < 50 && !has_ended(key); ++i) {
                        std::this_thread::sleep_for(std::chrono::milliseconds(50));
                        sweep_to_the_end(healthy);
                    }
                    check(*bank, key, which);
                }
            }
        }
        EXPECT_EQ(events(), transfers_written());
    }
};

TEST_P(LeasedFaults, OfAnyStepOfAnExecutionLeaveOneEffectAtMostAndAnEnd) {
    for (const Capability capability : {Capability::takes_key, Capability::neither}) {
        run("DELETE FROM transfer");
        run(sqlite() ? "DELETE FROM semel_command_record; DELETE FROM semel_outbox_event"
                     : "DELETE FROM semel.command_record; DELETE FROM semel.outbox_event");
        fail_every_step_in_turn(capability, [&](const std::string& key, Bank& bank, FaultPlan& plan, Process& healthy) {
            Process faulty;
            add_process(faulty, transfers(bank), options(), faulty_database(plan));
            auto outcome = execute(faulty, key);
            // The server may still be undoing a claim that was cut off. The next attempt meets it, stores nothing and is told
            // to come later, and so it does.
            for (int i = 0; i < 200 && was_sent_away(outcome, key); ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                outcome = execute(healthy, key);
            }
            if (outcome.committed()) {
                EXPECT_EQ(state(key), CommandState::succeeded);
                EXPECT_EQ(outcome.value().reply, record(key).record.reply);
                EXPECT_EQ(written_for(key), 1);
            }
        });
    }
}

TEST_P(LeasedFaults, OfAnyStepOfASweepLeaveOneEffectAtMostAndAnEnd) {
    fail_every_step_in_turn(Capability::takes_key,
                            [&](const std::string& key, Bank& bank, FaultPlan& plan, Process& healthy) {
                                bank.script({Does::job_unheard});
                                EXPECT_TRUE(execute(healthy, key).unknown());
                                age(std::chrono::seconds(120));
                                Process faulty;
                                add_process(faulty, transfers(bank), options(), faulty_database(plan));
                                std::ignore = Sweeper(*faulty.leased).sweep();
                            });
}

TEST_P(LeasedFaults, OfAnyStepOfAnAcceptanceAndItsWorkerLeaveOneEffectAtMostAndAnEnd) {
    fail_every_step_in_turn(Capability::takes_key,
                            [&](const std::string& key, Bank& bank, FaultPlan& plan, Process& healthy) {
                                Process faulty;
                                add_process(faulty, transfers(bank), options(), faulty_database(plan));
                                const auto accepted = accept(*faulty.leased, command(key), bytes_of("5"));
                                if (!accepted.committed()) {
                                    // What was not accepted for certain is handed in again, as a client would.
                                    const auto again = accept(*healthy.leased, command(key), bytes_of("5"));
                                    EXPECT_TRUE(again.committed());
                                }
                                std::ignore = Worker(*faulty.leased).run_one();
                            });
}

INSTANTIATE_TEST_SUITE_P(Databases, LeasedFaults, ::testing::Values(Target::sqlite, Target::postgres), target_name);

/// A claim that was cut off and is still being undone holds its lock, which only PostgreSQL has.
class LeasedGhost : public LeasedFaults {};

TEST_P(LeasedGhost, HoldingTheClaimSendsWhoeverComesAwayAndLeavesNothing) {
    Process healthy;
    Bank bank(Capability::neither);
    add_process(healthy, transfers(bank));
    const Command asked = command("k");
    std::latch holding(1);
    std::latch let_go(1);
    std::jthread ghost([&] {
        const auto own = open_again(1);
        std::ignore = transact(*own, [&](Transaction& tx) -> Status {
            const auto held = tx.execute("SELECT semel.claim_guard($1, $2, $3)", BytesView(asked.identity.digest()),
                                         asked.identity.lock(), BytesView());
            EXPECT_TRUE(held) << held.error().describe();
            holding.count_down();
            let_go.wait();
            return fail(Fault::rejected, "undone");
        });
    });
    holding.wait();
    const auto away = execute(healthy, "k");
    EXPECT_EQ(refused(away), ClaimVerdict::in_progress);
    EXPECT_TRUE(was_sent_away(away, "k")) << "there is nothing that a sweeper could end";
    sweep_to_the_end(healthy);
    EXPECT_EQ(bank.effects(), 0);
    let_go.count_down();
    ghost.join();
    EXPECT_TRUE(execute(healthy, "k").committed());
    check(bank, "k", "come again");
}

INSTANTIATE_TEST_SUITE_P(Databases, LeasedGhost, ::testing::Values(Target::postgres), target_name);

}  // namespace
}  // namespace semel::leased
