#include "semel/sqlite/failure_table.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string>

namespace semel::sqlite {
namespace {

struct Expected {
    int code;
    Fault connect, transaction, commit;
};

// Written down from SQLite's documentation and FACTS, by its own names for the codes.
constexpr std::array expectations{
    Expected{SQLITE_BUSY, Fault::unavailable, Fault::unavailable, Fault::unavailable},
    Expected{SQLITE_BUSY_RECOVERY, Fault::unavailable, Fault::conflict, Fault::conflict},
    Expected{SQLITE_BUSY_SNAPSHOT, Fault::conflict, Fault::conflict, Fault::conflict},
    Expected{SQLITE_BUSY_TIMEOUT, Fault::unavailable, Fault::unavailable, Fault::unavailable},
    Expected{SQLITE_LOCKED, Fault::unavailable, Fault::conflict, Fault::conflict},
    Expected{SQLITE_LOCKED_SHAREDCACHE, Fault::unavailable, Fault::conflict, Fault::conflict},
    Expected{SQLITE_LOCKED_VTAB, Fault::unavailable, Fault::conflict, Fault::conflict},
    Expected{SQLITE_PROTOCOL, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_ABORT, Fault::conflict, Fault::conflict, Fault::unknown},
    Expected{SQLITE_ABORT_ROLLBACK, Fault::conflict, Fault::conflict, Fault::unknown},
    Expected{SQLITE_INTERRUPT, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_SCHEMA, Fault::conflict, Fault::conflict, Fault::unknown},
    Expected{SQLITE_ERROR_RETRY, Fault::conflict, Fault::conflict, Fault::unknown},
    Expected{SQLITE_ERROR_SNAPSHOT, Fault::conflict, Fault::conflict, Fault::unknown},
    Expected{SQLITE_FULL, Fault::throttled, Fault::throttled, Fault::throttled},
    Expected{SQLITE_NOMEM, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_IOERR, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_IOERR_WRITE, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_IOERR_SHORT_READ, Fault::broken, Fault::broken, Fault::unknown},
    Expected{SQLITE_IOERR_FSYNC, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_IOERR_DIR_FSYNC, Fault::unavailable, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_IOERR_CORRUPTFS, Fault::broken, Fault::broken, Fault::unknown},
    Expected{SQLITE_PERM, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY_RECOVERY, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY_CANTLOCK, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY_ROLLBACK, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY_DBMOVED, Fault::broken, Fault::broken, Fault::broken},
    Expected{SQLITE_READONLY_CANTINIT, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_READONLY_DIRECTORY, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CANTOPEN, Fault::rejected, Fault::unavailable, Fault::unknown},
    Expected{SQLITE_NOTADB, Fault::rejected, Fault::broken, Fault::broken},
    Expected{SQLITE_CORRUPT, Fault::broken, Fault::broken, Fault::unknown},
    Expected{SQLITE_CORRUPT_INDEX, Fault::broken, Fault::broken, Fault::unknown},
    Expected{SQLITE_NOLFS, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_ERROR, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_NOTFOUND, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_TOOBIG, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_MISMATCH, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_AUTH, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_RANGE, Fault::rejected, Fault::rejected, Fault::unknown},
    Expected{SQLITE_CONSTRAINT, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_CHECK, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_COMMITHOOK, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_FOREIGNKEY, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_FUNCTION, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_NOTNULL, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_PRIMARYKEY, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_TRIGGER, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_UNIQUE, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_VTAB, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_ROWID, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_PINNED, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_CONSTRAINT_DATATYPE, Fault::rejected, Fault::rejected, Fault::rejected},
    Expected{SQLITE_INTERNAL, Fault::broken, Fault::broken, Fault::unknown},
    Expected{SQLITE_MISUSE, Fault::broken, Fault::broken, Fault::unknown},
};

TEST(SqliteFailureTable, SaysOfEachCodeWhatTheCallerCanDo) {
    for (const Expected& row : expectations) {
        EXPECT_EQ(fault_of(row.code, Phase::connect), row.connect) << row.code;
        EXPECT_EQ(fault_of(row.code, Phase::transaction), row.transaction) << row.code;
        EXPECT_EQ(fault_of(row.code, Phase::commit), row.commit) << row.code;
    }
}

TEST(SqliteFailureTable, HasNoRowThatNobodyExpects) {
    for (const Rule& rule : sqlite_rules()) {
        const bool expected = std::ranges::any_of(
            expectations, [&](const Expected& row) { return std::to_string(row.code) == rule.code; });
        EXPECT_TRUE(expected) << rule.code << " " << rule.name;
    }
}

TEST(SqliteFailureTable, NamesEachCodeAsSqliteDoes) {
    EXPECT_EQ(rule_of(SQLITE_BUSY_SNAPSHOT)->name, "BUSY_SNAPSHOT");
    EXPECT_EQ(rule_of(SQLITE_IOERR_FSYNC)->name, "IOERR_FSYNC");
    EXPECT_EQ(rule_of(SQLITE_IOERR_WRITE)->name, "IOERR") << "an extended code without a row has its primary code's";
}

TEST(SqliteFailureTable, TakesACodeThatNobodyKnowsForABugAndAtCommitForUnknown) {
    constexpr int from_the_future = 200;
    EXPECT_EQ(rule_of(from_the_future), nullptr);
    EXPECT_EQ(fault_of(from_the_future, Phase::transaction), Fault::broken);
    EXPECT_EQ(fault_of(from_the_future, Phase::commit), Fault::unknown);
}

}  // namespace
}  // namespace semel::sqlite
