#include "semel/db/transact.hpp"

#include "semel/db/fake_session_test.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace semel {
namespace {

using namespace std::chrono_literals;

class TransactTest : public ::testing::Test {
protected:
    auto insert() {
        return transact(*database, options, [this](Transaction& tx) -> Result<int> {
            ++bodies;
            SEMEL_TRY(tx.execute("INSERT"));
            return bodies;
        });
    }

    FakeServer server;
    testing::ManualClock clock;
    SeededRandom random{1};
    std::unique_ptr<Database> database = Database::create(connect_to(server), {}, clock, random).value();
    TransactOptions options;
    int bodies = 0;
};

TEST_F(TransactTest, CommitsAtTheFirstAttempt) {
    const auto outcome = insert();
    ASSERT_TRUE(outcome.committed());
    EXPECT_EQ(outcome.value(), 1);
    EXPECT_EQ(server.log, (std::vector<std::string>{"connect", "begin", "execute", "commit"}));
}

TEST_F(TransactTest, RerunsTheWholeBodyAfterALostRace) {
    server.execute_failures = {failure(Fault::conflict), failure(Fault::conflict)};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.committed());
    EXPECT_EQ(outcome.value(), 3) << "the value of the attempt that committed";
    EXPECT_EQ(server.count("begin"), 3U);
    EXPECT_EQ(server.count("rollback"), 2U);
    EXPECT_EQ(server.count("commit"), 1U);
}

TEST_F(TransactTest, GivesTheSessionBackBeforeItSleeps) {
    server.execute_failures = {failure(Fault::unavailable)};
    std::size_t in_use_while_asleep = 99;
    class WatchingClock final : public Clock {
    public:
        WatchingClock(Clock& clock, std::function<void()> on_wait) : clock_(&clock), on_wait_(std::move(on_wait)) {}
        Instant now() const noexcept override { return clock_->now(); }
        Timestamp wall() const noexcept override { return clock_->wall(); }
        Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
                  std::stop_token stop) override {
            on_wait_();
            return clock_->wait(lock, condition, until, stop);
        }

    private:
        Clock* clock_;
        std::function<void()> on_wait_;
    };
    WatchingClock watching(clock, [&] { in_use_while_asleep = database->pool().usage().in_use; });
    database = Database::create(connect_to(server), {}, watching, random).value();
    EXPECT_TRUE(insert().committed());
    EXPECT_EQ(in_use_while_asleep, 0U);
    database.reset();  // Before its clock.
}

TEST_F(TransactTest, ReportsWhatWillNotChangeWithoutTryingAgain) {
    server.execute_failures = {failure(Fault::rejected, "no such table")};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.stop, Stop::not_retryable);
    EXPECT_EQ(outcome.error().message, "no such table");
    EXPECT_EQ(bodies, 1);
}

TEST_F(TransactTest, KeepsTheLastRealErrorWhenAttemptsRunOut) {
    for (int i = 0; i < 10; ++i) server.execute_failures.push_back(failure(Fault::conflict, "deadlock"));
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().message, "deadlock");
    EXPECT_EQ(outcome.error().cause.stop, Stop::attempts);
    EXPECT_EQ(outcome.error().cause.attempts, 5U);
    EXPECT_EQ(bodies, 5);
}

TEST_F(TransactTest, NeverCommitsAfterABodySwallowedAFailure) {
    server.execute_failures = {failure(Fault::rejected, "constraint")};
    const auto outcome = transact(*database, [](Transaction& tx) -> Status {
        (void)tx.execute("INSERT");
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().message, "constraint");
    EXPECT_EQ(server.count("commit"), 0U);
}

TEST_F(TransactTest, RunsAgainWhenACommitIsRefusedByALostRace) {
    server.commits = {NotCommitted{failure(Fault::conflict)}};
    EXPECT_TRUE(insert().committed());
    EXPECT_EQ(server.count("rollback"), 1U) << "what the refused commit left open is undone";
}

TEST_F(TransactTest, AnswersCommittedWhenALostCommitIsFoundCommitted) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    server.resolutions = {Resolution::committed};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.committed());
    EXPECT_EQ(outcome.value(), 1);
    EXPECT_EQ(bodies, 1) << "an effect that happened is not repeated";
}

TEST_F(TransactTest, RerunsWhenALostCommitIsFoundNotCommitted) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    server.resolutions = {Resolution::not_committed};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.committed());
    EXPECT_EQ(bodies, 2);
}

