// Through pgbouncer in transaction mode, where each transaction may run on another connection.

#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/testing/pgbouncer.hpp"

#include <optional>

namespace semel::postgres {
namespace {

using testing::PgBouncer;
using testing::PostgresCluster;

class BehindAPooler : public SessionTest {
protected:
    void SetUp() override {
        SessionTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        auto started = PgBouncer::start(postgres(), {.pool_size = 2});
        if (!started) GTEST_SKIP() << started.error().describe();
        pooler_.emplace(*std::move(started));
        sql("CREATE TABLE item (id int PRIMARY KEY)");
    }
    std::unique_ptr<PostgresSession> open_pooled(Prepare prepare = Prepare::automatic) {
        ConnectOptions options;
        options.connection = pooler_->url(database());
        options.prepare = prepare;
        return open(options);
    }

private:
    std::optional<PgBouncer> pooler_;
};

TEST_F(BehindAPooler, CommitsInAsManyRoundTripsAsWithout) {
    auto session = open_pooled();
    ASSERT_NE(session, nullptr);
    EXPECT_FALSE(session->direct());
    EXPECT_FALSE(session->names_statements());
    const auto before = session->round_trips();
    Transaction tx(*session, {}, soon());
    const auto rows = tx.execute("INSERT INTO item VALUES ($1) RETURNING id", 1);
    ASSERT_TRUE(rows) << rows.error().describe();
    EXPECT_EQ(rows->scalar<std::int64_t>().value(), 1);
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(session->round_trips() - before, 2U);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "1");
}

TEST_F(BehindAPooler, MarksAndResolvesEachTransactionByItself) {
    auto session = open_pooled();
    auto resolver = open_pooled();
    {
        Transaction tx(*session, {}, soon());
        tx.post("INSERT INTO item VALUES (1)");
        ASSERT_TRUE(std::move(tx).commit().committed());
    }
    const Mark committed = session->mark();
    EXPECT_TRUE(committed.taken);
    EXPECT_NE(committed.transaction, 0U);
    EXPECT_TRUE(committed.process.empty());
    EXPECT_EQ(resolver->resolve(committed, soon()).value(), Resolution::committed);
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (2)"));
    const Mark undone = session->mark();
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(resolver->resolve(undone, soon()).value(), Resolution::not_committed);
    // A direct session agrees on the history.
    EXPECT_EQ(open()->resolve(committed, soon()).value(), Resolution::committed);
}

TEST_F(BehindAPooler, LeavesNoLimitBehindForOthers) {
    auto session = open_pooled();
    for (int i = 0; i < 4; ++i) {
        Transaction tx(*session, {.lock_timeout = std::chrono::milliseconds(1234)}, soon());
        EXPECT_EQ(tx.execute("SHOW lock_timeout")->scalar<std::string>().value(), "1234ms");
        ASSERT_TRUE(std::move(tx).commit().committed());
    }
    auto plain = open_pooled();
    Transaction tx(*plain, {.lock_timeout = std::chrono::milliseconds(99)}, soon());
    EXPECT_EQ(tx.execute("SHOW lock_timeout")->scalar<std::string>().value(), "99ms");
}

TEST_F(BehindAPooler, GivesUpNamesWhenAServerDoesNotKnowThem) {
    auto one = open_pooled(Prepare::named);
    auto two = open_pooled(Prepare::named);
    const auto insert = [&](PostgresSession& session, int id) {
        Transaction tx(session, {}, soon());
        tx.post("INSERT INTO item VALUES ($1)", id);
        return std::move(tx).commit();
    };
    int committed = 0;
    for (int i = 0; i < 40; ++i) {
        auto outcome = insert(i % 2 == 0 ? *one : *two, i);
        if (!outcome.committed()) {
            ASSERT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
            outcome = insert(i % 2 == 0 ? *one : *two, i);  // As a rerun does.
        }
        if (!outcome.committed()) outcome = insert(i % 2 == 0 ? *one : *two, i);
        ASSERT_TRUE(outcome.committed()) << told(outcome);
        ++committed;
    }
    EXPECT_EQ(ask("SELECT count(*) FROM item"), std::to_string(committed));
    EXPECT_FALSE(one->names_statements() && two->names_statements());
}

TEST_F(BehindAPooler, TellsThatTheServerWentAway) {
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    auto pooler = PgBouncer::start(*cluster);
    ASSERT_TRUE(pooler) << pooler.error().describe();
    ConnectOptions options;
    options.connection = pooler->url();
    auto session = open(options);
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("CREATE TABLE item (id int)"));
    ASSERT_TRUE(cluster->kill9());
    const auto rows = tx.execute("INSERT INTO item VALUES (1)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::unavailable) << rows.error().describe();
    EXPECT_EQ(session->state(), SessionState::closed);
}

}  // namespace
}  // namespace semel::postgres
