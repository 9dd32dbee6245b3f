// Every way in which no session comes about has its own name.

#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/fixture_pgtest.hpp"
#include "semel/testing/fault_proxy.hpp"

#include <thread>

namespace semel::postgres {
namespace {

using testing::FaultProxy;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PostgresCluster;

class Connecting : public SessionTest {
protected:
    static Error failure(const std::string& connection, Duration limit = std::chrono::seconds(5)) {
        ConnectOptions options;
        options.connection = connection;
        const auto connect = connector(options);
        if (!connect) return connect.error();
        auto session = (*connect)(in(limit));
        EXPECT_FALSE(session);
        return session ? Error{} : session.error();
    }
    [[nodiscard]] std::string host() { return "host=127.0.0.1 port=" + std::to_string(postgres().port()); }
};

TEST_F(Connecting, TellsThatNothingListens) {
    auto proxy = FaultProxy::start(postgres().port());
    ASSERT_TRUE(proxy);
    (*proxy)->refuse_connections(true);
    const Error error = failure((*proxy)->url(database()));
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_THAT(error.message, HasSubstr("nothing listens"));
    EXPECT_EQ(error.cause.timeout, Timeout::none);
}

TEST_F(Connecting, TellsThatTheHostAcceptsAndDoesNotAnswer) {
    auto proxy = FaultProxy::start(postgres().port());
    ASSERT_TRUE(proxy);
    (*proxy)->accept_and_ignore(true);
    const Error error = failure((*proxy)->url(database()), std::chrono::milliseconds(300));
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_EQ(error.cause.timeout, Timeout::connect);
    EXPECT_THAT(error.message, HasSubstr("accepted the connection but did not answer"));
}

TEST_F(Connecting, TellsThatTheNameIsUnknown) {
    const Error error = failure("postgres://postgres@no-such-host.invalid/postgres");
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_THAT(error.message, HasSubstr("no-such-host.invalid"));
}

TEST_F(Connecting, TellsThatTheDatabaseIsMissing) {
    const Error error = failure(host() + " user=postgres dbname=nowhere");
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_EQ(error.cause.code, "3D000");
    EXPECT_THAT(error.cause.hint, HasSubstr("database"));
}

TEST_F(Connecting, TellsAWrongPasswordAndNeverShowsIt) {
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ASSERT_TRUE(cluster->sql("CREATE ROLE ann LOGIN PASSWORD 'right'"));
    const std::string hba = cluster->scalar("SHOW hba_file").value();
    ASSERT_TRUE(
        cluster->sql("COPY (SELECT 'host all ann 127.0.0.1/32 scram-sha-256' UNION ALL SELECT 'host all all "
                     "127.0.0.1/32 trust') TO '" +
                     hba + "'"));
    ASSERT_TRUE(cluster->sql("SELECT pg_reload_conf()"));
    const std::string base = "host=127.0.0.1 dbname=postgres user=ann port=" + std::to_string(cluster->port());
    Error error;
    for (int i = 0; i < 200; ++i) {
        error = failure(base + " password=hunter2");
        if (error.cause.code == "28P01") break;
    }
    EXPECT_EQ(error.fault, Fault::rejected);
    EXPECT_EQ(error.cause.code, "28P01");
    EXPECT_THAT(error.cause.hint, HasSubstr("password"));
    EXPECT_THAT(error.describe(), Not(HasSubstr("hunter2")));
    const Error none = failure(base);
    EXPECT_EQ(none.fault, Fault::rejected);
    EXPECT_THAT(none.message, HasSubstr("none was given"));
    ConnectOptions right;
    right.connection = base + " password=right";
    EXPECT_NE(open(right), nullptr);
}

TEST_F(Connecting, TellsThatTheServerHasNoConnectionLeft) {
    auto cluster = PostgresCluster::start(
        {.settings = {"max_connections=4", "superuser_reserved_connections=3", "max_wal_senders=0"}});
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ASSERT_TRUE(cluster->sql("CREATE ROLE ann LOGIN"));
    ConnectOptions options;
    options.connection = cluster->url("postgres", "ann");
    // The server process that made the role may still be on its way out and hold the only place.
    std::unique_ptr<Session> first;
    for (int i = 0; i < 500 && !first; ++i) {
        if (auto opened = connector(options).value()(soon())) first = *std::move(opened);
        if (!first) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_NE(first, nullptr);
    const Error error = failure(options.connection);
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_EQ(error.cause.code, "53300") << error.describe();
}

TEST_F(Connecting, TriesEveryHostInTurn) {
    auto dead = FaultProxy::start(postgres().port());
    ASSERT_TRUE(dead);
    (*dead)->refuse_connections(true);
    ConnectOptions options;
    options.connection = "host=localhost,127.0.0.1 port=" + std::to_string((*dead)->port()) + "," +
                         std::to_string(postgres().port()) + " user=postgres dbname=" + database();
    EXPECT_NE(open(options), nullptr);
}

TEST_F(Connecting, LooksForThePrimaryAmongSeveralHosts) {
    auto primary = PostgresCluster::start();
    ASSERT_TRUE(primary) << primary.error().describe();
    auto standby = primary->add_standby("sb1", false);
    ASSERT_TRUE(standby) << standby.error().describe();
    ConnectOptions options;
    options.connection =
        "host=127.0.0.1,127.0.0.1 user=postgres dbname=postgres port=" + std::to_string(standby->port()) + "," +
        std::to_string(primary->port());
    auto session = open(options);
    ASSERT_NE(session, nullptr);
    EXPECT_TRUE(session->writable());

    // A single host is taken as it is; its refusal of a write asks for another primary.
    options.connection = standby->url();
    auto reader = open(options);
    EXPECT_FALSE(reader->writable());
    Transaction tx(*reader, {}, soon());
    const auto rows = tx.execute("CREATE TABLE item (id int)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::unavailable);
    EXPECT_EQ(rows.error().cause.code, "25006");
    EXPECT_EQ(reader->state(), SessionState::closed);

    options.target = Target::read_write;
    const Error error = failure(standby->url() + "?target_session_attrs=read-write");
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_THAT(error.message, HasSubstr("not the primary"));
}

TEST_F(Connecting, TellsThatTheServerIsStillStarting) {
    // A server that stops answers new connections with the code it uses while starting, too.
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().describe();
    ASSERT_TRUE(cluster->stop());
    const Error error = failure(cluster->url());
    EXPECT_EQ(error.fault, Fault::unavailable);
    EXPECT_THAT(error.message, HasSubstr("nothing listens"));
    EXPECT_EQ(error_from_code("57P03", "", Phase::connect).fault, Fault::unavailable);
}

}  // namespace
}  // namespace semel::postgres
