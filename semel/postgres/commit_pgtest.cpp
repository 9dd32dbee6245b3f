// When a session may say that a transaction committed, and when it must say that it does not know.

#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/testing/fault_proxy.hpp"

#include <thread>

namespace semel::postgres {
namespace {

using testing::FaultProxy;
using testing::PostgresCluster;
using testing::ProxyPlan;
using testing::ProxyScope;

class Commit : public SessionTest {
protected:
    void SetUp() override {
        SessionTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        sql("CREATE TABLE parent (id int PRIMARY KEY)");
        sql("CREATE TABLE item (id int PRIMARY KEY, parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
    }
    std::string items() { return ask("SELECT count(*) FROM item"); }

    std::unique_ptr<FaultProxy> proxy() {
        auto started = FaultProxy::start(postgres().port());
        EXPECT_TRUE(started) << started.error().describe();
        return *std::move(started);
    }
    std::unique_ptr<PostgresSession> open_through(const FaultProxy& proxy) {
        ConnectOptions options;
        options.connection = proxy.url(database());
        return open(options);
    }
};

TEST_F(Commit, OfAMissingDeferredForeignKeyIsNotCommitted) {
    auto session = open();
    for (const bool marked : {true, false}) {
        Transaction tx(*session, {.marked = marked}, soon());
        tx.post("INSERT INTO item VALUES (1, 99)");
        const auto outcome = std::move(tx).commit();
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().cause.code, "23503");
        EXPECT_EQ(outcome.error().fault, Fault::rejected);
        EXPECT_EQ(outcome.error().cause.constraint, "item_parent_fkey");
        EXPECT_EQ(session->state(), SessionState::idle);
        EXPECT_EQ(items(), "0");
    }
}

/// Loses the names of the statements with such a text, as if the session were on another server.
void lose_names(PostgresSession& session, const std::string& pattern) {
    Transaction tx(session, {.marked = false}, soon());
    const auto lost =
        tx.execute("SELECT name FROM pg_prepared_statements WHERE statement ~ $1 AND name ~ '^semel'", pattern);
    ASSERT_TRUE(lost && !lost->empty()) << pattern;
    ASSERT_TRUE(tx.execute("SELECT set_config('test.names', $1, true)", pattern));
    ASSERT_TRUE(tx.execute(
        "DO $$ DECLARE it record; BEGIN FOR it IN SELECT name FROM pg_prepared_statements WHERE name ~ '^semel' AND "
        "statement ~ current_setting('test.names') LOOP EXECUTE format('DEALLOCATE %I', it.name); END LOOP; END $$"));
    ASSERT_TRUE(std::move(tx).rollback());
}

enum class Way : std::uint8_t { one_flush, two_flushes, awaited, awaited_twice };

class LostNames : public Commit, public ::testing::WithParamInterface<std::tuple<Way, const char*>> {};

// A BEGIN under a name that the server had lost let the next flush run as autocommit. If only its name is lost, the server
// knows the statements behind it, and nothing but the protocol keeps them from running.
TEST_P(LostNames, NeverLetAnythingCommitWithoutBegin) {
    const auto [way, lost] = GetParam();
    auto session = open();
    const auto insert = [&](int id) -> Outcome<> {
        Transaction tx(*session, {.marked = way != Way::one_flush}, soon());
        if (way == Way::awaited_twice) (void)tx.execute("SELECT 1");
        if (way == Way::one_flush || way == Way::two_flushes)
            tx.post("INSERT INTO item VALUES ($1)", id);
        else
            (void)tx.execute("INSERT INTO item VALUES ($1)", id);
        tx.post("INSERT INTO item VALUES ($1, NULL)", id + 100);
        return std::move(tx).commit();
    };
    ASSERT_TRUE(insert(1).committed());
    lose_names(*session, lost);

    const auto outcome = insert(2);
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
    EXPECT_EQ(outcome.error().cause.code, "26000");
    EXPECT_EQ(items(), "2");
    EXPECT_FALSE(session->names_statements());
    ASSERT_TRUE(session->rollback(soon()));
    EXPECT_TRUE(insert(3).committed()) << "as a rerun does";
    EXPECT_EQ(items(), "4");
}
INSTANTIATE_TEST_SUITE_P(OfBeginOrAll, LostNames,
                         ::testing::Combine(::testing::Values(Way::one_flush, Way::two_flushes, Way::awaited,
                                                              Way::awaited_twice),
                                            ::testing::Values("^BEGIN", "")));

TEST_F(Commit, NeverHappensWithoutBeginAtAnyIsolation) {
    for (const Isolation isolation : {Isolation::repeatable_read, Isolation::serializable}) {
        auto session = open();
        const auto insert = [&](int id) {
            Transaction tx(*session, {.isolation = isolation, .marked = false}, soon());
            tx.post("INSERT INTO item VALUES ($1)", id);
            return std::move(tx).commit();
        };
        sql("TRUNCATE item");
        ASSERT_TRUE(insert(1).committed());
        lose_names(*session, "^BEGIN ISOLATION");
        const auto outcome = insert(2);
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
        EXPECT_EQ(items(), "1");
    }
}

// The limits travel ahead of BEGIN in a segment of their own, so their failure alone would leave COMMIT in doubt.
TEST_F(Commit, IsNoDoubtWhenTheNamesOfLimitsAndBeginAreLost) {
    auto session = open();
    const auto insert = [&](int id, std::chrono::milliseconds lock_timeout) {
        Transaction tx(*session, {.lock_timeout = lock_timeout, .marked = false}, soon());
        tx.post("INSERT INTO item VALUES ($1)", id);
        return std::move(tx).commit();
    };
    ASSERT_TRUE(insert(1, std::chrono::milliseconds(100)).committed());
    ASSERT_TRUE(insert(2, std::chrono::milliseconds(200)).committed());
    lose_names(*session, "");
    const auto outcome = insert(3, std::chrono::milliseconds(300));
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
    EXPECT_EQ(items(), "2");
    EXPECT_TRUE(insert(3, std::chrono::milliseconds(300)).committed());
}

TEST_F(Commit, UnderANameThatTheServerLostUndoesTheTransactionAndSaysSo) {
    for (const bool marked : {false, true}) {
        auto session = open();
        const auto insert = [&](bool lose_names) {
            Transaction tx(*session, {.marked = marked}, soon());
            tx.post("INSERT INTO item SELECT count(*) FROM item");
            if (lose_names) tx.post("DEALLOCATE ALL");
            return std::move(tx).commit();
        };
        sql("TRUNCATE item");
        ASSERT_TRUE(insert(false).committed());
        const auto outcome = insert(true);
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::conflict) << told(outcome);
        EXPECT_EQ(outcome.error().cause.code, "26000");
        EXPECT_EQ(items(), "1");
        ASSERT_EQ(session->state(), SessionState::idle);
        EXPECT_TRUE(insert(true).committed()) << "without names there is nothing to lose";
        EXPECT_EQ(items(), "2");
    }
}

// A pooler that is not seen to be one hands a session from server to server: a name must be known there or unknown,
// but never somebody else's.
TEST_F(Commit, UsesNamesThatNoOtherSessionUses) {
    const auto names = [](PostgresSession& session) {
        Transaction tx(session, {}, soon());
        return tx.execute("SELECT min(name) FROM pg_prepared_statements")->scalar<std::string>().value();
    };
    const auto first = open();
    const auto second = open();
    EXPECT_NE(names(*first), names(*second));
}

TEST_F(Commit, OfATransactionThatAStatementEndedIsRefused) {
    auto session = open();
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    tx.post("COMMIT");
    tx.post("INSERT INTO item VALUES (2)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.unknown()) << "part of it is there for good: " << told(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::broken);
    EXPECT_EQ(session->state(), SessionState::closed);
    EXPECT_FALSE(session->mark().taken) << "the mark would name another transaction";
}

TEST_F(Commit, OfATransactionThatAStatementEndedBeforeAnotherFailedIsUnknown) {
    for (const bool marked : {false, true}) {
        auto session = open();
        sql("TRUNCATE item");
        Transaction tx(*session, {.marked = marked}, soon());
        tx.post("INSERT INTO item VALUES (1)");
        tx.post("COMMIT");
        tx.post("INSERT INTO item VALUES (1)");
        const auto outcome = std::move(tx).commit();
        EXPECT_EQ(items(), "1");
        ASSERT_TRUE(outcome.unknown()) << "part of it is there for good: " << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::broken);
    }
}

TEST_F(Commit, OfATransactionThatAStatementChainedIsUnknown) {
    auto session = open();
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    ASSERT_FALSE(tx.execute("COMMIT AND CHAIN"));
    EXPECT_TRUE(session->commit(soon()).unknown());
    EXPECT_FALSE(session->mark().taken);
    EXPECT_EQ(items(), "1");
}

TEST_F(Commit, BehindACopyInTheSameFlushIsUnknown) {
    auto session = open();
    Transaction tx(*session, {.marked = false}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    tx.post("COPY (SELECT 1) TO STDOUT");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.unknown()) << told(outcome);
    EXPECT_EQ(items(), "1") << "the server went on to COMMIT";
}

TEST_F(Commit, HasALimitOfItsOwnThatSparesThePostedStatements) {
    auto session = open();
    Transaction tx(*session, {.commit_timeout = std::chrono::milliseconds(200)}, soon());
    tx.post("INSERT INTO item SELECT 1 FROM pg_sleep(0.6)");
    const auto outcome = std::move(tx).commit();
    EXPECT_TRUE(outcome.committed()) << told(outcome);
}

TEST_F(Commit, ThatIsSlowIsLookedUpAndNotCutShort) {
    sql("CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END "
        "$$");
    sql("CREATE CONSTRAINT TRIGGER dawdles AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE "
        "FUNCTION dawdle()");
    auto session = open();
    Transaction tx(*session, {.commit_timeout = std::chrono::milliseconds(200)}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.unknown()) << told(outcome);
    const auto resolution = open()->resolve(session->mark(), soon());
    ASSERT_TRUE(resolution) << resolution.error().describe();
    EXPECT_EQ(*resolution, Resolution::committed) << "a server process that is at it must not be ended";
}

TEST_F(Commit, IsSkippedBehindAStatementThatFailed) {
    auto session = open();
    Transaction tx(*session, {.marked = false}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(outcome.error().cause.code, "23505");
    EXPECT_EQ(session->state(), SessionState::idle);
    EXPECT_EQ(items(), "0");
}

TEST_F(Commit, TakesAWarningOfAnEarlierStatementForWhatItIs) {
    sql("CREATE FUNCTION warn() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'mind the gap'; RETURN 1; END "
        "$$");
    auto session = open();
    for (const bool marked : {true, false}) {
        Transaction tx(*session, {.marked = marked}, soon());
        tx.post("INSERT INTO item VALUES ($1 + warn())", marked ? 1 : 2);
        tx.post("SELECT warn()");
        const auto outcome = std::move(tx).commit();
        EXPECT_TRUE(outcome.committed()) << told(outcome);
    }
    EXPECT_EQ(items(), "2");
}

TEST_F(Commit, WithAWarningOfItsOwnIsUnknown) {
    // A deferred trigger warns at COMMIT, where the server also says that a standby was not waited for.
    sql("CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'at commit'; RETURN NULL; "
        "END $$");
    sql("CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE "
        "FUNCTION warn()");
    // Also where the role or the connection asks not to be told of warnings.
    for (const std::string& silenced : {std::string(), std::string("?options=-c%20client_min_messages%3Derror")}) {
        for (const bool marked : {true, false}) {
            ConnectOptions options;
            options.connection = url() + silenced;
            auto session = open(options);
            Transaction tx(*session, {.marked = marked}, soon());
            tx.post("INSERT INTO item VALUES ($1)", (marked ? 1 : 2) + (silenced.empty() ? 0 : 2));
            const auto outcome = std::move(tx).commit();
            ASSERT_TRUE(outcome.unknown()) << told(outcome);
            EXPECT_THAT(outcome.error().native, ::testing::HasSubstr("at commit"));
            EXPECT_EQ(session->state(), SessionState::closed);
        }
    }
}

TEST_F(Commit, ThatWasSentAndNotAnsweredIsUnknownAndCanBeResolved) {
    auto cutter = proxy();
    struct Case {
        ProxyPlan plan;
        Resolution truth;
    };
    int id = 0;
    for (const Case& it : {Case{ProxyPlan::cut_before_commit(), Resolution::not_committed},
                           Case{ProxyPlan::swallow_commit_answer(), Resolution::committed}}) {
        auto session = open_through(*cutter);
        cutter->set_plan(it.plan, ProxyScope::next_commit);
        Transaction tx(*session, {}, soon());
        tx.post("INSERT INTO item VALUES ($1)", ++id);
        const auto outcome = std::move(tx).commit();
        ASSERT_TRUE(outcome.unknown()) << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::unknown);
        EXPECT_EQ(session->state(), SessionState::closed);
        ASSERT_TRUE(session->mark().taken);
        auto fresh = open();
        const auto resolution = fresh->resolve(session->mark(), soon());
        ASSERT_TRUE(resolution) << resolution.error().describe();
        EXPECT_EQ(*resolution, it.truth);
        EXPECT_EQ(items(), it.truth == Resolution::committed ? "1" : "0");
    }
}

TEST_F(Commit, UnansweredAtTheDeadlineIsUnknownAndNeverCancelled) {
    auto cutter = proxy();
    auto session = open_through(*cutter);
    cutter->set_plan(ProxyPlan::stall_at_commit(ProxyPlan::Side::client), ProxyScope::next_commit);
    Transaction tx(*session, {}, in(std::chrono::milliseconds(400)));
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.unknown()) << told(outcome);
    EXPECT_EQ(outcome.error().cause.timeout, Timeout::read);
    EXPECT_EQ(cutter->counters().cancels_seen, 0U);
}

