// The server restarts, or its standby is away: each message has its effect once, and none is given up too early.

#include "semel/testing/postgres_cluster.hpp"
#include "tests/consuming/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;

/// A server of its own, which is maltreated.
class ConsumerServer : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = testing::PostgresCluster::start();
        ASSERT_TRUE(started) << started.error().describe();
        server.emplace(*std::move(started));
        url = server->fresh_database().value();
        const auto opened = open(url).value();
        ASSERT_TRUE(migrate(*opened.database, "semel", opened.schema, Deadline::after(system_clock().now(), 30s)));
        ASSERT_TRUE(
            server->sql("CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY, message text NOT NULL,"
                        " order_key text NOT NULL)",
                        url.substr(url.rfind('/') + 1)));
        DatabaseOptions how;
        how.breaker.open_for = 200ms;
        database = std::move(open(url, how).value().database);
    }
    [[nodiscard]] std::string ask(const std::string& sql) const {
        return server->scalar(sql, url.substr(url.rfind('/') + 1)).value_or("no answer");
    }
    static bool eventually(const std::function<bool()>& so) {
        const Instant end = system_clock().now() + 30s;
        while (!so()) {
            if (system_clock().now() > end) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }

    std::optional<testing::PostgresCluster> server;
    std::string url;
    std::unique_ptr<Database> database;
    ScriptedSource source;
};

TEST_F(ConsumerServer, MayBeRestartedInTheMiddle) {
    const auto one = Consumer::create(*database, source, quick_options(), note_effect).value();
    one->start();
    std::atomic<bool> enough = false;
    std::atomic<int> sent = 0;
    std::jthread sender([&] {
        while (!enough) {
            source.send(message(std::to_string(sent), std::to_string(sent % 7)));
            ++sent;
            std::this_thread::sleep_for(2ms);
        }
    });
    for (int n = 0; n < 3; ++n) {
        const std::uint64_t before = one->report().processed;
        ASSERT_TRUE(eventually([&] { return one->report().processed > before + 20; }));
        ASSERT_TRUE(n == 1 ? server->kill9() : server->stop());
        EXPECT_TRUE(eventually([&] { return source.paused(); })) << "while the database is away nothing is taken";
        ASSERT_TRUE(server->start_again());
    }
    enough = true;
    sender.join();
    EXPECT_TRUE(eventually([&] { return source.empty(); }));
    one->stop();
    EXPECT_EQ(ask("SELECT count(*) FROM effect"), std::to_string(sent));
    EXPECT_EQ(ask("SELECT count(DISTINCT message) FROM effect"), std::to_string(sent));
    EXPECT_EQ(one->report().parked, 0U);
    std::printf("%d messages over 3 restarts, %llu failed attempts, %llu pauses\n", sent.load(),
                static_cast<unsigned long long>(one->report().failed),
                static_cast<unsigned long long>(one->report().pauses));
}

TEST_F(ConsumerServer, AcknowledgesNoDuplicateThatAStandbyDoesNotHave) {
    ConsumerOptions options = quick_options();
    options.handle_limit = 1s;
    const auto one = Consumer::create(*database, source, options, note_effect).value();
    source.play({.lose_acknowledgement = 100});
    source.send(message("m"));
    one->run_until_idle();
    ASSERT_EQ(one->report().processed, 1U);
    source.play({});
    // From now on every COMMIT waits for a standby that is away. What is visible may be lost with the primary.
    ASSERT_TRUE(server->sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
    ASSERT_TRUE(server->sql("SELECT pg_reload_conf()"));
    ASSERT_TRUE(eventually([&] { return ask("SHOW synchronous_standby_names") == "nobody"; }));
    source.disconnect();
    one->run_until_idle();
    EXPECT_EQ(one->report().duplicates, 0U);
    EXPECT_EQ(source.unacknowledged(), 1U) << "after a promotion nobody would have it";

    ASSERT_TRUE(server->sql("ALTER SYSTEM RESET synchronous_standby_names"));
    ASSERT_TRUE(server->sql("SELECT pg_reload_conf()"));
    EXPECT_TRUE(eventually([&] {
        one->run_until_idle();
        return source.empty();
    }));
    EXPECT_EQ(ask("SELECT count(*) FROM effect"), "1");
}

}  // namespace
}  // namespace semel::consuming
