// What became of a transaction whose COMMIT was not answered.

#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/testing/fault_proxy.hpp"

namespace semel::postgres {
namespace {

using testing::FaultProxy;
using testing::PostgresCluster;
using testing::ProxyPlan;
using testing::ProxyScope;

class Resolving : public SessionTest {
protected:
    static std::unique_ptr<PostgresSession> open_at(const PostgresCluster& cluster) {
        ConnectOptions options;
        options.connection = cluster.url();
        return open(options);
    }
    static Resolution resolved(PostgresSession& session, const Mark& mark, Duration limit = std::chrono::seconds(10)) {
        const auto resolution = session.resolve(mark, in(limit));
        EXPECT_TRUE(resolution) << resolution.error().describe();
        return resolution.value_or(Resolution::unknown);
    }
};

TEST_F(Resolving, TellsCommittedFromRolledBack) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    auto resolver = open();
    {
        Transaction tx(*session, {}, soon());
        tx.post("INSERT INTO item VALUES (1)");
        ASSERT_TRUE(std::move(tx).commit().committed());
        EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::committed);
    }
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (2)"));
    const Mark mark = session->mark();
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(resolved(*resolver, mark), Resolution::not_committed);
    EXPECT_EQ(resolver->state(), SessionState::idle);
}

TEST_F(Resolving, NeedsNoNameThatTheServerCouldLose) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    const auto insert = [&] {
        Transaction tx(*session, {}, soon());
        tx.post("INSERT INTO item VALUES (1)");
        ASSERT_TRUE(std::move(tx).commit().committed());
    };
    insert();
    auto resolver = open();
    EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::committed);
    {
        Transaction losing(*resolver, {.marked = false}, soon());
        ASSERT_TRUE(losing.execute("DEALLOCATE ALL"));
    }
    ASSERT_TRUE(resolver->reset(soon()));
    EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::committed);
    EXPECT_TRUE(resolver->names_statements());
}

TEST_F(Resolving, CountsATransactionThatWroteNothingAsCommitted) {
    auto resolver = open();
    Mark nothing;
    nothing.taken = true;
    EXPECT_EQ(resolved(*resolver, nothing), Resolution::committed);
    EXPECT_EQ(resolved(*resolver, Mark{}), Resolution::unknown);
}

TEST_F(Resolving, EndsATransactionWhoseClientIsGone) {
    sql("CREATE TABLE item (id int)");
    auto proxy = FaultProxy::start(postgres().port());
    ASSERT_TRUE(proxy);
    ConnectOptions options;
    options.connection = (*proxy)->url(database());
    auto session = open(options);
    // The server does not learn that its client is gone, and keeps the transaction open.
    (*proxy)->set_plan(ProxyPlan::cut_client_before_commit(), ProxyScope::next_commit);
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.unknown()) << told(outcome);
    auto resolver = open();
    EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::not_committed);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "0");
}

TEST_F(Resolving, LeavesATransactionAloneThatItCannotName) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    auto resolver = open();
    Mark mark = session->mark();
    mark.process.clear();  // As behind a pooler.
    EXPECT_EQ(resolved(*resolver, mark, std::chrono::milliseconds(300)), Resolution::unknown);
    mark = session->mark();
    mark.process += "1";  // The same process number, started at another time.
    EXPECT_EQ(resolved(*resolver, mark, std::chrono::milliseconds(300)), Resolution::unknown);
    EXPECT_TRUE(std::move(tx).commit().committed());
}

TEST_F(Resolving, DoesNotTrustAnotherHistory) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    ASSERT_TRUE(std::move(tx).commit().committed());
    auto resolver = open();
    Mark mark = session->mark();
    mark.history = "1" + mark.history;
    EXPECT_EQ(resolved(*resolver, mark), Resolution::unknown);
    mark = session->mark();
    mark.incarnation += "1";
    EXPECT_EQ(resolved(*resolver, mark), Resolution::unknown);
}

TEST_F(Resolving, TakesANumberNotYetGivenOutForLost) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    ASSERT_TRUE(std::move(tx).commit().committed());
    Mark mark = session->mark();
    mark.transaction += 1'000'000;
    auto resolver = open();
    EXPECT_EQ(resolved(*resolver, mark), Resolution::not_committed);
    EXPECT_EQ(resolver->state(), SessionState::idle);
}