TEST_F(Commit, IsNotSentOnAConnectionThatIsKnownToBeDead) {
    auto session = open();
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname "
        "= current_database()");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(outcome.error().fault, Fault::unavailable);
    EXPECT_EQ(outcome.error().cause.code, "57P01");
    EXPECT_EQ(session->state(), SessionState::closed);
}

// The wait for a synchronous standby was cancelled: committed here, but not safe from a failover.
TEST_F(Commit, WhoseStandbyWasNotWaitedForIsUnknown) {
    auto primary = PostgresCluster::start();
    ASSERT_TRUE(primary) << primary.error().describe();
    ASSERT_TRUE(primary->sql("CREATE TABLE item (id int)"));
    ASSERT_TRUE(primary->sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
    ASSERT_TRUE(primary->sql("SELECT pg_reload_conf()"));
    ConnectOptions options;
    options.connection = primary->url();
    auto session = open(options);
    for (int i = 0; i < 500 && primary->scalar("SHOW synchronous_standby_names").value_or("") != "nobody"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::jthread canceller([&] {
        for (int i = 0; i < 1000; ++i) {
            const auto hit = primary->scalar(
                "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
            if (hit && *hit != "0") return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1)");
    const auto outcome = std::move(tx).commit();
    canceller.join();
    ASSERT_TRUE(outcome.unknown()) << told(outcome);
    EXPECT_EQ(primary->scalar("SELECT count(*) FROM item").value_or(""), "1");
    // Seen as committed, but the barrier behind it does not reach a standby either.
    auto fresh = open(options);
    const auto resolution = fresh->resolve(session->mark(), in(std::chrono::milliseconds(500)));
    EXPECT_TRUE(!resolution || *resolution == Resolution::unknown);
    ASSERT_TRUE(primary->sql("ALTER SYSTEM RESET synchronous_standby_names"));
    ASSERT_TRUE(primary->sql("SELECT pg_reload_conf()"));
}

}  // namespace
}  // namespace semel::postgres
