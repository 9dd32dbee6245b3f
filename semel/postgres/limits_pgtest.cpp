// What happens when a limit runs out, and what the server keeps for a session.

#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/testing/fault_proxy.hpp"

#include <thread>

namespace semel::postgres {
namespace {

using testing::FaultProxy;
using testing::PostgresCluster;

class Limit : public SessionTest {
protected:
    static Duration taken(const std::function<void()>& call) {
        const Instant started = system_clock().now();
        call();
        return system_clock().now() - started;
    }
};

TEST_F(Limit, OfAStatementHasItsName) {
    auto session = open();
    Transaction tx(*session, {.statement_timeout = std::chrono::milliseconds(50)}, soon());
    const auto rows = tx.execute("SELECT pg_sleep(10)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().cause.timeout, Timeout::statement);
    EXPECT_EQ(rows.error().cause.code, "57014");
    EXPECT_EQ(rows.error().fault, Fault::rejected);
    EXPECT_EQ(session->state(), SessionState::failed);
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(session->state(), SessionState::idle);
}

TEST_F(Limit, CommitIsAnsweredOnlyWhenItIsDurableWhateverTheRoleWasTold) {
    sql("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$");
    auto session = open();
    for (const Isolation isolation : {Isolation::read_committed, Isolation::serializable}) {
        Transaction tx(*session, {.isolation = isolation}, soon());
        const auto rows = tx.execute("SELECT current_setting('synchronous_commit')");
        ASSERT_TRUE(rows) << rows.error().describe();
        EXPECT_EQ(rows->scalar<std::string>(), "on");
        ASSERT_TRUE(std::move(tx).rollback());
    }
}

TEST_F(Limit, OfOneInAHurryDoesNotBindWhoLooksAfterIt) {
    auto session = open();
    {
        Transaction tx(*session, {.statement_timeout = std::chrono::milliseconds(20)}, soon());
        ASSERT_TRUE(tx.execute("SELECT 1"));
        ASSERT_TRUE(std::move(tx).rollback());
    }
    const auto rows =
        session->look({.sql = "SELECT 1 FROM pg_sleep(0.2)", .parameters = {}, .expected_rows = {}}, soon());
    ASSERT_TRUE(rows) << rows.error().describe();
    EXPECT_EQ(session->state(), SessionState::idle);
}

TEST_F(Limit, OfALockHasItsName) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto holder = open();
    Transaction holding(*holder, {}, soon());
    ASSERT_TRUE(holding.execute("LOCK TABLE item"));
    auto session = open();
    Transaction tx(*session, {.lock_timeout = std::chrono::milliseconds(50)}, soon());
    const auto rows = tx.execute("INSERT INTO item VALUES (1)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().cause.timeout, Timeout::lock);
    EXPECT_EQ(rows.error().fault, Fault::unavailable);
}

TEST_F(Limit, DeadlineCancelsTheStatementAndClosesTheSession) {
    auto session = open();
    Transaction tx(*session, {}, in(std::chrono::milliseconds(200)));
    Result<Rows> rows;
    const Duration took = taken([&] { rows = tx.execute("SELECT pg_sleep(30) /* cancel me */"); });
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().cause.timeout, Timeout::total);
    EXPECT_EQ(session->state(), SessionState::closed);
    EXPECT_LT(took, std::chrono::seconds(2));
    std::string running;
    for (int i = 0; i < 500 && running != "0"; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        running =
            ask("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query "
                "LIKE '%cancel me%'");
    }
    EXPECT_EQ(running, "0");
    EXPECT_TRUE(std::move(tx).rollback());  // Closing undid it.
}

TEST_F(Limit, DeadlineHoldsAgainstAServerThatIsStopped) {
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ConnectOptions options;
    options.connection = cluster->url();
    auto session = open(options);
    Transaction tx(*session, {}, in(std::chrono::milliseconds(300)));
    ASSERT_TRUE(tx.execute("SELECT 1"));
    ASSERT_TRUE(cluster->pause());
    Result<Rows> rows;
    const Duration took = taken([&] { rows = tx.execute("SELECT 2"); });
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().cause.timeout, Timeout::total);
    EXPECT_LT(took, std::chrono::seconds(2));

