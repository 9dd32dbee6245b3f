#include "semel/postgres/connection_string.hpp"

#include "semel/postgres/connect.hpp"

#include <gmock/gmock.h>

namespace semel::postgres {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string setting(const ConnectionString& parsed, std::string_view keyword) {
    for (const auto& [name, value] : parsed.settings) {
        if (name == keyword) return value;
    }
    return {};
}

TEST(ConnectionString, ReadsAUrlWithSeveralHosts) {
    const auto parsed = parse_connection_string("postgres://ann:s%40crt@one:6000,two:6001/shop?sslmode=verify-full");
    ASSERT_TRUE(parsed) << parsed.error().describe();
    ASSERT_EQ(parsed->hosts.size(), 2U);
    EXPECT_EQ(parsed->hosts[0].name, "one");
    EXPECT_EQ(parsed->hosts[0].port, "6000");
    EXPECT_EQ(parsed->hosts[1].name, "two");
    EXPECT_EQ(parsed->hosts[1].port, "6001");
    EXPECT_EQ(setting(*parsed, "user"), "ann");
    EXPECT_EQ(setting(*parsed, "password"), "s@crt");
    EXPECT_EQ(setting(*parsed, "dbname"), "shop");
    EXPECT_EQ(setting(*parsed, "sslmode"), "verify-full");
}

TEST(ConnectionString, ReadsKeywords) {
    const auto parsed =
        parse_connection_string("host=one hostaddr=10.0.0.1 port=6000 dbname=shop target_session_attrs=read-write");
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->hosts.size(), 1U);
    EXPECT_EQ(parsed->hosts[0].name, "one");
    EXPECT_EQ(parsed->hosts[0].address, "10.0.0.1");
    EXPECT_EQ(parsed->target, Target::read_write);
}

TEST(ConnectionString, GivesEveryHostTheOnePort) {
    const auto parsed = parse_connection_string("host=one,two port=6000");
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->hosts.size(), 2U);
    EXPECT_EQ(parsed->hosts[1].port, "6000");
}

TEST(ConnectionString, SaysWhatIsWrongAndWhere) {
    const auto missing = parse_connection_string("host=one dbname");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().fault, Fault::rejected);
    EXPECT_THAT(missing.error().message, HasSubstr("\"dbname\""));
    EXPECT_THAT(missing.error().message, HasSubstr("at character 10"));

    const auto unknown = parse_connection_string("hots=one");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("\"hots\""));

    EXPECT_FALSE(parse_connection_string(""));
    EXPECT_FALSE(parse_connection_string("postgres://[::1/shop"));
    EXPECT_FALSE(parse_connection_string("host=one,two,three port=1,2"));
    EXPECT_FALSE(parse_connection_string("host=one port=70000"));
    EXPECT_FALSE(parse_connection_string("service=shop"));
}

class MalformedWithPassword : public ::testing::TestWithParam<const char*> {};

TEST_P(MalformedWithPassword, NeverShowsThePassword) {
    const auto parsed = parse_connection_string(GetParam());
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().describe(), Not(HasSubstr("hunter2"))) << parsed.error().describe();
}

INSTANTIATE_TEST_SUITE_P(ConnectionString, MalformedWithPassword,
                         ::testing::Values("postgres://ann:hunter2", "postgres://ann:hunter2%zz@one/shop",
                                           "postgres://ann:x@hunter2@one/shop", "password=no hunter2 host=one",
                                           "password='hunter2 host=one", "postgres://one/shop?password=hunter2&hots=1",
                                           "postgres://ann:hunter2@[::1/shop", "host=one passwrod=hunter2",
                                           "postgres://ann:hunter2@one:port/shop", R"(shop"://ann:hunter2@one)",
                                           R"(password=x"y hunter2)"));

TEST(ConnectionString, FindsTheSqlstateInARefusal) {
    EXPECT_EQ(
        sqlstate_in(
            "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password authentication failed"),
        "28P01");
    EXPECT_EQ(sqlstate_in("connection to server at \"127.0.0.1\", port 5432 failed: Connection refused"), "");
    EXPECT_EQ(sqlstate_in("FATAL:  28P0"), "");
}

}  // namespace
}  // namespace semel::postgres