TEST_F(Resolving, WorksForARoleWithoutPrivileges) {
    sql("CREATE TABLE item (id int)");
    sql("CREATE ROLE resolver_plain LOGIN");
    sql("GRANT ALL ON item TO resolver_plain");
    ConnectOptions options;
    options.connection = postgres().url(database(), "resolver_plain");
    auto session = open(options);
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    const Mark mark = session->mark();
    ASSERT_TRUE(mark.taken);
    auto resolver = open(options);
    // Not its client's end, but the resolver's patience ends it.
    EXPECT_EQ(resolved(*resolver, mark), Resolution::not_committed);
    EXPECT_FALSE(std::move(tx).commit().committed());
    session.reset();
    resolver.reset();
    sql("DROP OWNED BY resolver_plain; DROP ROLE resolver_plain");
}

// A number whose WAL never reached the disk is given out again after a crash, and the commit that
// is then found under it is someone else's.
TEST_F(Resolving, DoesNotTakeAnothersCommitForItsOwnAfterACrash) {
    auto cluster = PostgresCluster::start({.settings = {"autovacuum=off", "wal_writer_delay=10s",
                                                        "wal_writer_flush_after=1GB", "checkpoint_timeout=1h"}});
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ASSERT_TRUE(cluster->sql("CREATE TABLE item (id int)"));
    ASSERT_TRUE(cluster->sql("CHECKPOINT"));
    auto session = open_at(*cluster);
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    const Mark mark = session->mark();
    ASSERT_TRUE(mark.taken);
    ASSERT_TRUE(cluster->kill9());
    ASSERT_TRUE(cluster->start_again());

    auto resolver = open_at(*cluster);
    EXPECT_EQ(resolved(*resolver, mark), Resolution::not_committed);  // Not given out again yet.
    std::uint64_t reached = 0;
    Mark other;
    for (int i = 0; i < 10'000 && reached < mark.transaction; ++i) {
        auto another = open_at(*cluster);
        Transaction foreign(*another, {}, soon());
        foreign.post("INSERT INTO item VALUES (2)");
        ASSERT_TRUE(std::move(foreign).commit().committed());
        other = another->mark();
        reached = other.transaction;
    }
    ASSERT_EQ(reached, mark.transaction) << "the number was not given out again; the test proves nothing";
    ASSERT_EQ(other.history, mark.history);
    {
        Transaction look(*resolver, {}, soon());
        const auto status =
            look.execute("SELECT pg_xact_status($1::xid8)", static_cast<std::int64_t>(mark.transaction));
        ASSERT_TRUE(status) << status.error().describe();
        EXPECT_EQ(status->scalar<std::string>().value(), "committed");
        ASSERT_TRUE(std::move(look).rollback());
    }
    EXPECT_EQ(resolved(*resolver, mark), Resolution::unknown);
    EXPECT_EQ(resolved(*resolver, other), Resolution::committed);
}

TEST_F(Resolving, StillKnowsAfterACleanRestart) {
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ASSERT_TRUE(cluster->sql("CREATE TABLE item (id int)"));
    auto session = open_at(*cluster);
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    ASSERT_TRUE(std::move(tx).commit().committed());
    ASSERT_TRUE(cluster->restart());
    auto resolver = open_at(*cluster);
    EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::committed);
}

TEST_F(Resolving, NeedsABarrierWhereThereIsASynchronousStandby) {
    auto primary = PostgresCluster::start();
    ASSERT_TRUE(primary) << primary.error().describe();
    ASSERT_TRUE(primary->sql("CREATE TABLE item (id int)"));
    auto standby = primary->add_standby("sb1", true);
    ASSERT_TRUE(standby) << standby.error().describe();
    auto session = open_at(*primary);
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    auto resolver = open_at(*primary);
    EXPECT_EQ(resolved(*resolver, session->mark()), Resolution::committed);

    ASSERT_TRUE(standby->pause());
    const auto unreached = resolver->resolve(session->mark(), in(std::chrono::milliseconds(500)));
    EXPECT_TRUE(!unreached || *unreached == Resolution::unknown);
    ASSERT_TRUE(standby->resume());

    // The promoted standby is another timeline: it cannot tell.
    ASSERT_TRUE(primary->kill9());
    ASSERT_TRUE(standby->promote());
    auto elsewhere = open_at(*standby);
    EXPECT_EQ(resolved(*elsewhere, session->mark()), Resolution::unknown);
}

}  // namespace
}  // namespace semel::postgres
