// Callers that leave a transaction next to no time: they fail, and nobody else does.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;

class ShortDeadlineTest : public testing::PostgresTest {
protected:
    void SetUp() override {
        testing::PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // Whoever writes into `slow` waits at COMMIT, as behind a distant standby.
        const Status made = postgres().sql(
            "CREATE TABLE good (id serial); CREATE TABLE slow (id serial);"
            "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN PERFORM pg_sleep(0.06); RETURN NULL; END$$;"
            "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION dawdle()",
            PostgresTest::database());
        ASSERT_TRUE(made) << made.error().describe();
        open_database(url());
    }

    /// Where the server takes a second to get ready for each connection.
    [[nodiscard]] std::string slow_to_connect() const { return url() + "?options=-c%20post_auth_delay%3D1"; }

    void open_database(const std::string& address, Duration connect_min = 250ms) {
        DatabaseOptions options;
        options.pool.size = 2;
        options.pool.connect_min = connect_min;
        auto opened = open(address, options);
        ASSERT_TRUE(opened) << opened.error().describe();
        database = std::move(opened->database);
    }

    Outcome<std::string> write(Sql statement, Duration limit) {
        TransactOptions options;
        options.deadline = Deadline::after(database->clock().now(), limit);
        return transact(*database, options, [&](Transaction& tx) -> Result<std::string> {
            SEMEL_TRY(tx.execute(statement));
            return SEMEL_TRY(tx.execute("SELECT pg_backend_pid()::text")).scalar<std::string>();
        });
    }
    Outcome<std::string> write_good() { return write("INSERT INTO good DEFAULT VALUES", 10s); }
    Outcome<std::string> write_slow(Duration limit) { return write("INSERT INTO slow DEFAULT VALUES", limit); }

    void expect_closed() {
        EXPECT_EQ(name(database->breaker().state(database->clock().now())), name(Breaker::State::closed));
    }

    std::unique_ptr<Database> database;
};

TEST_F(ShortDeadlineTest, FiftyCommitsThatWereLeftTooLittleTimeStopNobodyElse) {
    int in_doubt = 0;
    for (int i = 0; i < 50; ++i) {
        const auto late = write_slow(50ms);
        if (late.unknown()) ++in_doubt;
        const auto good = write_good();
        ASSERT_TRUE(good.committed()) << "after " << i + 1 << " others: " << good.error().describe();
        expect_closed();
    }
    EXPECT_GE(in_doubt, 25) << "the test must lose commits, else it shows nothing";
    EXPECT_EQ(postgres().scalar("SELECT count(*) FROM good", PostgresTest::database()).value(), "50");
}

TEST_F(ShortDeadlineTest, FiftyThatCannotFinishSpendNoSession) {
    const auto before = write_good();
    ASSERT_TRUE(before.committed()) << before.error().describe();
    for (int i = 0; i < 50; ++i) {
        const auto refused = write_slow(2ms);
        ASSERT_TRUE(refused.not_committed());
        EXPECT_EQ(refused.error().cause.timeout, Timeout::total);
    }
    const auto after = write_good();
    ASSERT_TRUE(after.committed()) << after.error().describe();
    EXPECT_EQ(after.value(), before.value()) << "the same server process";
    expect_closed();
    EXPECT_EQ(postgres().scalar("SELECT count(*) FROM slow", PostgresTest::database()).value(), "0");
}

TEST_F(ShortDeadlineTest, FiftyConnectionsThatWereLeftTooLittleTimeDoNotOpenTheBreaker) {
    open_database(slow_to_connect(), 0s);
    int late = 0;
    for (int i = 0; i < 50; ++i) {
        const auto refused = write_slow(20ms);
        ASSERT_TRUE(refused.not_committed());
        if (refused.error().cause.timeout == Timeout::connect) ++late;
        expect_closed();
    }
    EXPECT_GE(late, 25) << "the test must lose connections, else it shows nothing";
    EXPECT_TRUE(write_good().committed());
}

TEST_F(ShortDeadlineTest, AConnectionThatIsReadyTooLateServesTheNextCaller) {
    open_database(slow_to_connect(), 10s);
    const auto late = write_slow(100ms);
    ASSERT_TRUE(late.not_committed());
    EXPECT_EQ(late.error().cause.timeout, Timeout::total) << late.error().describe();
    EXPECT_EQ(database->pool().usage().open, 1U);
    const auto next = write("INSERT INTO good DEFAULT VALUES", 900ms);
    EXPECT_TRUE(next.committed()) << "it could not have connected in that time: " << next.error().describe();
}

}  // namespace
}  // namespace semel::integration
