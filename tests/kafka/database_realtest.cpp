// The database restarts in the middle, with Kafka between outbox and inbox.

#include "semel/testing/postgres_cluster.hpp"
#include "tests/kafka/pipeline.hpp"

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

/// A server of its own, which is maltreated.
TEST(KafkaDatabaseRestart, EachEffectHappensOnce) {
    const auto shared = RealCluster::shared();
    if (!shared) GTEST_SKIP() << shared.error().describe();
    auto server = testing::PostgresCluster::start();
    if (!server) GTEST_SKIP() << server.error().describe();
    set_log_sink({});
    const auto opened = semel::open(server->fresh_database().value()).value();
    Database& database = *opened.database;
    const auto soon = [] { return Deadline::after(system_clock().now(), 30s); };
    ASSERT_TRUE(migrate(database, "semel", opened.schema, soon()));
    const auto run = [&](std::string_view script) {
        return transact(database, [&](Transaction& tx) { return tx.run_script(script); }).committed();
    };
    ASSERT_TRUE(
        run("CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text NOT NULL,"
            " order_key text NOT NULL)"));
    const std::string topic = (*shared)->fresh_topic(3).value();
    const auto sink = sink_to((*shared)->direct(), topic);
    const auto source = source_of((*shared)->direct(), topic);
    LocalDoorbell bell;
    const auto relay = Relay::create(database, *sink, bell, relay_options()).value();
    const auto consumer = Consumer::create(database, *source, consuming::quick_options(), note_number).value();
    relay->start();
    consumer->start();
    const AppendStatements statements = AppendStatements::from(database.catalogue()).value();
    int written = 0;
    for (int n = 0; n < 300; ++n) {
        if (n == 150) {
            ASSERT_TRUE(server->kill9());
            ASSERT_TRUE(server->start_again());
        }
        const auto outcome = transact(database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database.clock(), database.random());
            outbox.append({.aggregate = {.type = "order", .id = std::to_string(n % 7)},
                           .type = "changed",
                           .payload = std::to_string(n)});
            outbox.post_to(tx);
            return {};
        });
        written += outcome.committed() ? 1 : 0;
    }
    const auto rows = [&] {
        const auto outcome = transact(database, [](Transaction& tx) -> Result<std::pair<std::int64_t, std::int64_t>> {
            const Rows found = SEMEL_TRY(tx.execute("SELECT count(*), count(DISTINCT message) FROM effect"));
            return std::pair(SEMEL_TRY(found[0].get<std::int64_t>(0)), SEMEL_TRY(found[0].get<std::int64_t>(1)));
        });
        return outcome.committed() ? outcome.value() : std::pair<std::int64_t, std::int64_t>(-1, -1);
    };
    EXPECT_TRUE(conformance::eventually([&] { return rows().second >= written; }))
        << rows().second << " of " << written;
    relay->stop();
    consumer->stop();
    EXPECT_EQ(rows().first, rows().second) << "some happened twice";
    EXPECT_GT(written, 290);
}

}  // namespace
}  // namespace semel::kafka
