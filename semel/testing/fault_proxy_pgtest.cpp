#include "semel/testing/fault_proxy.hpp"

#include "semel/testing/postgres_fixture.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <array>
#include <memory>
#include <thread>

namespace semel::testing {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
constexpr Duration limit = std::chrono::seconds(10);

/// The ways in which a client can send a transaction.
enum class Protocol : unsigned char { simple, extended, prepared, pipeline };

std::string protocol_name(const ::testing::TestParamInfo<Protocol>& info) {
    constexpr std::array<const char*, 4> names{"Simple", "Extended", "Prepared", "Pipeline"};
    return names.at(static_cast<std::size_t>(info.param));
}

class FaultProxyBase : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        ASSERT_TRUE(postgres().sql("CREATE TABLE note (text text)", database()));
        auto started = FaultProxy::start(postgres().port());
        ASSERT_TRUE(started) << started.error().describe();
        proxy_ = *std::move(started);
    }
    [[nodiscard]] Connection connect(const std::string& options = "?connect_timeout=10") {
        return {PQconnectdb((proxy_->url(database()) + options).c_str()), PQfinish};
    }
    static bool run(PGconn* connection, const char* text) {
        PGresult* result = PQexec(connection, text);
        const auto status = PQresultStatus(result);
        PQclear(result);
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    }
    /// The number of notes once nobody has a transaction open any more.
    [[nodiscard]] std::string settled_count() {
        for (int i = 0; i < 1'000; ++i) {
            const auto open =
                postgres().scalar("SELECT count(*) FROM pg_stat_activity WHERE datname = $1", "postgres", {database()});
            if (open && *open == "0") break;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return count();
    }
    [[nodiscard]] std::string count() { return postgres().scalar("SELECT count(*) FROM note", database()).value(); }
    [[nodiscard]] bool await_commits(std::uint64_t n) {
        return proxy_->await([&](const ProxyCounters& c) { return c.commits_seen >= n; }, limit);
    }
    std::unique_ptr<FaultProxy> proxy_;
};

class FaultProxyPlan : public FaultProxyBase, public ::testing::WithParamInterface<Protocol> {
protected:
    static bool step(PGconn* connection, const char* text) {
        if (GetParam() == Protocol::simple) return run(connection, text);
        if (GetParam() == Protocol::prepared) PQclear(PQprepare(connection, text, text, 0, nullptr));
        PGresult* result = GetParam() == Protocol::prepared
                               ? PQexecPrepared(connection, text, 0, nullptr, nullptr, nullptr, 0)
                               : PQexecParams(connection, text, 0, nullptr, nullptr, nullptr, nullptr, 0);
        const auto status = PQresultStatus(result);
        PQclear(result);
        return status == PGRES_COMMAND_OK;
    }
    /// Whether the client heard that its transaction committed.
    static bool write_note(PGconn* connection) {
        if (GetParam() != Protocol::pipeline)
            return step(connection, "BEGIN") && step(connection, "INSERT INTO note VALUES ('x')") &&
                   step(connection, "COMMIT");
        PQenterPipelineMode(connection);
        for (const char* text : {"BEGIN", "INSERT INTO note VALUES ('x')", "COMMIT"})
            PQsendQueryParams(connection, text, 0, nullptr, nullptr, nullptr, nullptr, 0);
        PQpipelineSync(connection);
        int answers = 0;
        for (;;) {
            PGresult* result = PQgetResult(connection);
            const auto status = PQresultStatus(result);
            const bool nothing = result == nullptr;
            PQclear(result);
            if (nothing && PQstatus(connection) == CONNECTION_BAD) return false;
            if (nothing) continue;
            if (status == PGRES_PIPELINE_SYNC) return answers == 3;
            if (status != PGRES_COMMAND_OK) return false;
            ++answers;
        }
    }
    bool write_note_with(const ProxyPlan& plan) {
        const Connection connection = connect();
        EXPECT_EQ(PQstatus(connection.get()), CONNECTION_OK) << PQerrorMessage(connection.get());
        proxy_->set_plan(plan, ProxyScope::next_commit);
        return write_note(connection.get());
    }
};
INSTANTIATE_TEST_SUITE_P(EachProtocol, FaultProxyPlan,
                         ::testing::Values(Protocol::simple, Protocol::extended, Protocol::prepared,
                                           Protocol::pipeline),
                         protocol_name);

TEST_P(FaultProxyPlan, WithoutOneEverythingPasses) {
    EXPECT_TRUE(write_note_with(ProxyPlan::pass()));
    EXPECT_EQ(settled_count(), "1");
    EXPECT_EQ(proxy_->counters().commits_seen, 1U);
    EXPECT_EQ(proxy_->counters().cuts, 0U);
}

