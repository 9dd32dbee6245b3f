#include "semel/postgres/failure_table.hpp"

#include "semel/db/own_code.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace semel::postgres {
namespace {

struct Expectation {
    Fault connect;
    Fault transaction;
    Fault commit;
    bool closes;
};

constexpr Expectation rerun{Fault::conflict, Fault::conflict, Fault::conflict, false};
constexpr Expectation later{Fault::unavailable, Fault::unavailable, Fault::unavailable, false};
constexpr Expectation later_elsewhere{Fault::unavailable, Fault::unavailable, Fault::unavailable, true};
constexpr Expectation lost{Fault::unavailable, Fault::unavailable, Fault::unknown, true};
constexpr Expectation doubt{Fault::unknown, Fault::unknown, Fault::unknown, true};
constexpr Expectation capacity{Fault::throttled, Fault::throttled, Fault::throttled, false};
constexpr Expectation never{Fault::rejected, Fault::rejected, Fault::rejected, false};
constexpr Expectation never_here{Fault::rejected, Fault::rejected, Fault::rejected, true};
constexpr Expectation bug{Fault::broken, Fault::broken, Fault::broken, false};

/// Written down from PostgreSQL's list of codes and what each allows, not from the table.
const std::map<std::string, Expectation>& expectations() {
    static const std::map<std::string, Expectation> list{
        {"40001", rerun},
        {"40P01", rerun},
        {"40000", rerun},
        {"SM006", rerun},
        {"SM001", never},
        {"SM002", never},
        {"SM003", never},
        {"SM004", never},
        {"SM005", never},
        {"SM007", never},
        {"55P03", later},
        {"55006", later},
        {"53300", later_elsewhere},
        {"57P03", later_elsewhere},
        {"25006", later_elsewhere},
        {"08000", lost},
        {"08001", lost},
        {"08003", lost},
        {"08004", lost},
        {"08006", lost},
        {"57P01", lost},
        {"57P02", lost},
        {"57P05", lost},
        {"25P03", lost},
        {"40003", doubt},
        {"08007", doubt},
        {"53000", capacity},
        {"53100", capacity},
        {"53200", capacity},
        {"53400", capacity},
        {"58000", capacity},
        {"58030", capacity},
        {"57014", never},
        {"23505", never},
        {"23P01", never},
        {"26000", never},
        {"42P05", never},
        {"3F000", never},
        {"57P04", never_here},
        {"08P01", never_here},
        {"3D000", never_here},
        // One code of each class, and the class itself.
        {"0A000", never},
        {"0A*", never},
        {"22P02", never},
        {"22*", never},
        {"23503", never},
        {"23*", never},
        {"28P01", never_here},
        {"28*", never_here},
        {"42601", never},
        {"42*", never},
        {"XX000", bug},
        {"XX*", bug},
    };
    return list;
}

class EveryCode : public ::testing::TestWithParam<std::pair<const std::string, Expectation>> {};

TEST_P(EveryCode, MeansWhatWasWrittenDown) {
    const auto& [code, expected] = GetParam();
    EXPECT_EQ(classify(postgres_rules(), code, Phase::connect), expected.connect);
    EXPECT_EQ(classify(postgres_rules(), code, Phase::transaction), expected.transaction);
    EXPECT_EQ(classify(postgres_rules(), code, Phase::commit), expected.commit);
    EXPECT_EQ(closes_session(code), expected.closes);
}

INSTANTIATE_TEST_SUITE_P(FailureTable, EveryCode, ::testing::ValuesIn(expectations()), [](const auto& test) {
    std::string name = test.param.first;
    if (name.back() == '*') name.replace(name.size() - 1, 1, "_class");
    return name;
});

TEST(FailureTable, HasNoRowThatNobodyWroteDown) {
    for (const Rule& rule : postgres_rules()) EXPECT_TRUE(expectations().contains(std::string(rule.code))) << rule.code;
}

TEST(FailureTable, MeansByOurOwnCodesWhatTheyMeanOnEveryDatabase) {
    for (const OwnCode& own : own_codes) {
        const Error error = error_from_code(own.code, "", Phase::transaction);
        EXPECT_EQ(error.fault, own.fault) << own.code;
        EXPECT_EQ(error.cause.code, own.code);
    }
}

TEST(FailureTable, DoesNotGuessAboutACodeItDoesNotKnow) {
    EXPECT_EQ(error_from_code("ZZ999", "", Phase::transaction).fault, Fault::rejected);
    EXPECT_EQ(error_from_code("P0001", "", Phase::commit).fault, Fault::rejected);
}

TEST(FailureTable, TakesNoAnswerToCommitForADoubt) {
    EXPECT_EQ(lost_connection("gone", Phase::commit).fault, Fault::unknown);
    EXPECT_EQ(lost_connection("gone", Phase::transaction).fault, Fault::unavailable);
    EXPECT_EQ(error_from_code("", "gone", Phase::commit).fault, Fault::unknown);
    EXPECT_TRUE(closes_session(""));
}

TEST(FailureTable, NamesTheLimitThatRanOut) {
    EXPECT_EQ(error_from_code("55P03", "", Phase::transaction).cause.timeout, Timeout::lock);
    EXPECT_EQ(error_from_code("57014", "", Phase::transaction).cause.timeout, Timeout::statement);
    EXPECT_EQ(error_from_code("40001", "", Phase::transaction).cause.timeout, Timeout::none);
}

TEST(FailureTable, KeepsTheServersTextOutOfTheMessage) {
    const Error error = error_from_code("23505", "Key (email)=(ann@example.org) already exists.\n", Phase::transaction);
    EXPECT_EQ(error.message, "the server answered unique_violation (23505)");
    EXPECT_EQ(error.native, "Key (email)=(ann@example.org) already exists.");
    EXPECT_EQ(error.cause.code, "23505");
}

TEST(FailureTable, TellsWhatToDoAboutAWrongPasswordAndAMissingDatabase) {
    EXPECT_THAT(error_from_code("28P01", "", Phase::connect).cause.hint, ::testing::HasSubstr("password"));
    EXPECT_THAT(error_from_code("3D000", "", Phase::connect).cause.hint, ::testing::HasSubstr("database"));
}

}  // namespace
}  // namespace semel::postgres
