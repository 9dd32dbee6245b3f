#pragma once

#include "semel/cdc/feed.hpp"
#include "semel/cdc/mode.hpp"
#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/outbox/append.hpp"
#include "semel/relay/runner.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/scripted_sink.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace semel::cdc {

using semel::testing::PostgresCluster;
using semel::testing::ScriptedSink;

/// A process that streams: its sessions, its relay, and the feed within.
struct CdcProcess {
    std::unique_ptr<Database> database;
    CdcFeed* feed = nullptr;
    std::unique_ptr<Relay> relay;
};

/// How long a test waits for what should be. Less where it is expected to fail.
inline Duration patience() {
    const char* seconds = std::getenv("SEMEL_CDC_TEST_PATIENCE");
    return std::chrono::seconds(seconds == nullptr ? 30 : std::atoi(seconds));
}
inline bool eventually(const std::function<bool()>& so, Duration limit = patience()) {
    const Instant end = system_clock().now() + limit;
    while (!so()) {
        if (system_clock().now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}
inline Deadline in(Duration limit) { return Deadline::after(system_clock().now(), limit); }

/// Events of orders in a database of a server, which leave through its log.
class CdcShop {
public:
    explicit CdcShop(PostgresCluster& server) : server_(&server), url(server.fresh_database().value()) {
        name = url.substr(url.rfind('/') + 1);
        slot = "semel_" + name;
        std::ranges::replace_if(slot, [](char c) { return !std::islower(c) && !std::isdigit(c); }, '_');
        database = open_again();
        EXPECT_TRUE(migrate(*database, "semel", driver(url).value().schema, in(std::chrono::seconds(30))));
    }
    ~CdcShop() {
        std::ignore = eventually([&] { return ask("SELECT count(*) FROM pg_replication_slots WHERE active") == "0"; },
                                 std::chrono::seconds(5));
        std::ignore =
            ask("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
                "WHERE database = current_database() AND NOT active");
    }
    CdcShop(const CdcShop&) = delete;
    CdcShop& operator=(const CdcShop&) = delete;

    [[nodiscard]] std::unique_ptr<Database> open_again() const {
        DatabaseOptions how;
        how.breaker.attempts_min = 100'000;
        how.budget.floor_per_second = 100'000;
        return std::move(open(url, how).value().database);
    }
    [[nodiscard]] LinkOptions link() const { return {.connection = url}; }
    [[nodiscard]] static RelayOptions options() {
        RelayOptions options;
        options.rules.batch = 64;
        options.rules.lease = std::chrono::seconds(3);
        options.rules.publish_limit = std::chrono::seconds(1);
        options.rules.poll = std::chrono::milliseconds(50);
        options.rules.backoff.base = std::chrono::milliseconds(5);
        options.rules.backoff.throttled_base = std::chrono::milliseconds(5);
        options.rules.backoff.cap = std::chrono::milliseconds(50);
        options.rules.attempts_max = 2;
        options.rules.poison_of = {{"parks", Poison::park}, {"skips", Poison::skip}};
        options.rules.breaker.attempts_min = 100'000;
        return options;
    }
    [[nodiscard]] CdcProcess process(Sink& sink, RelayOptions how = options()) const {
        CdcProcess made{.database = open_again(), .feed = nullptr, .relay = nullptr};
        auto feed = CdcFeed::create(
            *made.database, {.link = link(), .lease = how.rules.lease, .poll = how.rules.poll, .held_max = held_max});
        EXPECT_TRUE(feed) << feed.error().describe();
        made.feed = feed->get();
        made.relay = Relay::create(*made.database, sink, *std::move(feed), how).value();
        return made;
    }
    void switch_in() const {
        const Status switched = switch_to_cdc(*database, link(), slot, in(std::chrono::seconds(10)));
        ASSERT_TRUE(switched) << switched.error().describe();
    }
    /// Appends go through the log.
    [[nodiscard]] bool streams() const {
        return eventually([&] { return ask("SELECT last_value FROM semel.outbox_mode") == "1"; });
    }

    /// One transaction with these events: the numbers of their aggregates. False: it is not known to have committed.
    bool tell(const std::vector<int>& aggregates, const std::string& type = "order",
              const TransactionOptions& transaction = {}) const {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        TransactOptions how;
        how.deadline = in(std::chrono::seconds(20));
        how.transaction = transaction;
        const auto outcome = transact(*database, how, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (const int one : aggregates) outbox.append(event(one, type));
            outbox.post_to(tx);
            return {};
        });
        return outcome.committed();
    }
    static Event event(int aggregate, const std::string& type = "order") {
        return {.aggregate = {.type = type, .id = std::to_string(aggregate)}, .type = "changed", .payload = "{}"};
    }

    [[nodiscard]] std::string ask(const std::string& sql, const std::vector<std::string>& values = {}) const {
        return server_->scalar(sql, name, values).value_or("no answer");
    }
    [[nodiscard]] int events() const { return std::stoi(ask("SELECT count(*) FROM semel.outbox_event")); }
    [[nodiscard]] std::string pending() const { return ask("SELECT count(*) FROM semel.outbox_pending"); }
    [[nodiscard]] std::string waiting() const { return ask("SELECT count(*) FROM semel.outbox_waiting"); }
    [[nodiscard]] std::string parked() const { return ask("SELECT count(*) FROM semel.outbox_parked"); }

    /// Everything that was written has arrived, each aggregate in its order.
    void expect_all(const ScriptedSink& sink) const {
        const auto events_now = static_cast<std::size_t>(events());
        EXPECT_TRUE(eventually([&] { return sink.first_taken().size() >= events_now; }))
            << sink.first_taken().size() << " of " << events_now;
        EXPECT_EQ(sink.first_taken().size(), events_now);
        expect_order(sink);
    }
    static void expect_order(const ScriptedSink& sink) {
        std::map<std::string, std::int64_t> newest;
        for (const Message& one : sink.first_taken()) {
            std::int64_t& last = newest[one.aggregate.type + "/" + one.aggregate.id];
            EXPECT_GT(one.position, last) << "aggregate " << one.aggregate.id << " out of order";
            last = one.position;
        }
    }
    static std::size_t repeats(const ScriptedSink& sink) { return sink.taken().size() - sink.first_taken().size(); }

private:
    PostgresCluster* server_;

public:
    std::string url;
    std::size_t held_max = 50'000;
    std::string name;
    std::string slot;
    std::unique_ptr<Database> database;
};

/// On the server that all tests share.
class CdcTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = semel::testing::shared_postgres();
        ASSERT_TRUE(shared) << shared.error().describe();
        server = *shared;
        shop.emplace(*server);
    }
    PostgresCluster* server = nullptr;
    std::optional<CdcShop> shop;
};

}  // namespace semel::cdc