TEST_P(FaultProxyPlan, CutBeforeCommitLeavesNothing) {
    for (const auto way : {ProxyPlan::Way::reset, ProxyPlan::Way::finish})
        EXPECT_FALSE(write_note_with(ProxyPlan::cut_before_commit(way)));
    EXPECT_EQ(settled_count(), "0");
    EXPECT_EQ(proxy_->counters().cuts, 2U);
}

TEST_P(FaultProxyPlan, CutAfterCommitSentCommitsUnheard) {
    for (const auto way : {ProxyPlan::Way::reset, ProxyPlan::Way::finish})
        EXPECT_FALSE(write_note_with(ProxyPlan::cut_after_commit_sent(way)));
    EXPECT_EQ(settled_count(), "2");
}

TEST_P(FaultProxyPlan, SwallowedAnswerHidesACommitThatIsDone) {
    for (const auto way : {ProxyPlan::Way::reset, ProxyPlan::Way::finish})
        EXPECT_FALSE(write_note_with(ProxyPlan::swallow_commit_answer(way)));
    EXPECT_EQ(count(), "2");
}

TEST_P(FaultProxyPlan, StallHoldsCommitBackUntilReleased) {
    std::jthread client([&] { EXPECT_TRUE(write_note_with(ProxyPlan::stall_at_commit(ProxyPlan::Side::server))); });
    ASSERT_TRUE(proxy_->await([](const ProxyCounters& c) { return c.stalls == 1; }, limit));
    EXPECT_EQ(count(), "0");
    proxy_->release();
    client.join();
    EXPECT_EQ(settled_count(), "1");
}

TEST_P(FaultProxyPlan, StalledAnswerArrivesWhenReleased) {
    ProxyPlan plan = ProxyPlan::swallow_commit_answer();
    plan.action = ProxyPlan::Action::stall;
    plan.side = ProxyPlan::Side::client;
    std::jthread client([&] { EXPECT_TRUE(write_note_with(plan)); });
    ASSERT_TRUE(proxy_->await([](const ProxyCounters& c) { return c.stalls == 1; }, limit));
    EXPECT_EQ(count(), "1");
    proxy_->release();
}

TEST_P(FaultProxyPlan, RandomDelaysDoNotChangeWhatAPlanPromises) {
    const Duration up_to = std::chrono::milliseconds(3);
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(write_note_with(ProxyPlan::cut_before_commit().delayed(up_to)));
        EXPECT_FALSE(write_note_with(ProxyPlan::cut_after_commit_sent().delayed(up_to)));
        EXPECT_FALSE(write_note_with(ProxyPlan::swallow_commit_answer().delayed(up_to)));
    }
    EXPECT_EQ(settled_count(), "20");
}

class FaultProxyTest : public FaultProxyBase {};

TEST_F(FaultProxyTest, ReleasedCommitArrivesEvenIfItsClientIsGone) {
    Connection connection = connect();
    proxy_->set_plan(ProxyPlan::stall_at_commit(ProxyPlan::Side::server), ProxyScope::next_commit);
    ASSERT_TRUE(run(connection.get(), "BEGIN"));
    ASSERT_TRUE(run(connection.get(), "INSERT INTO note VALUES ('late')"));
    ASSERT_EQ(PQsendQuery(connection.get(), "COMMIT"), 1);
    ASSERT_TRUE(proxy_->await([](const ProxyCounters& c) { return c.stalls == 1; }, limit));
    connection.reset();
    EXPECT_EQ(count(), "0");
    proxy_->release();
    EXPECT_EQ(settled_count(), "1");
}

TEST_F(FaultProxyTest, CutOfTheServerAloneLeavesTheClientWaiting) {
    const Connection connection = connect();
    proxy_->set_plan(ProxyPlan::cut_server_before_commit(), ProxyScope::next_commit);
    ASSERT_TRUE(run(connection.get(), "BEGIN"));
    ASSERT_TRUE(run(connection.get(), "INSERT INTO note VALUES ('x')"));
    ASSERT_EQ(PQsendQuery(connection.get(), "COMMIT"), 1);
    ASSERT_TRUE(proxy_->await([](const ProxyCounters& c) { return c.cuts == 1; }, limit));
    EXPECT_EQ(settled_count(), "0");
    EXPECT_EQ(PQconsumeInput(connection.get()), 1);
    EXPECT_EQ(PQisBusy(connection.get()), 1);
}

TEST_F(FaultProxyTest, CutOfTheClientAloneLeavesTheTransactionOpen) {
    const Connection connection = connect();
    proxy_->set_plan(ProxyPlan::cut_client_before_commit(), ProxyScope::next_commit);
    ASSERT_TRUE(run(connection.get(), "BEGIN"));
    ASSERT_TRUE(run(connection.get(), "INSERT INTO note VALUES ('x')"));
    EXPECT_FALSE(run(connection.get(), "COMMIT"));
    EXPECT_EQ(postgres()
                  .scalar("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND state = 'idle in transaction'",
                          "postgres", {database()})
                  .value(),
              "1");
    proxy_->cut_all();
    EXPECT_EQ(settled_count(), "0");
}

