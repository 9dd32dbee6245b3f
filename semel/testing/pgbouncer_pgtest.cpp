#include "semel/testing/pgbouncer.hpp"

#include "semel/testing/postgres_fixture.hpp"
#include "semel/testing/postgres_query.hpp"

#include <gtest/gtest.h>

#include <array>

namespace semel::testing {
namespace {

class PgBouncerTest : public PostgresTest {};

TEST_F(PgBouncerTest, SharesFewServerConnectionsAmongManyClients) {
    const auto bouncer = PgBouncer::start(postgres(), {.pool_size = 1});
    if (!bouncer) GTEST_SKIP() << bouncer.error().describe();
    std::array<std::string, 3> processes;
    for (std::string& process : processes) {
        const auto asked = detail::query(bouncer->url(database()), "SELECT pg_backend_pid()");
        ASSERT_TRUE(asked) << asked.error().describe();
        process = *asked;
    }
    EXPECT_EQ(processes[0], processes[1]);
    EXPECT_EQ(processes[1], processes[2]);
}

TEST_F(PgBouncerTest, WrongSettingFailsWithItsOwnWords) {
    const auto bouncer = PgBouncer::start(postgres(), {.pool_size = 1, .settings = {"pool_mode = no_such_mode"}});
    ASSERT_FALSE(bouncer);
    if (bouncer.error().native.empty()) GTEST_SKIP() << bouncer.error().describe();
    EXPECT_NE(bouncer.error().native.find("no_such_mode"), std::string::npos) << bouncer.error().native;
}

}  // namespace
}  // namespace semel::testing
