#include "semel/sqlite/borrow.hpp"

#include "semel/db/transaction.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

namespace semel::sqlite {
namespace {

class BorrowTest : public ::testing::Test {
protected:
    BorrowTest() {
        sqlite3* raw = nullptr;
        sqlite3_open(":memory:", &raw);
        database_.reset(raw);
        exec(
            "CREATE TABLE item (id INTEGER PRIMARY KEY);"
            "CREATE TABLE part (item INTEGER REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED)");
    }
    void exec(const char* sql) {
        ASSERT_EQ(sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database_.get());
    }
    [[nodiscard]] std::int64_t number(const char* sql) {
        sqlite3_stmt* raw = nullptr;
        sqlite3_prepare_v2(database_.get(), sql, -1, &raw, nullptr);
        const StatementHandle statement(raw);
        return sqlite3_step(raw) == SQLITE_ROW ? sqlite3_column_int64(raw, 0) : -1;
    }
    [[nodiscard]] std::unique_ptr<BorrowedSession> borrowed() {
        return borrow(database_.get(), Connection::Handlers::ours, clock_).value();
    }

    DatabaseHandle database_;
    testing::ManualClock clock_;
};

TEST_F(BorrowTest, CommitsOnTheCallersConnection) {
    const auto session = borrowed();
    Transaction tx(*session, {}, {});
    tx.post("INSERT INTO item (id) VALUES ($1)", 1);
    EXPECT_EQ(tx.execute("SELECT count(*) FROM item").value().scalar<std::int64_t>().value(), 1);
    EXPECT_TRUE(std::move(tx).commit().committed());
    EXPECT_TRUE(session->release());
    EXPECT_EQ(number("SELECT count(*) FROM item"), 1);
    EXPECT_EQ(session->state(), SessionState::closed);
}

TEST_F(BorrowTest, RefusesAConnectionWithAnOpenTransaction) {
    exec("BEGIN");
    const auto refused = borrow(database_.get(), Connection::Handlers::ours, clock_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
}

TEST_F(BorrowTest, RollsBackAndPutsEverythingBackOnRelease) {
    exec("PRAGMA foreign_keys = OFF");
    sqlite3_busy_timeout(database_.get(), 1234);
    const auto session = borrowed();
    EXPECT_EQ(number("PRAGMA foreign_keys"), 1);
    Transaction tx(*session, {}, {});
    ASSERT_TRUE(tx.execute("INSERT INTO item (id) VALUES (1)"));
    EXPECT_TRUE(session->release());
    EXPECT_NE(sqlite3_get_autocommit(database_.get()), 0);
    EXPECT_EQ(number("SELECT count(*) FROM item"), 0);
    EXPECT_EQ(number("PRAGMA foreign_keys"), 0);
    EXPECT_EQ(number("PRAGMA busy_timeout"), 1234);
}

TEST_F(BorrowTest, RefusesADeferredForeignKeyAtCommitForCertain) {
    const auto session = borrowed();
    Transaction tx(*session, {}, {});
    tx.post("INSERT INTO part (item) VALUES (99)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::rejected);
    EXPECT_EQ(number("SELECT count(*) FROM part"), 0);
    EXPECT_EQ(session->state(), SessionState::idle);
}

TEST_F(BorrowTest, CommitsNothingBehindAStatementThatRolledBackByItself) {
    exec("INSERT INTO item (id) VALUES (1)");
    const auto session = borrowed();
    Transaction tx(*session, {}, {});
    ASSERT_TRUE(tx.execute("INSERT INTO item (id) VALUES (2)"));
    tx.post("INSERT OR ROLLBACK INTO item (id) VALUES (1)");
    tx.post("INSERT INTO item (id) VALUES (3)");
    EXPECT_TRUE(std::move(tx).commit().not_committed());
    EXPECT_EQ(number("SELECT count(*) FROM item"), 1);
}

TEST_F(BorrowTest, CancelsAReadAtItsLimitUnlessTheHandlersAreKept) {
    const auto session = borrowed();
    Transaction tx(*session, {.statement_timeout = Duration::zero()}, {});
    const auto rows =
        tx.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().cause.timeout, Timeout::statement);
    EXPECT_TRUE(session->release());

    const auto kept = borrow(database_.get(), Connection::Handlers::kept, clock_).value();
    Transaction patient(*kept, {.statement_timeout = Duration::zero()}, {});
    EXPECT_TRUE(
        patient.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
                        " SELECT count(*) FROM n"));
    EXPECT_TRUE(std::move(patient).commit().committed());
}

}  // namespace
}  // namespace semel::sqlite