TEST_F(FaultProxyTest, CutsAfterTheNthMessage) {
    // The first is the start-up message, BEGIN the second.
    for (std::uint64_t n = 1; n <= 4; ++n) {
        proxy_->set_plan(ProxyPlan::cut_after_message(n), ProxyScope::next_connection);
        const Connection connection = connect();
        EXPECT_EQ(PQstatus(connection.get()) == CONNECTION_OK, n > 1);
        EXPECT_EQ(run(connection.get(), "BEGIN"), n > 2) << n;
        EXPECT_EQ(run(connection.get(), "INSERT INTO note VALUES ('x')"), n > 3) << n;
        EXPECT_FALSE(run(connection.get(), "SELECT 1")) << n;
    }
    EXPECT_EQ(settled_count(), "0");
    EXPECT_EQ(proxy_->counters().cuts, 4U);
}

TEST_F(FaultProxyTest, StallsAfterTheNthMessageUntilReleased) {
    proxy_->set_plan(ProxyPlan::stall_after_message(1), ProxyScope::next_connection);
    std::jthread client([&] {
        const Connection connection = connect();
        EXPECT_EQ(PQstatus(connection.get()), CONNECTION_OK);
    });
    ASSERT_TRUE(proxy_->await([](const ProxyCounters& c) { return c.stalls == 1; }, limit));
    proxy_->release();
}

TEST_F(FaultProxyTest, PlanForEveryConnectionStaysUntilReplaced) {
    proxy_->set_plan(ProxyPlan::cut_before_commit(), ProxyScope::every_connection);
    for (int i = 0; i < 2; ++i) {
        const Connection connection = connect();
        EXPECT_TRUE(run(connection.get(), "BEGIN"));
        EXPECT_FALSE(run(connection.get(), "COMMIT"));
    }
    proxy_->clear_plans();
    const Connection connection = connect();
    EXPECT_TRUE(run(connection.get(), "BEGIN"));
    EXPECT_TRUE(run(connection.get(), "COMMIT"));
}

TEST_F(FaultProxyTest, RefusesAndAcceptsAgain) {
    proxy_->refuse_connections(true);
    EXPECT_EQ(PQstatus(connect().get()), CONNECTION_BAD);
    EXPECT_EQ(proxy_->counters().connections, 0U);
    proxy_->refuse_connections(false);
    EXPECT_EQ(PQstatus(connect().get()), CONNECTION_OK);
}

TEST_F(FaultProxyTest, AcceptsAndNeverAnswers) {
    proxy_->accept_and_ignore(true);
    const Connection connection = connect("?connect_timeout=2");
    EXPECT_NE(std::string(PQerrorMessage(connection.get())).find("timeout expired"), std::string::npos);
    EXPECT_GE(proxy_->counters().connections, 1U);
}

TEST_F(FaultProxyTest, PassesLargeValuesInBothDirections) {
    const Connection connection = connect();
    const std::string large(5'000'000, 'y');
    const std::array<const char*, 1> values{large.c_str()};
    PQclear(
        PQexecParams(connection.get(), "INSERT INTO note VALUES ($1)", 1, nullptr, values.data(), nullptr, nullptr, 0));
    PGresult* result = PQexec(connection.get(), "SELECT text FROM note");
    EXPECT_EQ(PQgetlength(result, 0, 0), 5'000'000);
    PQclear(result);
    // Start-up; Parse, Bind, Describe, Execute, Sync; Query.
    EXPECT_EQ(proxy_->counters().frontend_messages, 7U);
}

TEST_F(FaultProxyTest, PassesCancelRequests) {
    const Connection connection = connect();
    ASSERT_EQ(PQsendQuery(connection.get(), "SELECT pg_sleep(60)"), 1);
    // A request that comes before the statement cancels nothing.
    for (int i = 0; i < 1'000; ++i) {
        if (postgres().scalar("SELECT wait_event FROM pg_stat_activity WHERE datname = $1", "postgres", {database()}) ==
            "PgSleep")
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::array<char, 256> text{};
    PGcancel* cancel = PQgetCancel(connection.get());
    EXPECT_EQ(PQcancel(cancel, text.data(), static_cast<int>(text.size())), 1) << text.data();
    PQfreeCancel(cancel);
    PGresult* result = PQgetResult(connection.get());
    EXPECT_STREQ(PQresultErrorField(result, PG_DIAG_SQLSTATE), "57014");
    PQclear(result);
    EXPECT_EQ(proxy_->counters().cancels_seen, 1U);
}

TEST_F(FaultProxyTest, TellsTheClientWhenTheServerIsAway) {
    proxy_->redirect(1);
    EXPECT_EQ(PQstatus(connect().get()), CONNECTION_BAD);
    proxy_->redirect(postgres().port());
    EXPECT_EQ(PQstatus(connect().get()), CONNECTION_OK);
}

}  // namespace
}  // namespace semel::testing
