#include "semel/sqlite/statement_cache.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace semel::sqlite {
namespace {

class StatementCacheTest : public ::testing::Test {
protected:
    StatementCacheTest() {
        sqlite3* raw = nullptr;
        sqlite3_open(":memory:", &raw);
        database_.reset(raw);
    }
    [[nodiscard]] StatementCache cache(std::size_t statements_max) const { return {database_.get(), statements_max}; }

    DatabaseHandle database_;
    PrepareFailure failure_;
};

TEST_F(StatementCacheTest, CompilesATextOnce) {
    auto statements = cache(2);
    Prepared* first = statements.prepare("SELECT 1", failure_);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(statements.prepare(std::string("SELECT 1"), failure_), first);
    EXPECT_EQ(statements.misses(), 1U);
}

TEST_F(StatementCacheTest, LetsTheLeastRecentlyUsedOneGo) {
    auto statements = cache(2);
    (void)statements.prepare("SELECT 1", failure_);
    (void)statements.prepare("SELECT 2", failure_);
    (void)statements.prepare("SELECT 1", failure_);
    (void)statements.prepare("SELECT 3", failure_);
    EXPECT_EQ(statements.size(), 2U);
    (void)statements.prepare("SELECT 1", failure_);
    EXPECT_EQ(statements.misses(), 3U);
    (void)statements.prepare("SELECT 2", failure_);
    EXPECT_EQ(statements.misses(), 4U);
}

TEST_F(StatementCacheTest, KnowsEachParameterByItsNumber) {
    auto statements = cache(2);
    const Prepared* prepared = statements.prepare("SELECT $3, $1, $3", failure_);
    ASSERT_NE(prepared, nullptr);
    EXPECT_EQ(prepared->numbers, (std::vector{3, 1}));
    EXPECT_EQ(prepared->number_max, 3);
}

TEST_F(StatementCacheTest, RefusesAnyOtherWayToWriteAParameter) {
    auto statements = cache(2);
    for (const char* text : {"SELECT ?", "SELECT ?1", "SELECT :a", "SELECT @a", "SELECT $a", "SELECT $1::text"}) {
        EXPECT_EQ(statements.prepare(text, failure_), nullptr) << text;
        EXPECT_EQ(failure_.code, 0) << text;
    }
}

TEST_F(StatementCacheTest, RefusesASecondStatementInsteadOfLeavingItOut) {
    auto statements = cache(4);
    EXPECT_EQ(statements.prepare("SELECT 1; SELECT 2", failure_), nullptr);
    EXPECT_EQ(statements.prepare("SELECT 1; SELEKT", failure_), nullptr);
    EXPECT_NE(statements.prepare("SELECT 1; -- done\n", failure_), nullptr);
}

TEST_F(StatementCacheTest, SaysWhatSqliteSaidOfAWrongText) {
    auto statements = cache(2);
    EXPECT_EQ(statements.prepare("SELEKT 1", failure_), nullptr);
    EXPECT_EQ(failure_.code & 0xff, SQLITE_ERROR);
    EXPECT_FALSE(failure_.message.empty());
    EXPECT_EQ(statements.size(), 0U);
}

}  // namespace
}  // namespace semel::sqlite
