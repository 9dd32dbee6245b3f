#include "semel/sqlite/store_test.hpp"

#include <sqlite3.h>

namespace semel::sqlite {
namespace {

using namespace std::chrono_literals;

/// interrupt_now() does to its connection what an impatient thread would do from outside.
void interrupt_now(sqlite3_context* context, int, sqlite3_value**) {
    sqlite3_interrupt(sqlite3_context_db_handle(context));
    sqlite3_result_int(context, 0);
}
int add_interrupt_now(sqlite3* database, char**, const sqlite3_api_routines*) {
    return sqlite3_create_function_v2(database, "interrupt_now", 0, SQLITE_UTF8, nullptr, interrupt_now, nullptr,
                                      nullptr, nullptr);
}

constexpr Sql interrupted_write =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    " INSERT INTO item (id) SELECT 1000 + i + interrupt_now() FROM n";
constexpr Sql rolls_everything_back = "INSERT OR ROLLBACK INTO item (id) VALUES (0)";

class GroupCommit : public StoreTest {
protected:
    void SetUp() override {
        sqlite3_auto_extension(reinterpret_cast<void (*)()>(add_interrupt_now));
        StoreTest::SetUp();
        run("INSERT INTO item (id) VALUES (0)");
        before_ = store_->stats();
    }
    void TearDown() override { sqlite3_reset_auto_extension(); }

    /// Commits 1, 2, the culprit and 4 in one group; 2 and 4 and the culprit only post.
    void run_group_with(Sql culprit) {
        const auto own = session();
        Transaction first(*own, {}, {});
        ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
        queue_posted("INSERT INTO item (id) VALUES (2)");
        queue_posted(culprit);
        queue_posted("INSERT INTO item (id) VALUES (4)");
        first_ = std::move(first).commit();
    }

    [[nodiscard]] std::uint64_t commits() const { return store_->stats().commits - before_.commits; }
    [[nodiscard]] std::uint64_t destroyed() const { return store_->stats().destroyed - before_.destroyed; }

    StoreStats before_;
    Outcome<> first_ = Committed<void>{};
};

TEST_F(GroupCommit, SharesOneCommitAmongThoseWhoAreReady) {
    run_group_with("INSERT INTO item (id) VALUES (3)");
    EXPECT_TRUE(first_.committed());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(answer(i).committed());
    EXPECT_EQ(ids(), "0,1,2,3,4");
    EXPECT_EQ(commits(), 1U);
    EXPECT_EQ(store_->stats().group_largest, 4U);
}

TEST_F(GroupCommit, CommitsALoneTransactionAtOnce) {
    EXPECT_TRUE(insert(1).committed());
    EXPECT_TRUE(insert(2).committed());
    EXPECT_EQ(commits(), 2U);
}

TEST_F(GroupCommit, RefusesOneMemberWithoutHarmToTheOthers) {
    run_group_with("INSERT INTO item (id) VALUES (0)");
    EXPECT_TRUE(first_.committed());
    EXPECT_TRUE(answer(0).committed());
    const auto refused = answer(1);
    ASSERT_TRUE(refused.not_committed());
    EXPECT_EQ(refused.error().cause.constraint, "item_pkey");
    EXPECT_TRUE(answer(2).committed());
    EXPECT_EQ(ids(), "0,1,2,4");
    EXPECT_EQ(commits(), 1U);
    EXPECT_EQ(destroyed(), 0U);
}

TEST_F(GroupCommit, RerunsEveryoneAloneWhenAnInterruptedWriteDestroysTheGroup) {
    run_group_with(interrupted_write);
    ASSERT_TRUE(first_.not_committed()) << "its thread executed it: only that thread can rerun it";
    EXPECT_EQ(first_.error().fault, Fault::conflict);
    EXPECT_TRUE(answer(0).committed());
    const auto culprit = answer(1);
    ASSERT_TRUE(culprit.not_committed());
    EXPECT_EQ(culprit.error().cause.code, "9");
    EXPECT_TRUE(answer(2).committed());
    EXPECT_EQ(ids(), "0,2,4");
    EXPECT_EQ(destroyed(), 1U);
    EXPECT_EQ(commits(), 2U) << "2 and 4, each alone";
}

TEST_F(GroupCommit, RerunsEveryoneAloneWhenOnConflictRollbackDestroysTheGroup) {
    run_group_with(rolls_everything_back);
    ASSERT_TRUE(first_.not_committed());
    EXPECT_EQ(first_.error().fault, Fault::conflict);
    EXPECT_TRUE(answer(0).committed());
    const auto culprit = answer(1);
    ASSERT_TRUE(culprit.not_committed());
    EXPECT_EQ(culprit.error().fault, Fault::rejected);
    EXPECT_EQ(culprit.error().cause.constraint, "item_pkey");
    EXPECT_TRUE(answer(2).committed());
    EXPECT_EQ(ids(), "0,2,4");
    EXPECT_EQ(destroyed(), 1U);
}

TEST_F(GroupCommit, RollsADeferredForeignKeyBackAlone) {
    run_group_with("INSERT INTO part (id, item) VALUES (1, 99)");
    EXPECT_TRUE(first_.committed());
    EXPECT_TRUE(answer(0).committed());
    const auto culprit = answer(1);
    ASSERT_TRUE(culprit.not_committed());
    EXPECT_EQ(culprit.error().fault, Fault::rejected);
    EXPECT_EQ(culprit.error().cause.code, "787");
    EXPECT_TRUE(answer(2).committed());
    EXPECT_EQ(ids(), "0,1,2,4");
    EXPECT_EQ(committed("SELECT count(*) FROM part"), 0);
    EXPECT_EQ(commits(), 1U);
}

TEST_F(GroupCommit, TellsATurnTakerThatDestroysItsGroupToRerunAndThenItsOwnFailure) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    queue_posted("INSERT INTO item (id) VALUES (2)");
    const auto culprit = session();
    const auto destroy = [&culprit] {
        Transaction tx(*culprit, {}, {});
        const auto rows = tx.execute(rolls_everything_back);
        const Status undone = std::move(tx).rollback();
        return Outcome<>(NotCommitted{rows || undone ? Error() : rows.error()});
    };
    queue(destroy);
    EXPECT_TRUE(std::move(first).rollback()) << "it stood on committed ground";
    EXPECT_TRUE(answer(0).committed());
    EXPECT_EQ(answer(1).error().fault, Fault::conflict);
    EXPECT_EQ(ids(), "0,2");

