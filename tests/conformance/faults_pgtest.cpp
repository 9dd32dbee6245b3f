// Every step of connect, begin, execute, commit and rollback is made to fail in turn, before and after it
// took effect, on every driver: the answer matches the database, and all drivers answer alike.

#include "semel/db/transact.hpp"
#include "semel/testing/faulty_database.hpp"
#include "tests/conformance/target.hpp"

#include <map>

namespace semel::conformance {
namespace {

using testing::FaultPlan;
using testing::Step;
using testing::StepFailure;

/// What one run with one failure ended as, in words that can be compared.
struct Ending {
    std::string outcome;
    std::string stop;
    std::int64_t effects = 0;

    [[nodiscard]] std::string text() const { return outcome + "/" + stop + "/" + std::to_string(effects); }
};

/// The endings of one driver by failed step, kept for comparison with the next driver's.
std::map<std::string, std::map<std::string, std::string>>& endings() {
    static std::map<std::string, std::map<std::string, std::string>> all;
    return all;
}

class FaultConformance : public ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run("CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL);"
            "CREATE TABLE effect (id bigint NOT NULL);"
            "INSERT INTO account (id, balance) VALUES (1, 100), (2, 100);");
    }

    /// Reads, posts, executes and commits: every verb of a session.
    static Status transfer(Transaction& tx, std::int64_t id) {
        const auto rows = SEMEL_TRY(tx.execute("SELECT balance FROM account WHERE id = $1", 1));
        const std::int64_t balance = SEMEL_TRY(rows.scalar<std::int64_t>());
        tx.post("UPDATE account SET balance = $1 WHERE id = 1", balance - 1);
        SEMEL_TRY(tx.flush());
        tx.post("UPDATE account SET balance = balance + 1 WHERE id = 2");
        SEMEL_TRY(tx.execute("INSERT INTO effect (id) VALUES ($1)", id));
        return {};
    }

    Ending run_with(FaultPlan& plan, std::int64_t id, const Policy& policy) {
        DatabaseOptions options;
        options.pool.size = 2;
        options.pool.check_after_idle =
            Duration::zero();  // Sessions are checked each time, so that `reset` is a step too.
        options.breaker.attempts_min = 1000;
        auto faulty_database = Database::create(testing::faulty(driver_.connect, plan), options).value();
        TransactOptions transact_options;
        transact_options.retry = policy;
        const auto outcome =
            transact(*faulty_database, transact_options, [&](Transaction& tx) { return transfer(tx, id); });
        Ending ending;
        ending.outcome = outcome.committed() ? "committed" : outcome.unknown() ? "unknown" : "not committed";
        ending.stop = outcome.committed() ? "" : std::string(semel::name(outcome.error().cause.stop));
        ending.effects = effects_of(id);
        EXPECT_EQ(faulty_database->pool().usage().in_use, 0U);
        return ending;
    }

    std::int64_t effects_of(std::int64_t id) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
            const auto rows = SEMEL_TRY(tx.execute("SELECT count(*) FROM effect WHERE id = $1", id));
            return rows.scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }

    void fail_every_step_in_turn(const Policy& policy, std::string_view label) {
        FaultPlan plan;
        const Ending clean = run_with(plan, 0, policy);
        ASSERT_EQ(clean.outcome, "committed");
        const auto history = plan.history();
        std::int64_t id = 0;
        for (const auto when : {StepFailure::When::before, StepFailure::When::after}) {
            for (const bool closes : {true, false}) {
                std::map<Step, int> nth;
                for (std::uint64_t n = 1; n <= history.size(); ++n) {
                    plan.restart();
                    StepFailure failure{.when = when, .closes = closes};
                    plan.fail_step(n, failure);
                    ++id;
                    const Ending ending = run_with(plan, id, policy);
                    const Step step = history[n - 1];
                    const std::string which = std::string(label) + " " + std::string(testing::name(step)) + " " +
                                              std::to_string(++nth[step]) +
                                              (when == StepFailure::When::before ? " before" : " after") +
                                              (closes ? " closing" : "");
                    EXPECT_EQ(plan.failures(), 1U) << which << ": the failure was never met";
                    check(which, ending);
                    compare(which, ending);
                }
            }
        }
        check_money();
    }

    static void check(const std::string& which, const Ending& ending) {
        if (ending.outcome == "committed") {
            EXPECT_EQ(ending.effects, 1) << which;
        } else if (ending.outcome == "not committed") {
            EXPECT_EQ(ending.effects, 0) << which;
            EXPECT_NE(ending.stop, "none") << which << ": stopped without a typed reason";
        } else {
            EXPECT_LE(ending.effects, 1) << which;
        }
    }

    /// Steps differ between drivers in nothing: the same calls are made to each.
    void compare(const std::string& which, const Ending& ending) {
        // What a driver can find out about a lost commit does differ: SQLite loses none by itself.
        if (which.find(" commit ") != std::string::npos) return;
        auto& by_driver = endings()[which];
        by_driver[name(GetParam())] = ending.text();
        for (const auto& [other, text] : by_driver)
            EXPECT_EQ(ending.text(), text) << which << ": " << name(GetParam()) << " and " << other;
    }

    void check_money() {
        EXPECT_EQ(count("SELECT CAST(sum(balance) AS bigint) FROM account"), 200);
        EXPECT_EQ(count("SELECT 100 - balance FROM account WHERE id = 1"), count("SELECT count(*) FROM effect"));
    }
};

TEST_P(FaultConformance, OfAnyStepLeavesOneEffectOrNoneAndTheAnswerSaysWhich) {
    fail_every_step_in_turn(Policy::create({.attempts = 4, .base = std::chrono::milliseconds(1)}).value(), "retried");
}

TEST_P(FaultConformance, OfAnyStepWithoutRetriesIsReportedForWhatItIs) {
    fail_every_step_in_turn(Policy::once(), "once");
}

TEST_P(FaultConformance, OfALostCommitIsSettledOrLeftUnknownButNeverRepeated) {
    for (const auto when : {StepFailure::When::before, StepFailure::When::after}) {
        FaultPlan plan;
        StepFailure lost{.when = when};
        lost.error.fault = Fault::unknown;
        plan.fail_nth(Step::commit, 1, lost);
        const std::int64_t id = when == StepFailure::When::before ? 1 : 2;
        const Ending ending = run_with(plan, id, Policy());
        if (GetParam() == Target::sqlite) {
            EXPECT_EQ(ending.outcome, "unknown") << "SQLite has no one to ask";
            EXPECT_EQ(ending.effects, when == StepFailure::When::before ? 0 : 1);
        } else {
            EXPECT_EQ(ending.outcome, "committed") << "found committed, or found not committed and run again";
            EXPECT_EQ(ending.effects, 1);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, FaultConformance,
                         ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace semel::conformance
