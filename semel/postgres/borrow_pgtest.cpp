// A caller's own connection, lent for one transaction.

#include "semel/postgres/borrow.hpp"
#include "semel/postgres/fixture_pgtest.hpp"

#include <libpq-fe.h>

namespace semel::postgres {
namespace {

class Borrowing : public SessionTest {
protected:
    void SetUp() override {
        SessionTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        sql("CREATE TABLE item (id int PRIMARY KEY)");
        own_.reset(PQconnectdb(url().c_str()));
        ASSERT_EQ(PQstatus(own()), CONNECTION_OK);
        PQsetNoticeProcessor(own(), [](void*, const char*) {}, nullptr);
    }
    [[nodiscard]] PGconn* own() const { return own_.get(); }
    /// Runs a statement as the caller does, with libpq's blocking call.
    std::string query(const char* text) {
        const ResultHandle result(PQexec(own(), text));
        if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) return PQgetvalue(result.get(), 0, 0);
        return PQresultStatus(result.get()) == PGRES_COMMAND_OK ? "ok" : PQerrorMessage(own());
    }
    Error refusal(NoticeReceiver notices = {}) {
        auto lent = BorrowedSession::borrow(own(), soon(), notices);
        EXPECT_FALSE(lent);
        return lent ? Error{} : lent.error();
    }

private:
    ConnectionHandle own_;
};

TEST_F(Borrowing, CommitsAndGivesTheConnectionBackAsItWas) {
    EXPECT_EQ(query("SET lock_timeout = '77ms'"), "ok");
    {
        auto lent = BorrowedSession::borrow(own(), soon());
        ASSERT_TRUE(lent) << lent.error().describe();
        Transaction tx(lent->session(), {}, soon());
        tx.post("INSERT INTO item VALUES ($1)", 1);
        const auto outcome = std::move(tx).commit();
        EXPECT_TRUE(outcome.committed()) << told(outcome);
        EXPECT_TRUE(lent->session().mark().taken);
        ASSERT_TRUE(lent->release(soon()));
    }
    EXPECT_EQ(PQpipelineStatus(own()), PQ_PIPELINE_OFF);
    EXPECT_EQ(PQisnonblocking(own()), 0);
    EXPECT_EQ(PQtransactionStatus(own()), PQTRANS_IDLE);
    EXPECT_EQ(query("SELECT count(*) FROM item"), "1");
    EXPECT_EQ(query("SHOW lock_timeout"), "77ms");
    EXPECT_EQ(query("SELECT count(*) FROM pg_prepared_statements"), "0");
}

TEST_F(Borrowing, RollsBackWhatWasNotCommitted) {
    {
        auto lent = BorrowedSession::borrow(own(), soon());
        ASSERT_TRUE(lent);
        Transaction tx(lent->session(), {}, soon());
        ASSERT_TRUE(tx.execute("INSERT INTO item VALUES (1)"));
    }
    EXPECT_EQ(PQpipelineStatus(own()), PQ_PIPELINE_OFF);
    EXPECT_EQ(PQtransactionStatus(own()), PQTRANS_IDLE);
    EXPECT_EQ(query("SELECT count(*) FROM item"), "0");
}

TEST_F(Borrowing, RefusesAConnectionInATransaction) {
    EXPECT_EQ(query("BEGIN"), "ok");
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("in a transaction"));
    EXPECT_EQ(query("SELECT 1/0").substr(0, 5), "ERROR");
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("in a transaction"));
    EXPECT_EQ(PQtransactionStatus(own()), PQTRANS_INERROR);
}

TEST_F(Borrowing, RefusesAConnectionThatIsBusy) {
    ASSERT_EQ(PQsendQuery(own(), "SELECT 1"), 1);
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("busy"));
    while (PGresult* result = PQgetResult(own())) PQclear(result);
    ASSERT_EQ(PQenterPipelineMode(own()), 1);
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("pipeline"));
    ASSERT_EQ(PQexitPipelineMode(own()), 1);
    EXPECT_EQ(query("SET client_encoding = 'LATIN1'"), "ok");
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("UTF8"));
    EXPECT_FALSE(BorrowedSession::borrow(nullptr, soon()));
}

TEST_F(Borrowing, GivesTheCallersNoticeReceiverBack) {
    int notices = 0;
    const NoticeReceiver mine{[](void* count, const PGresult*) { ++*static_cast<int*>(count); }, &notices};
    PQsetNoticeReceiver(own(), mine.receiver, mine.argument);
    EXPECT_THAT(refusal().message, ::testing::HasSubstr("notice receiver"));
    EXPECT_EQ(query("DO $$ BEGIN RAISE NOTICE 'one'; END $$"), "ok");
    EXPECT_EQ(notices, 1);
    {
        auto lent = BorrowedSession::borrow(own(), soon(), mine);
        ASSERT_TRUE(lent) << lent.error().describe();
        Transaction tx(lent->session(), {}, soon());
        ASSERT_TRUE(tx.execute("DO $$ BEGIN RAISE NOTICE 'ours'; END $$"));
    }
    EXPECT_EQ(notices, 1);
    EXPECT_EQ(query("DO $$ BEGIN RAISE NOTICE 'two'; END $$"), "ok");
    EXPECT_EQ(notices, 2);
}

TEST_F(Borrowing, LeavesAConnectionBrokenRatherThanHalfWay) {
    auto lent = BorrowedSession::borrow(own(), soon());
    ASSERT_TRUE(lent);
    Transaction tx(lent->session(), {}, in(std::chrono::milliseconds(500)));
    ASSERT_TRUE(
        tx.execute("SET LOCAL statement_timeout = 0"));  // Else the server may give up first, which is no half-way.
    ASSERT_FALSE(tx.execute("SELECT pg_sleep(30)"));
    EXPECT_EQ(lent->session().state(), SessionState::closed);
    EXPECT_FALSE(lent->release(soon()));
    EXPECT_NE(query("SELECT 1"), "1");
    EXPECT_EQ(PQstatus(own()), CONNECTION_BAD);
}

}  // namespace
}  // namespace semel::postgres
