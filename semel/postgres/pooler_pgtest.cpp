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

/// Which server a session is on while a transaction is open on it.
std::int64_t server_of(Transaction& tx) {
    return tx.execute("SELECT pg_backend_pid()")->scalar<std::int64_t>().value();
}

// Whoever insists on names behind a pooler that does not carry them is handed from server to server: one may not know a
// name, or know it as another session's.
TEST_F(BehindAPooler, GivesUpNamesWhenAServerDoesNotKnowThem) {
    auto adding = open_pooled(Prepare::named);
    auto removing = open_pooled(Prepare::named);
    auto guest = open_pooled();
    const auto add = [&](int id) {
        Transaction tx(*adding, {}, soon());
        tx.post("INSERT INTO item VALUES ($1)", id);
        return std::move(tx).commit();
    };
    const auto remove = [&](int id) {
        Transaction tx(*removing, {}, soon());
        tx.post("DELETE FROM item WHERE id = $1", id);
        return std::move(tx).commit();
    };
    // Each takes the server that the guest leaves over: first one each, then the other's.
    std::int64_t first = 0;
    ASSERT_TRUE(add(1).committed());
    {
        Transaction holding(*guest, {}, soon());
        first = server_of(holding);
        ASSERT_TRUE(remove(99).committed());
    }
    ASSERT_TRUE(guest->rollback(soon()));
    Transaction holding(*guest, {}, soon());
    ASSERT_EQ(server_of(holding), first);

    const auto outcome = add(99);
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
    EXPECT_EQ(outcome.error().cause.code, "26000") << told(outcome);
    EXPECT_FALSE(adding->names_statements());
    EXPECT_TRUE(add(99).committed()) << "as a rerun does";
    EXPECT_EQ(ask("SELECT string_agg(id::text, ' ' ORDER BY id) FROM item"), "1 99");
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