    const auto connect = connector(options);
    Result<std::unique_ptr<Session>> opened;
    EXPECT_LT(taken([&] { opened = (*connect)(in(std::chrono::milliseconds(300))); }), std::chrono::seconds(2));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().cause.timeout, Timeout::connect);
    EXPECT_THAT(opened.error().message, ::testing::HasSubstr("accepted the connection but did not answer"));
    ASSERT_TRUE(cluster->resume());
}

TEST_F(Limit, OfPreparedStatementsIsKeptByDroppingTheOldest) {
    ConnectOptions options;
    options.connection = url();
    options.statements_max = 4;
    auto session = open(options);
    std::vector<std::string> texts;
    // tidy: allow(sql-concatenation): many different statements are the point
    for (int i = 0; i < 40; ++i) texts.push_back("SELECT " + std::to_string(i) + " + $1::int");
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 40; ++i) {
            Transaction tx(*session, {.marked = false}, soon());
            const auto rows = tx.execute(Sql::from_program_text(texts[static_cast<std::size_t>(i)]), 1);
            ASSERT_TRUE(rows) << rows.error().describe();
            EXPECT_EQ(rows->scalar<std::int64_t>().value(), i + 1);
            ASSERT_TRUE(std::move(tx).commit().committed());
        }
    }
    Transaction tx(*session, {.marked = false}, soon());
    EXPECT_LE(tx.execute("SELECT count(*) FROM pg_prepared_statements")->scalar<std::int64_t>().value(), 6);
    EXPECT_TRUE(session->names_statements());
}

TEST_F(Limit, OfNamesIsNotReachedByAStatementWhoseParseWasSkipped) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto session = open();
    for (int attempt = 0; attempt < 2; ++attempt) {
        Transaction tx(*session, {}, soon());
        tx.post("SELECT 1 / $1::int", 0);
        tx.post("INSERT INTO item VALUES ($1)", 1);
        const auto outcome = std::move(tx).commit();
        ASSERT_TRUE(outcome.not_committed());
        EXPECT_EQ(outcome.error().cause.code, "22012");
    }
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES ($1)", 1);
    const auto outcome = std::move(tx).commit();
    EXPECT_TRUE(outcome.committed()) << told(outcome);
}

TEST_F(Limit, PreparesAgainWhenATableWasAltered) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto session = open();
    const auto read = [&]() -> Result<Rows> {
        Transaction tx(*session, {}, soon());
        auto rows = tx.execute("SELECT * FROM item");
        (void)std::move(tx).rollback();
        return rows;
    };
    ASSERT_TRUE(read());
    sql("ALTER TABLE item ADD COLUMN name text");
    const auto altered = read();
    ASSERT_FALSE(altered);
    EXPECT_EQ(altered.error().fault, Fault::conflict);
    const auto again = read();
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(again->column_count(), 2U);
    EXPECT_TRUE(session->names_statements());
}

TEST_F(Limit, RestartOfTheServerIsAClearError) {
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ConnectOptions options;
    options.connection = cluster->url();
    auto idle = open(options);
    auto busy = open(options);
    Transaction tx(*busy, {}, soon());
    ASSERT_TRUE(tx.execute("CREATE TABLE item (id int)"));
    ASSERT_TRUE(cluster->restart());
    const auto rows = tx.execute("INSERT INTO item VALUES (1)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::unavailable);
    EXPECT_EQ(rows.error().cause.code, "57P01") << rows.error().describe();
    EXPECT_EQ(busy->state(), SessionState::closed);
    const Status checked = idle->reset(soon());
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().fault, Fault::unavailable);
    EXPECT_EQ(idle->state(), SessionState::closed);
    EXPECT_TRUE(open(options)->reset(soon()));
}

}  // namespace
}  // namespace semel::postgres
