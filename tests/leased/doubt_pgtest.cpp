// A call that may have been made stays in doubt until the other side answers for it, or a person does.

#include "tests/leased/fixture.hpp"

namespace semel::leased {
namespace {

using conformance::Target;
using Does = Bank::Does;

class Doubt : public LeasedTest {
protected:
    void forget_everything() {
        run("DELETE FROM transfer");
        run(sqlite() ? "DELETE FROM semel_command_record; DELETE FROM semel_outbox_event"
                     : "DELETE FROM semel.command_record; DELETE FROM semel.outbox_event");
    }
};

TEST_P(Doubt, IsNotForgottenWhenTheRepeatIsNotDone) {
    for (const Does repeat : {Does::is_away, Does::is_busy, Does::collides, Does::refuses}) {
        const std::string which = "repeat " + std::to_string(static_cast<int>(repeat));
        forget_everything();
        Bank bank(Capability::takes_key);
        bank.script({Does::job_unheard, repeat, repeat, repeat, repeat, repeat, repeat, repeat});
        Process process;
        add_process(process, transfers(bank));
        EXPECT_TRUE(execute(process, "k").unknown()) << which;
        sweep_to_the_end(process);
        EXPECT_EQ(bank.effects(), 1) << which;
        EXPECT_EQ(state("k"), CommandState::needs_reconciliation) << which << ": the money was moved";
        EXPECT_EQ(listed().commands.size(), 1U) << which;
        EXPECT_EQ(listed().calls.size(), 1U) << which;
        EXPECT_EQ(bank.requests(), 1 + options().ask.asks_max) << which;
    }
}

TEST_P(Doubt, IsNotForgottenWhenTheAttemptsAreUsedUpBeforeTheQuestions) {
    Bank bank(Capability::takes_key);
    bank.script({Does::job_unheard, Does::is_away, Does::is_away, Does::is_away});
    LeasedOptions how = options();
    how.attempts_max = 2;
    Process process;
    add_process(process, transfers(bank), how);
    EXPECT_TRUE(execute(process, "k").unknown());
    sweep_to_the_end(process);
    EXPECT_EQ(state("k"), CommandState::needs_reconciliation);
    EXPECT_EQ(listed().calls.size(), 1U);
}

TEST_P(Doubt, EndsWithTheFirstAnswer) {
    for (const Does repeat : {Does::is_away, Does::is_busy, Does::collides, Does::refuses}) {
        const std::string which = "repeat " + std::to_string(static_cast<int>(repeat));
        forget_everything();
        Bank bank(Capability::takes_key);
        bank.script({Does::job_unheard, repeat, Does::its_job});
        Process process;
        add_process(process, transfers(bank));
        EXPECT_TRUE(execute(process, "k").unknown()) << which;
        age(std::chrono::seconds(120));
        EXPECT_EQ(sweep(process).unfinished, 1) << which;
        EXPECT_EQ(state("k"), CommandState::processing) << which << ": the sweeper goes on, nobody else";
        EXPECT_EQ(listed().calls.size(), 1U) << which;
        sweep_to_the_end(process);
        EXPECT_EQ(state("k"), CommandState::succeeded) << which;
        EXPECT_EQ(bank.effects(), 1) << which;
        EXPECT_TRUE(listed().calls.empty()) << which;
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, Doubt, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::leased