    Transaction again(*culprit, {}, {});
    const auto rows = again.execute(rolls_everything_back);
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::rejected) << "alone, its own failure is the answer";
    EXPECT_TRUE(std::move(again).rollback());
}

TEST_F(GroupCommit, LetsARollbackWaitForTheCommitOfWhatItRead) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    queue_posted("INSERT INTO item (id) VALUES (2)");
    std::uint64_t commits_at_return = 0;
    std::int64_t seen = 0;
    queue([&] {
        const auto reading = session();
        Transaction tx(*reading, {}, {});
        seen = tx.execute("SELECT count(*) FROM item WHERE id = 2").value().scalar<std::int64_t>().value();
        const Status undone = std::move(tx).rollback();
        commits_at_return = commits();
        return undone ? Outcome<>(Committed<void>{}) : Outcome<>(NotCommitted{undone.error()});
    });
    ASSERT_TRUE(std::move(first).rollback());
    EXPECT_TRUE(answer(1).committed());
    EXPECT_TRUE(answer(0).committed());
    EXPECT_EQ(seen, 1) << "it read a row of its own group";
    EXPECT_EQ(commits_at_return, 1U) << "and concluded from it only once that row was durable";
}

TEST_F(GroupCommit, MakesARollbackAConflictWhenWhatItReadWasUndone) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    queue_posted("INSERT INTO item (id) VALUES (2)");
    queue([&] {
        const auto reading = session();
        Transaction tx(*reading, {}, {});
        EXPECT_EQ(tx.execute("SELECT count(*) FROM item WHERE id = 2").value().scalar<std::int64_t>().value(), 1);
        const Status undone = std::move(tx).rollback();
        return undone ? Outcome<>(Committed<void>{}) : Outcome<>(NotCommitted{undone.error()});
    });
    queue_posted(rolls_everything_back);
    ASSERT_TRUE(std::move(first).rollback());
    const auto reader = answer(1);
    ASSERT_TRUE(reader.not_committed());
    EXPECT_EQ(reader.error().fault, Fault::conflict);
    EXPECT_TRUE(answer(0).committed());
    EXPECT_TRUE(answer(2).not_committed());
    EXPECT_EQ(ids(), "0,2");
}

TEST_F(GroupCommit, CommitsForThoseWhoAreDoneWhenTheLastOneIsAbandoned) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    queue([&] {
        const auto dropped = session();
        Transaction tx(*dropped, {}, {});
        EXPECT_TRUE(tx.execute("INSERT INTO item (id) VALUES (2)"));
        return Outcome<>(NotCommitted{Error()});
    });
    EXPECT_TRUE(std::move(first).commit().committed());
    EXPECT_TRUE(answer(0).not_committed());
    EXPECT_EQ(ids(), "0,1");
}

