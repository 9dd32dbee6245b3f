// Of several who believe to hold a command's lease one can write, and of the others not even a business row is kept.

#include "semel/testing/faulty_database.hpp"
#include "tests/leased/fixture.hpp"

namespace semel::leased {
namespace {

using conformance::Target;
using testing::FaultPlan;
using testing::Step;
using testing::StepFailure;

class Fence : public LeasedTest {
protected:
    void SetUp() override {
        LeasedTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        statements.emplace(LeaseStatements::from(driver_.catalogue).value());
    }

    /// A record that is being processed under this lease.
    Lease begin(std::string_view key) {
        const Command asked = command(key);
        const Lease lease{.identity = asked.identity.digest(), .epoch = 1, .owner = new_owner(system_random())};
        const Statements claims = Statements::from(driver_.catalogue).value();
        const Claim claim(claims, asked.identity, asked.fingerprint);
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            tx.post(statements->claim, BytesView(lease.identity), claim.stored_fingerprint(), "shop", "web", "transfer",
                    key, bytes_of("5"), lease.owner, "", 30000);
            return {};
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return lease;
    }

    /// Everything an end writes, in one flush.
    Outcome<> end(const Lease& lease, std::string_view id) {
        TransactOptions once;
        once.retry = Policy::once();
        return transact(*database, once, [&](Transaction& tx) -> Status {
            tx.post("INSERT INTO transfer (id, receipt) VALUES ($1, 'r')", id);
            tx.post_expecting(1, statements->finish, BytesView(lease.identity), lease.epoch, lease.owner, "succeeded",
                              200, "", bytes_of("done"), 1000, "");
            return {};
        });
    }

    std::optional<LeaseStatements> statements;
};

TEST_P(Fence, LetsNothingOfAPipelineBehindAStaleEpochCommit) {
    const Lease lease = begin("k");
    Lease stale = lease;
    stale.epoch = 0;
    const auto outcome = end(stale, "stale");
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.code, "SM006");
    EXPECT_EQ(transfers_written(), 0);
    EXPECT_EQ(state("k"), CommandState::processing);
    EXPECT_TRUE(end(lease, "ours").committed());
    EXPECT_EQ(transfers_written(), 1);
}

TEST_P(Fence, TellsTwoWhoBelieveInTheSameEpochApartByTheirOwner) {
    const Lease lease = begin("k");
    Lease other = lease;
    other.owner = new_owner(system_random());
    EXPECT_TRUE(end(other, "other").not_committed());
    const auto fenced_out = fenced(*database, *statements, other, soon(), [](Transaction& tx) -> Status {
        tx.post("INSERT INTO note (id) VALUES ('x')");
        return {};
    });
    ASSERT_TRUE(fenced_out.not_committed());
    EXPECT_TRUE(fence_lost(fenced_out.error())) << fenced_out.error().describe();
    EXPECT_EQ(transfers_written() + notes(), 0);
    EXPECT_TRUE(end(lease, "ours").committed());
}

TEST_P(Fence, StaysShutOnceTheCommandIsFinished) {
    const Lease lease = begin("k");
    ASSERT_TRUE(end(lease, "one").committed());
    EXPECT_TRUE(end(lease, "two").not_committed());
    EXPECT_EQ(transfers_written(), 1);
}

TEST_P(Fence, SettlesALostClaimByItsOwner) {
    // The claim's COMMIT arrives and its answer does not; then it does not arrive at all; then someone else is first.
    for (const auto when : {StepFailure::When::after, StepFailure::When::before}) {
        Bank bank(Capability::neither);
        FaultPlan plan;
        StepFailure lost{.when = when};
        lost.error.fault = Fault::unknown;
        plan.fail_nth(Step::commit, 1, lost);
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        Process process;
        add_process(process, transfers(bank), options(),
                    Database::create(testing::faulty(driver_.connect, plan), how).value());
        const std::string key = when == StepFailure::When::after ? "after" : "before";
        EXPECT_EQ(answer(execute(process, key)).standing, Standing::executed);
        EXPECT_EQ(plan.failures(), 1U);
        EXPECT_EQ(bank.requests(), 1);
        EXPECT_EQ(record(key).attempts, 1);
    }
    EXPECT_EQ(transfers_written(), 2);
}

TEST_P(Fence, LetsWhoeverClaimedWhileAClaimWasLostGoOnAlone) {
    Bank bank(Capability::neither);
    const Lease theirs = begin("k");
    FaultPlan plan;
    StepFailure lost{.when = StepFailure::When::before};
    lost.error.fault = Fault::unknown;
    plan.fail_nth(Step::commit, 1, lost);
    DatabaseOptions how;
    how.catalogue = driver_.catalogue;
    Process process;
    add_process(process, transfers(bank), options(),
                Database::create(testing::faulty(driver_.connect, plan), how).value());
    Command asked = command("k");
    asked.deadline = Deadline::after(now(), std::chrono::milliseconds(500));
    // It sent a claim whose fate it does not know, and finds another's: it must not say that nothing happened.
    EXPECT_TRUE(process.leased->execute(asked, bytes_of("5")).unknown());
    EXPECT_EQ(bank.requests(), 0);
    EXPECT_TRUE(end(theirs, "theirs").committed());
}

INSTANTIATE_TEST_SUITE_P(Databases, Fence, ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         target_name);

}  // namespace
}  // namespace semel::leased
