#pragma once

#include "semel/outbox/append.hpp"
#include "semel/outbox/pending.hpp"
#include "semel/relay/runner.hpp"
#include "semel/testing/scripted_sink.hpp"
#include "tests/conformance/target.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace semel::relaying {

using conformance::eventually;
using conformance::target_name;

using testing::ScriptedSink;

/// A process that relays: its sessions and its relay, on a sink that it shares with others.
struct Process {
    std::unique_ptr<Database> database;
    std::unique_ptr<Relay> relay;
};

/// Events of orders, relayed to a broker in memory.
class RelayTest : public conformance::ConformanceTest {
protected:
    [[nodiscard]] bool sqlite() const { return GetParam() == conformance::Target::sqlite; }

    [[nodiscard]] static RelayOptions options() {
        RelayOptions options;
        options.rules.batch = 16;
        options.rules.backoff.base = std::chrono::milliseconds(1);
        options.rules.backoff.throttled_base = std::chrono::milliseconds(1);
        options.rules.backoff.cap = std::chrono::milliseconds(20);
        options.rules.attempts_max = 2;
        options.rules.poison_of = {{"parks", Poison::park}, {"skips", Poison::skip}};
        options.rules.breaker.attempts_min = 100'000;
        return options;
    }

    [[nodiscard]] std::unique_ptr<Database> open_again() {
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        how.breaker.attempts_min = 100'000;
        how.budget.floor_per_second = 100'000;
        return Database::create(driver_.connect, how).value();
    }
    [[nodiscard]] Process process(Sink& sink, const RelayOptions& how = options()) {
        Process made{.database = open_again(), .relay = nullptr};
        auto relay = Relay::create(*made.database, sink, bell, how);
        EXPECT_TRUE(relay) << relay.error().describe();
        made.relay = *std::move(relay);
        return made;
    }

    /// One transaction with these events: the numbers of their aggregates.
    void append(const std::vector<int>& aggregates, const std::string& type = "order") {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (const int one : aggregates) outbox.append(event(one, type));
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    static Event event(int aggregate, const std::string& type = "order") {
        return {.aggregate = {.type = type, .id = std::to_string(aggregate)}, .type = "changed", .payload = "{}"};
    }

    [[nodiscard]] std::int64_t pending() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_pending")
                        : count("SELECT count(*) FROM semel.outbox_pending");
    }
    [[nodiscard]] std::int64_t waiting() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_pending WHERE next_attempt_at IS NOT NULL")
                        : count("SELECT count(*) FROM semel.outbox_waiting");
    }
    [[nodiscard]] std::int64_t parked() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_parked")
                        : count("SELECT count(*) FROM semel.outbox_parked");
    }
    [[nodiscard]] std::int64_t held_partitions() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_partition WHERE owner IS NOT NULL")
                        : count("SELECT count(*) FROM semel.outbox_partition WHERE owner IS NOT NULL");
    }
    /// What a relay that holds all of `held` writes down about this row under. They come in no order.
    static HeldPartition under(std::span<const HeldPartition> held, const PendingRow& row) {
        const auto found = std::ranges::find(held, row.partition, &HeldPartition::partition);
        EXPECT_NE(found, held.end());
        return *found;
    }
    /// Lets the events that wait for their next attempt become due, as time would.
    void come_due() {
        run(sqlite() ? "UPDATE semel_outbox_pending SET next_attempt_at = 0 WHERE next_attempt_at IS NOT NULL"
                     : "UPDATE semel.outbox_waiting SET next_attempt_at = now()");
    }
    /// The same, and lets the leases end.
    void age() {
        run(sqlite() ? "UPDATE semel_outbox_partition SET expires_at = 0 WHERE owner IS NOT NULL;"
                       "UPDATE semel_outbox_relay SET alive_until = 0"
                     : "UPDATE semel.outbox_partition SET expires_at = 'epoch' WHERE owner IS NOT NULL;"
                       "UPDATE semel.outbox_relay SET alive_until = 'epoch'");
        come_due();
    }

    /// The first deliveries of each aggregate, by position.
    static std::map<std::string, std::vector<std::int64_t>> first_by_aggregate(const ScriptedSink& sink) {
        std::map<std::string, std::vector<std::int64_t>> all;
        for (const Message& one : sink.first_taken())
            all[one.aggregate.type + "/" + one.aggregate.id].push_back(one.position);
        return all;
    }
    static void expect_order(const ScriptedSink& sink) {
        for (const auto& [aggregate, positions] : first_by_aggregate(sink))
            EXPECT_TRUE(std::ranges::is_sorted(positions)) << aggregate;
    }

    LocalDoorbell bell;
};

}  // namespace semel::relaying
