#include "semel/mariadb/failure_table.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace semel::mariadb {
namespace {

using enum Fault;

struct Expectation {
    unsigned code;
    Fault connect;
    Fault transaction;
    Fault commit;
    bool closes_session;

    friend void PrintTo(const Expectation& e, std::ostream* out) { *out << e.code; }
};

constexpr Expectation expectations[] = {
    // Rerun the transaction.
    {1213, conflict, conflict, conflict, false},
    {1614, conflict, conflict, conflict, false},
    {1205, conflict, conflict, conflict, false},
    {1020, conflict, conflict, conflict, false},
    // Connect again.
    {1040, unavailable, unavailable, unknown, true},
    {1042, unavailable, unavailable, unknown, true},
    {1203, unavailable, unavailable, unknown, true},
    {2002, unavailable, unavailable, unknown, true},
    {2003, unavailable, unavailable, unknown, true},
    {1047, unavailable, unavailable, unavailable, true},
    // By our own phase.
    {2006, unavailable, unavailable, unknown, true},
    {2013, unavailable, unavailable, unknown, true},
    {2055, unavailable, unavailable, unknown, true},
    {1053, unavailable, unavailable, unknown, true},
    {1927, unavailable, unavailable, unknown, true},
    {4031, unavailable, unavailable, unknown, true},
    {1180, unavailable, unavailable, unknown, true},
    // Find the primary again.
    {1290, unavailable, unavailable, unavailable, true},
    {1792, unavailable, unavailable, unavailable, true},
    {1836, unavailable, unavailable, unavailable, true},
    // Our own limit.
    {1317, rejected, rejected, rejected, false},
    {1969, rejected, rejected, rejected, false},
    {3024, rejected, rejected, rejected, false},
    // Capacity.
    {1021, throttled, throttled, throttled, false},
    {1114, throttled, throttled, throttled, false},
    // Never.
    {1044, rejected, rejected, rejected, true},
    {1045, rejected, rejected, rejected, true},
    {1049, rejected, rejected, rejected, true},
    {1048, rejected, rejected, rejected, false},
    {1054, rejected, rejected, rejected, false},
    {1062, rejected, rejected, rejected, false},
    {1064, rejected, rejected, rejected, false},
    {1142, rejected, rejected, rejected, false},
    {1146, rejected, rejected, rejected, false},
    {1264, rejected, rejected, rejected, false},
    {1406, rejected, rejected, rejected, false},
    {1451, rejected, rejected, rejected, false},
    {1452, rejected, rejected, rejected, false},
    {3819, rejected, rejected, rejected, false},
    {4025, rejected, rejected, rejected, false},
    // A bug.
    {2014, broken, broken, unknown, true},
};

class MariaDbTable : public ::testing::TestWithParam<Expectation> {};

TEST_P(MariaDbTable, ClassifiesByPhase) {
    const Expectation& expected = GetParam();
    EXPECT_EQ(classify(expected.code, Phase::connect), expected.connect);
    EXPECT_EQ(classify(expected.code, Phase::transaction), expected.transaction);
    EXPECT_EQ(classify(expected.code, Phase::commit), expected.commit);
    EXPECT_EQ(find(mariadb_rules(), std::to_string(expected.code))->closes_session, expected.closes_session);
}

INSTANTIATE_TEST_SUITE_P(Each, MariaDbTable, ::testing::ValuesIn(expectations));

TEST(MariaDbTableRows, AreAllExpectedAbove) { EXPECT_EQ(mariadb_rules().size(), std::size(expectations)); }

TEST(MariaDbTableRows, ALockTimeoutLeavesTheTransactionOpenAndADeadlockDoesNot) {
    EXPECT_TRUE(leaves_transaction_open(1205));
    EXPECT_FALSE(leaves_transaction_open(1213));
}

TEST(MariaDbTableRows, AFailureWithoutANumberIsUnknownOnlyAtCommit) {
    EXPECT_EQ(classify(0, Phase::connect), unavailable);
    EXPECT_EQ(classify(0, Phase::transaction), unavailable);
    EXPECT_EQ(classify(0, Phase::commit), unknown);
}

TEST(MariaDbTableRows, AnUnclassifiedNumberIsNotRetryable) { EXPECT_EQ(classify(1999, Phase::transaction), rejected); }

}  // namespace
}  // namespace semel::mariadb