TEST_F(TransactTest, NeverRerunsALostCommitThatCannotBeResolved) {
    server.commits = {Unknown{failure(Fault::unknown, "connection lost")}};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.unknown());
    EXPECT_EQ(outcome.error().message, "connection lost");
    EXPECT_EQ(bodies, 1);
}

TEST_F(TransactTest, AsksAgainWhileTheServerIsAway) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    server.resolutions = {fail(failure(Fault::unavailable)), fail(failure(Fault::unavailable)), Resolution::committed};
    EXPECT_TRUE(insert().committed());
    EXPECT_EQ(server.count("resolve"), 3U);
}

TEST_F(TransactTest, StopsAskingAtTheDeadline) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    for (int i = 0; i < 1000; ++i) server.resolutions.emplace_back(fail(failure(Fault::unavailable)));
    options.deadline = Deadline::after(clock.now(), 3s);
    const auto outcome = insert();
    EXPECT_TRUE(outcome.unknown());
    EXPECT_LE(clock.now(), options.deadline.at());
    EXPECT_EQ(bodies, 1);
}

TEST_F(TransactTest, LetsAnIdentityResolveInsteadOfTheServer) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    options.resolve = [](Session&, const Mark& mark, Deadline) -> Result<Resolution> {
        EXPECT_EQ(mark.transaction, 7U);
        return Resolution::committed;
    };
    EXPECT_TRUE(insert().committed());
    EXPECT_EQ(server.count("resolve"), 0U);
}

TEST_F(TransactTest, TellsABodyWithAnIdentityThatItRunsInDoubt) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    options.lost_commit = LostCommit::rerun;
    std::vector<bool> doubts;
    const auto outcome = transact(*database, options, [&](Transaction&, const Attempt& attempt) -> Status {
        doubts.push_back(attempt.in_doubt);
        return {};
    });
    EXPECT_TRUE(outcome.committed());
    EXPECT_EQ(doubts, (std::vector<bool>{false, true}));
    EXPECT_EQ(server.count("resolve"), 0U);
}

TEST_F(TransactTest, StaysInDoubtWhenTheRerunFailsForCertain) {
    server.commits = {Unknown{failure(Fault::unknown)}};
    options.lost_commit = LostCommit::rerun;
    const auto outcome = transact(*database, options, [&](Transaction&, const Attempt& attempt) -> Status {
        if (attempt.in_doubt) return fail(Fault::rejected, "no such account");
        return {};
    });
    ASSERT_TRUE(outcome.unknown()) << "a failed rerun says nothing about the commit before it";
    EXPECT_EQ(outcome.error().message, "no such account");
}

TEST_F(TransactTest, VoidsWhatWasConcludedFromRowsThatWereUndone) {
    server.execute_failures = {failure(Fault::rejected, "duplicate")};
    server.rollbacks = {fail(failure(Fault::conflict, "the group was undone"))};
    EXPECT_TRUE(insert().committed()) << "the rejection rested on rows that never committed";
    EXPECT_EQ(bodies, 2);
}

TEST_F(TransactTest, VoidsASwallowedConclusionFromRowsThatWereUndone) {
    server.execute_failures = {failure(Fault::rejected, "duplicate")};
    server.rollbacks = {fail(failure(Fault::conflict, "the group was undone"))};
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        ++bodies;
        (void)tx.execute("INSERT");
        return {};
    });
    EXPECT_TRUE(outcome.committed());
    EXPECT_EQ(bodies, 2);
}

TEST_F(TransactTest, AnswersUnknownWhenTheBodyCommittedByItself) {
    server.execute_failures = {failure(Fault::broken, "a statement ended the transaction")};
    server.rollbacks = {fail(failure(Fault::unknown, "cannot be undone"))};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.unknown());
    EXPECT_EQ(outcome.error().message, "a statement ended the transaction");
    EXPECT_EQ(bodies, 1);
}

TEST_F(TransactTest, ResolvesOnAConnectionOfItsOwn) {
    server.commits = {Committed<void>{}, Unknown{failure(Fault::unknown)}};
    server.resolutions = {Resolution::committed};
    ASSERT_TRUE(insert().committed());
    ASSERT_TRUE(insert().committed());
    EXPECT_EQ(server.log.back(), "resolve");
    EXPECT_EQ(server.log[server.log.size() - 2], "connect")
        << "those that are open may be as dead as the one that was lost";
}