TEST_F(GroupCommit, DropsThoseWhoseDeadlinePassedUnstarted) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    queue([this, until = Deadline::after(clock_.now(), 1s)] {
        return commit_posted({}, until, "INSERT INTO item (id) VALUES (2)");
    });
    queue_posted("INSERT INTO item (id) VALUES (3)");
    clock_.advance(2s);
    EXPECT_TRUE(std::move(first).commit().committed());
    const auto late = answer(0);
    ASSERT_TRUE(late.not_committed());
    EXPECT_EQ(late.error().fault, Fault::unavailable);
    EXPECT_EQ(late.error().cause.timeout, Timeout::queue);
    EXPECT_TRUE(answer(1).committed());
    EXPECT_EQ(ids(), "0,1,3");
    EXPECT_EQ(store_->stats().dropped, 1U);
    EXPECT_EQ(store_->stats().jobs - before_.jobs, 1U) << "the late one was never begun";
}

TEST_F(GroupCommit, WaitsNoLongerForTheTurnThanItsLockTimeout) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    queue([this] {
        const auto waiting = session();
        Transaction tx(*waiting, {.lock_timeout = 1s}, {});
        const auto rows = tx.execute("SELECT 1");
        (void)std::move(tx).rollback();
        return Outcome<>(NotCommitted{rows ? Error() : rows.error()});
    });
    clock_.advance(1s);
    const auto outcome = answer(0);
    EXPECT_EQ(outcome.error().fault, Fault::unavailable);
    EXPECT_EQ(outcome.error().cause.timeout, Timeout::lock);
    EXPECT_TRUE(std::move(first).commit().committed());
}

TEST_F(GroupCommit, TakesTheTurnFromATransactionThatPausesTooLong) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    queue([this] { return commit_posted({.lock_timeout = 1h}, {}, "INSERT INTO item (id) VALUES (2)"); });
    clock_.advance(StoreOptions().turn_pause_max);
    EXPECT_TRUE(answer(0).committed());
    const auto late = std::move(first).commit();
    ASSERT_TRUE(late.not_committed());
    EXPECT_EQ(late.error().fault, Fault::conflict);
    EXPECT_EQ(late.error().cause.timeout, Timeout::transaction);
    EXPECT_EQ(ids(), "0,2");
    EXPECT_EQ(store_->stats().reclaimed, 1U);
    EXPECT_TRUE(insert(3).committed());
}

TEST_F(GroupCommit, LetsNobodyWaitPastItsDeadlineForAPauseOfAnother) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    const Deadline deadline = Deadline::after(clock_.now(), 1s);
    queue([&] {
        const auto done = session();
        Transaction tx(*done, {}, deadline);
        EXPECT_TRUE(tx.execute("INSERT INTO item (id) VALUES (1)"));
        return std::move(tx).commit();
    });
    std::promise<void> pauses;
    std::promise<void> goes_on;
    queue([&] {
        const auto pausing = session();
        Transaction tx(*pausing, {.lock_timeout = 1h}, {});
        EXPECT_TRUE(tx.execute("INSERT INTO item (id) VALUES (2)"));
        pauses.set_value();
        goes_on.get_future().wait();
        return std::move(tx).commit();
    });
    ASSERT_TRUE(std::move(first).rollback());
    pauses.get_future().wait();
    clock_.await_waiters(1);
    clock_.advance(1s);  // Its deadline, long before the other one has paused too long.
    EXPECT_TRUE(answer(0).committed());
    goes_on.set_value();
    const auto late = answer(1);
    ASSERT_TRUE(late.not_committed());
    EXPECT_EQ(late.error().fault, Fault::conflict);
    EXPECT_EQ(ids(), "0,1");
}

TEST_F(GroupCommit, LetsATransactionPauseAsLongAsNobodyWaits) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    clock_.advance(1h);
    EXPECT_TRUE(std::move(first).commit().committed());
}

TEST_F(GroupCommit, SharesNothingWhenItsBoundIsOne) {
    store_ = open_store({.group_members_max = 1});
    before_ = store_->stats();
    run_group_with("INSERT INTO item (id) VALUES (3)");
    EXPECT_TRUE(first_.committed());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(answer(i).committed());
    EXPECT_EQ(commits(), 4U);
    EXPECT_EQ(store_->stats().group_largest, 1U);
}

}  // namespace
}  // namespace semel::sqlite
