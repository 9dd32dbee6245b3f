#include "semel/base/log.hpp"
#include "semel/sqlite/failing_vfs_test.hpp"
#include "semel/sqlite/store_test.hpp"

#include <atomic>

namespace semel::sqlite {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class FailingDisk : public StoreTest {
protected:
    void SetUp() override {
        StoreOptions options;
        options.checkpoint_pages = 8;
        options.on_fatal = [this](const Error& error) {
            ++fatal_;
            fatal_code_ = error.cause.code;
        };
        store_ = open(FailingVfs::uri(path()), options, clock_).value();
        run("CREATE TABLE item (id INTEGER PRIMARY KEY, note TEXT)");
        run("INSERT INTO item (id) VALUES (0)");
    }
    void TearDown() override {
        FailingVfs::log_sync = FailingVfs::database_sync = FailingVfs::log_write = FailingVfs::savepoint_read =
            SQLITE_OK;
        store_.reset();
    }

    FailingVfs vfs_;
    std::atomic<int> fatal_ = 0;
    std::string fatal_code_;
};

TEST_F(FailingDisk, AnswersUnknownToAllWhenTheFsyncOfTheirCommitFailsAndThenRefusesEverything) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    queue_posted("INSERT INTO item (id) VALUES (2)");
    queue_posted("INSERT INTO item (id) VALUES (0)");
    FailingVfs::log_sync = SQLITE_IOERR_FSYNC;
    const auto outcome = std::move(first).commit();
    ASSERT_TRUE(outcome.unknown());
    EXPECT_EQ(outcome.error().fault, Fault::unknown);
    EXPECT_EQ(outcome.error().cause.code, "1034");
    EXPECT_TRUE(answer(0).unknown());
    EXPECT_TRUE(answer(1).not_committed()) << "what it did was undone for certain";
    EXPECT_EQ(own->state(), SessionState::closed);
    EXPECT_EQ(fatal_, 1);
    EXPECT_EQ(fatal_code_, "1034");

    FailingVfs::log_sync = SQLITE_OK;
    const auto refused = store_->session();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::broken);
    EXPECT_THAT(refused.error().cause.hint, HasSubstr("restart the process"));
    EXPECT_EQ(own->begin({}, {}).error().fault, Fault::broken);
    EXPECT_FALSE(store_->health());
}

TEST_F(FailingDisk, KeepsTheLeadWhenASavepointCannotBeUndone) {
    // Enough to move the journal of a savepoint from memory to the disk.
    run("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        " INSERT INTO item (id, note) SELECT i, hex(randomblob(500)) FROM n");
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("SELECT 1"));
    queue([&] {
        const auto joining = session();
        Transaction tx(*joining, {.lock_timeout = 1h}, {});
        EXPECT_TRUE(tx.execute("INSERT INTO item (id) VALUES (-1)"));
        return std::move(tx).commit();
    });
    std::promise<void> pauses;
    std::promise<void> goes_on;
    queue([&] {
        const auto pausing = session();
        Transaction tx(*pausing, {.lock_timeout = 1h}, {});
        EXPECT_TRUE(tx.execute("UPDATE item SET note = hex(randomblob(500))"));
        pauses.set_value();
        goes_on.get_future().wait();
        return std::move(tx).commit();
    });
    ASSERT_TRUE(std::move(first).rollback());
    pauses.get_future().wait();
    clock_.await_waiters(1);
    // The one that is done takes the turn from the one that pauses, whose savepoint then cannot be read:
    // the whole group is undone, and with it whoever has just taken the lead.
    FailingVfs::savepoint_read = SQLITE_IOERR_READ;
    clock_.advance(StoreOptions().turn_pause_max);
    const auto undone = answer(0);
    FailingVfs::savepoint_read = SQLITE_OK;
    ASSERT_TRUE(undone.not_committed());
    EXPECT_EQ(undone.error().fault, Fault::conflict);
    EXPECT_TRUE(insert(-2).committed()) << "someone must lead";
    goes_on.set_value();
    EXPECT_TRUE(answer(1).not_committed());
}

TEST_F(FailingDisk, RefusesASessionThatWasInUseWhenTheStoreStopped) {
    const auto early = session();
    ASSERT_TRUE(early->begin({}, {}));
    early->post({.sql = "INSERT INTO item (id) VALUES (5)", .parameters = {}, .expected_rows = {}});
    FailingVfs::log_sync = SQLITE_IOERR_FSYNC;
    EXPECT_TRUE(insert(1).unknown());
    FailingVfs::log_sync = SQLITE_OK;
    const auto outcome = early->commit({});
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::broken);
    EXPECT_EQ(early->state(), SessionState::closed);
}

TEST_F(FailingDisk, LogsTheFailureWhereNobodyAskedToBeCalled) {
    store_.reset();
    store_ = open(FailingVfs::uri(path()), {}, clock_).value();
    std::string logged;
    set_log_sink([&](LogLevel level, std::string_view line) {
        if (level == LogLevel::error) logged = line;
    });
    FailingVfs::log_sync = SQLITE_IOERR_FSYNC;
    EXPECT_TRUE(insert(1).unknown());
    set_log_sink({});
    EXPECT_THAT(logged, HasSubstr("restart"));
}

TEST_F(FailingDisk, StopsWhenACheckpointCannotBeMadeDurable) {
    FailingVfs::database_sync = SQLITE_IOERR_FSYNC;
    std::int64_t id = 1;
    while (store_->health() && id < 100) {
        EXPECT_TRUE(insert(id).committed()) << "its COMMIT reached the log";
        ++id;
    }
    EXPECT_LT(id, 100);
    EXPECT_EQ(fatal_, 1);
}

TEST_F(FailingDisk, KeepsNothingAndGoesOnWhenTheDiskIsFullAtCommit) {
    const auto own = session();
    Transaction first(*own, {}, {});
    ASSERT_TRUE(first.execute("INSERT INTO item (id) VALUES (1)"));
    queue_posted("INSERT INTO item (id) VALUES (2)");
    FailingVfs::log_write = SQLITE_FULL;
    const auto outcome = std::move(first).commit();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::throttled);
    EXPECT_THAT(outcome.error().cause.hint, HasSubstr("free disk space"));
    EXPECT_EQ(answer(0).error().fault, Fault::throttled);
    FailingVfs::log_write = SQLITE_OK;
    EXPECT_EQ(ids(), "0");
    EXPECT_TRUE(insert(3).committed());
    EXPECT_EQ(ids(), "0,3");
    EXPECT_EQ(fatal_, 0);
}

TEST_F(FailingDisk, KeepsNothingAndGoesOnWhenThePageLimitIsReached) {
    run("PRAGMA max_page_count = 4");
    const std::string large(20'000, 'x');
    const auto outcome = commit_posted({}, {}, "INSERT INTO item (id, note) VALUES (1, $1)", large);
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::throttled);
    EXPECT_EQ(outcome.error().cause.code, "13");
    EXPECT_THAT(outcome.error().cause.hint, HasSubstr("max_page_count"));
    EXPECT_EQ(ids(), "0");
    run("PRAGMA max_page_count = 1000000");
    EXPECT_TRUE(commit_posted({}, {}, "INSERT INTO item (id, note) VALUES (1, $1)", large).committed());
}

}  // namespace
}  // namespace semel::sqlite