TEST_F(TransactTest, DoesNotStartPastItsDeadline) {
    options.deadline = Deadline::at(clock.now());
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.timeout, Timeout::total);
    EXPECT_TRUE(server.log.empty());
}

TEST_F(TransactTest, StartsNothingThatCannotFinish) {
    options.deadline = Deadline::after(clock.now(), 4ms);
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.timeout, Timeout::total);
    EXPECT_EQ(outcome.error().cause.stop, Stop::deadline);
    EXPECT_TRUE(server.log.empty()) << "no session is opened or spent on it";
    options.deadline = Deadline::after(clock.now(), 5ms);
    EXPECT_TRUE(insert().committed());
}

TEST_F(TransactTest, SendsNoCommitThatCannotBeAnsweredInTime) {
    options.deadline = Deadline::after(clock.now(), 10s);
    const auto outcome = transact(*database, options, [this](Transaction& tx) -> Status {
        SEMEL_TRY(tx.execute("INSERT"));
        clock.advance(9s + 996ms);
        return {};
    });
    ASSERT_TRUE(outcome.not_committed()) << "and not in doubt";
    EXPECT_EQ(outcome.error().cause.timeout, Timeout::total);
    EXPECT_EQ(server.log, (std::vector<std::string>{"connect", "begin", "execute", "rollback"}));
}

TEST_F(TransactTest, KeepsTheRealErrorWhenTooLittleTimeIsLeftForARerun) {
    server.execute_failures = {failure(Fault::conflict, "deadlock")};
    options.deadline = Deadline::after(clock.now(), 100ms);
    const auto outcome = transact(*database, options, [this](Transaction& tx) -> Status {
        clock.advance(96ms);
        SEMEL_TRY(tx.execute("INSERT"));
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().message, "deadlock");
    EXPECT_EQ(outcome.error().cause.stop, Stop::deadline);
}

TEST_F(TransactTest, NamesTheDeadlineWhenAStatementRanIntoIt) {
    Error cancelled = failure(Fault::rejected, "cancelled");
    cancelled.cause.timeout = Timeout::total;
    server.execute_failures = {cancelled};
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.stop, Stop::deadline);
}

TEST_F(TransactTest, DoesNotWaitForAnAttemptThatCannotFit) {
    for (int i = 0; i < 10; ++i) server.execute_failures.push_back(failure(Fault::throttled));
    server.execute_failures.front().cause.retry_after = 1s;
    options.deadline = Deadline::after(clock.now(), 500ms);
    const Instant before = clock.now();
    const auto outcome = insert();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.stop, Stop::deadline);
    EXPECT_EQ(clock.now(), before);
}

TEST_F(TransactTest, StopsWaitingWhenAskedTo) {
    std::stop_source stopping;
    options.stop = stopping.get_token();
    server.execute_failures = {failure(Fault::conflict)};
    const auto outcome = transact(*database, options, [&](Transaction& tx) -> Status {
        stopping.request_stop();
        SEMEL_TRY(tx.execute("INSERT"));
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.stop, Stop::stopped);
}

TEST_F(TransactTest, LetsAnExceptionThroughAndKeepsNothing) {
    EXPECT_THROW((void)transact(*database, [](Transaction&) -> Status { throw std::runtime_error("bug"); }),
                 std::runtime_error);
    EXPECT_EQ(server.count("commit"), 0U);
    EXPECT_EQ(server.open, 0) << "closing the session makes the server undo the transaction";
    EXPECT_EQ(database->pool().usage().in_use, 0U);
}

TEST_F(TransactTest, LeavesADatabaseAloneThatKeepsFailing) {
    for (int i = 0; i < 100; ++i) server.connect_failures.push_back(failure(Fault::unavailable, "refused"));
    Outcome<int> last = insert();
    for (int i = 0; i < 10; ++i) last = insert();
    ASSERT_TRUE(last.not_committed());
    EXPECT_EQ(last.error().cause.stop, Stop::breaker);
    EXPECT_LT(server.count("connect"), 50U);
    server.connect_failures.clear();
    clock.advance(10s);
    EXPECT_TRUE(insert().committed()) << "and looks again after a while";
}

TEST(DatabaseOptions, ThatCannotWorkAreRefusedByName) {
    FakeServer server;
    DatabaseOptions options;
    options.pool.size = 0;
    const auto refused = Database::create(connect_to(server), options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "pool.size must be from 1 to 10,000");
}

}  // namespace
}  // namespace semel
