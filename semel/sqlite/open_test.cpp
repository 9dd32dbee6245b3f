#include "semel/sqlite/open.hpp"

#include "semel/db/transaction.hpp"
#include "semel/sqlite/handle.hpp"
#include "semel/testing/manual_clock.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace semel::sqlite {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OpenTest : public ::testing::Test {
protected:
    [[nodiscard]] std::string path(const char* name = "store.db") const { return directory_.path() / name; }
    [[nodiscard]] Error refusal(const std::string& where, const StoreOptions& options = {}) {
        const auto opened = open(where, options, clock_);
        EXPECT_FALSE(opened);
        return opened ? Error() : opened.error();
    }
    /// A connection as another process would have it.
    [[nodiscard]] static DatabaseHandle other(const std::string& where, const char* sql) {
        sqlite3* raw = nullptr;
        sqlite3_open(where.c_str(), &raw);
        EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
        return DatabaseHandle(raw);
    }
    void make_empty_database() { ASSERT_TRUE(open(path(), {}, clock_)); }

    testing::TempDir directory_ = testing::TempDir::make("sqlite").value();
    testing::ManualClock clock_;
};

/// Root may write everything, so that a refusal has to be tried as somebody else.
class AsNobody {
public:
    explicit AsNobody(const fs::path& directory) {
        constexpr uid_t nobody = 65534;
        if (::geteuid() != 0) return;
        fs::permissions(directory, fs::perms(0755));
        switched_ = ::seteuid(nobody) == 0;
    }
    ~AsNobody() {
        if (switched_ && ::seteuid(0) != 0) std::abort();
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;

private:
    bool switched_ = false;
};

TEST_F(OpenTest, MakesTheFileUnlessToldNotTo) {
    const Error error = refusal(path(), {.create = false});
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_THAT(error.message, HasSubstr("does not exist"));
    EXPECT_TRUE(open(path(), {}, clock_));
    EXPECT_TRUE(open(path(), {.create = false}, clock_));
}

TEST_F(OpenTest, NamesTheDirectoryThatIsMissing) {
    const Error error = refusal(path("missing/store.db"));
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_THAT(error.message, HasSubstr("missing does not exist"));
    EXPECT_FALSE(error.cause.hint.empty());
}

TEST_F(OpenTest, RefusesADirectory) { EXPECT_THAT(refusal(directory_.path()).message, HasSubstr("is a directory")); }

TEST_F(OpenTest, RefusesAFileOfAnotherProgramAndLeavesItAlone) {
    const std::string content(5000, 'x');
    std::ofstream(path()) << content;
    const Error error = refusal(path());
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_EQ(error.cause.code, "26");
    EXPECT_THAT(error.message, HasSubstr("not an SQLite database"));
    EXPECT_EQ(fs::file_size(path()), content.size());
}

TEST_F(OpenTest, CallsADamagedFileBroken) {
    make_empty_database();
    { const auto filled = other(path(), "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(9000))"); }
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(4096, '\xff');
    file.close();
    const auto store = open(path(), {}, clock_);
    ASSERT_TRUE(store);
    const auto session = (*store)->session().value();
    Transaction tx(*session, {}, {});
    const auto rows = tx.execute("SELECT * FROM t");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::broken);
    EXPECT_THAT(rows.error().message, HasSubstr("damaged"));
}

TEST_F(OpenTest, SaysThatAFileIsReadOnly) {
    make_empty_database();
    fs::permissions(path(), fs::perms(0444));
    const AsNobody nobody(directory_.path());
    const Error error = refusal(path());
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_THAT(error.message, HasSubstr("read-only"));
    EXPECT_FALSE(error.cause.hint.empty());
}

TEST_F(OpenTest, SaysThatADirectoryIsReadOnly) {
    make_empty_database();
    fs::permissions(path(), fs::perms::all);
    fs::permissions(directory_.path(), fs::perms(0555));
    {
        const AsNobody nobody(directory_.path());
        const Error error = refusal(path());
        EXPECT_EQ(error.fault, Fault::rejected);
        EXPECT_THAT(error.message, HasSubstr("directory"));
        EXPECT_THAT(error.message, HasSubstr("read-only"));
    }
    fs::permissions(directory_.path(), fs::perms::owner_all);
}

TEST_F(OpenTest, SaysThatItMayNotEnterADirectory) {
    make_empty_database();
    const fs::path inner = directory_.path() / "inner";
    fs::create_directory(inner);
    fs::permissions(inner, fs::perms(0600));
    const AsNobody nobody(directory_.path());
    const Error error = refusal(inner / "store.db");
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_THAT(error.message, HasSubstr("may not be entered"));
}

TEST_F(OpenTest, WaitsForAnotherProcessNoLongerThanItsLimit) {
    make_empty_database();
    const auto locked = other(path(), "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (a)");
    const Instant before = clock_.now();
    const Error error = refusal(path(), {.lock_timeout = std::chrono::seconds(3)});
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_EQ(error.cause.timeout, Timeout::lock);
    EXPECT_THAT(error.message, HasSubstr("locked by another process"));
    EXPECT_EQ(clock_.now() - before, std::chrono::seconds(3));
}

TEST_F(OpenTest, FailsATransactionThatAnotherProcessKeepsFromBeginning) {
    const auto store = open(path(), {}, clock_).value();
    auto writer = other(path(), "CREATE TABLE t (a); BEGIN IMMEDIATE");
    const auto session = store->session().value();
    {
        Transaction tx(*session, {.lock_timeout = std::chrono::seconds(2)}, {});
        tx.post("INSERT INTO t VALUES (1)");
        const auto outcome = std::move(tx).commit();
        ASSERT_TRUE(outcome.not_committed());
        EXPECT_EQ(outcome.error().fault, Fault::unavailable);
        EXPECT_EQ(outcome.error().cause.timeout, Timeout::lock);
    }
    writer.reset();
    Transaction tx(*session, {}, {});
    tx.post("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(std::move(tx).commit().committed());
}

TEST_F(OpenTest, GivesAPoolItsSessions) {
    const auto connect = connector(open(path(), {}, clock_).value());
    const auto session = connect({});
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->dialect(), Dialect::sqlite);
    EXPECT_EQ((*session)->state(), SessionState::idle);
    EXPECT_FALSE((*session)->mark().taken);
}

}  // namespace
}  // namespace semel::sqlite
