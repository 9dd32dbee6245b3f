// semel.append from other languages: in psql's scripts, from Node's `pg`, and beside appends of C++ on the same
// aggregates.

#include "semel/db/lock_key.hpp"
#include "semel/testing/process.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

class SqlAppend : public ShopTest {
protected:
    static std::filesystem::path file(std::string_view name) { return std::filesystem::path(SQL_API_DIR) / name; }
    static std::string content_of(const std::filesystem::path& path) {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        EXPECT_FALSE(text.str().empty()) << path;
        return text.str();
    }
    [[nodiscard]] testing::Finished run_tool(std::vector<std::string> argv) const {
        testing::Command command;
        command.argv = std::move(argv);
        command.environment = {"SEMEL_TEST_DATABASE=" + url(),
                               "NODE_PATH=" + file("node_modules").string() + ":/usr/share/nodejs"};
        const auto finished = testing::run(command, 120s);
        EXPECT_TRUE(finished) << finished.error().describe() << "\nis it installed? run tools/setup";
        return finished.value_or(testing::Finished{});
    }
    [[nodiscard]] Outcome<> append(const std::vector<std::string>& aggregates) const {
        TransactOptions options;
        options.retry = Policy::once();
        return transact(*shop.database, options, [&](Transaction& tx) -> Status {
            Outbox outbox(shop.executor->append_statements(), "shop", shop.database->clock(), shop.database->random());
            for (const std::string& one : aggregates)
                outbox.append({.aggregate = {.type = "order", .id = one}, .type = "order.changed", .payload = "{}"});
            outbox.post_to(tx);
            return {};
        });
    }
    void expect_one_pending_row_each() {
        EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), ask("SELECT count(*) FROM semel.outbox_pending"));
        EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event e JOIN semel.outbox_pending p"
                      " USING (event_id, position, aggregate, partition)"),
                  ask("SELECT count(*) FROM semel.outbox_event"));
    }
};

TEST_F(SqlAppend, FromPsqlSaysWhatTheProtocolSays) {
    const auto psql = run_tool({"psql", "-X", url(), "-f", file("append.sql")});
    EXPECT_EQ(psql.output, content_of(file("append.expected"))) << psql.error_output;
}

TEST_F(SqlAppend, PutsAnAggregateWhereTheLibraryPutsIt) {
    SeededRandom random(1);
    const auto text = [&] {
        std::string made;
        for (std::uint64_t n = random.below(20); n-- > 0;)
            made += random.below(5) == 0 ? std::string("ü") : std::string(1, static_cast<char>('!' + random.below(90)));
        return made;
    };
    auto own = session();
    for (int n = 0; n < 1000; ++n) {
        const std::string tenant = text();
        const Aggregate aggregate{.type = text(), .id = text()};
        const AggregatePlace place = place_of(tenant, aggregate);
        const std::array<std::byte, 2> stripe{static_cast<std::byte>(place.stripe >> 8U),
                                              static_cast<std::byte>(place.stripe & 0xffU)};
        const std::string expected = std::to_string(place.number) + "|" + std::to_string(place.partition) + "|" +
                                     std::to_string(lock_key("semel.append", stripe));
        const auto rows =
            own->look({.sql = "SELECT n || '|' || (n & 63) || '|' || semel.stripe_lock(n)"
                              " FROM semel.aggregate_number($1, $2, $3) AS n",
                       .parameters = std::array{parameter(tenant), parameter(aggregate.type), parameter(aggregate.id)},
                       .expected_rows = {}},
                      shop.in(10s));
        ASSERT_TRUE(rows) << rows.error().describe();
        ASSERT_EQ(rows->scalar<std::string>().value(), expected)
            << tenant << " " << aggregate.type << " " << aggregate.id;
    }
}

TEST_F(SqlAppend, FromNodeTellsInItsOwnTransactionAndCrossesAppendsOfCppWithoutADeadlock) {
    constexpr int rounds = 400;
    auto node = start([&] { return run_tool({"node", file("append.js"), std::to_string(rounds)}); });
    int mine = 0;
    std::vector<std::string> aggregates;
    for (int n = 0; n < 8; ++n) aggregates.push_back("crossing-" + std::to_string(n));
    while (node.wait_for(0s) != std::future_status::ready) {
        const Outcome<> outcome = append(aggregates);
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
        ++mine;
    }
    const auto finished = node.get();
    EXPECT_TRUE(finished.exit.success()) << finished.error_output;
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event WHERE aggregate_id LIKE 'crossing-%'"),
              std::to_string(8 * (rounds + mine)));
    EXPECT_EQ(deadlocks(), "0");
    expect_one_pending_row_each();
    std::printf("%d transactions of Node beside %d of C++ on the same aggregates, no deadlock\n", rounds, mine);
    EXPECT_GT(mine, 10);
}

TEST_F(SqlAppend, CrossingTransactionsOfPlainSqlDoNotDeadlock) {
    const auto writer = [&](bool upward) {
        auto own = session();
        for (int round = 0; round < 150; ++round) {
            Transaction tx(*own, {}, shop.in(20s));
            for (int n = 0; n < 10; ++n) {
                const std::string id = std::to_string(upward ? n : 9 - n);
                const auto rows =
                    tx.execute("SELECT semel.append('shop', 'order', $1, NULL, 'order.changed', '{}')", id);
                if (!rows) return rows.error().describe();
            }
            if (const auto outcome = std::move(tx).commit(); !outcome.committed()) return outcome.error().describe();
        }
        return std::string();
    };
    std::vector<std::future<std::string>> writers;
    for (int n = 0; n < 4; ++n) writers.push_back(start([&, n] { return writer(n % 2 == 0); }));
    for (auto& one : writers) EXPECT_EQ(one.get(), "");
    EXPECT_EQ(deadlocks(), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), "6000");
    expect_one_pending_row_each();
}

TEST_F(SqlAppend, TwentyThousandAggregatesInOneTransactionHoldABoundedNumberOfLocks) {
    auto own = session();
    Transaction tx(*own, {.statement_timeout = 60s, .commit_timeout = 60s}, shop.in(120s));
    ASSERT_TRUE(
        tx.execute("SELECT count(semel.append('shop', 'order', n::text, 1, 'order.created', '{}'))"
                   " FROM generate_series(1, 20000) AS n"));
    ASSERT_TRUE(tx.execute("SET CONSTRAINTS ALL IMMEDIATE"));
    const auto held =
        tx.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()");
    ASSERT_TRUE(held) << held.error().describe();
    EXPECT_LE(held->scalar<std::int64_t>().value(), 4096);
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), "20000");
    expect_one_pending_row_each();
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_staged"), "0");
    // And as many by the library.
    std::vector<std::string> many;
    for (int n = 0; n < 20'000; ++n) many.push_back("c" + std::to_string(n));
    const Outcome<> theirs = append(many);
    ASSERT_TRUE(theirs.committed()) << theirs.error().describe();
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_pending"), "40000");
}

}  // namespace
}  // namespace semel::protocol
