// `semel outbox …` as a person runs it, on both databases.

#include "semel/outbox/replay.hpp"
#include "semel/outbox/retention.hpp"
#include "semel/outbox/status_events.hpp"
#include "semel/testing/process.hpp"
#include "tests/relay/fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <numeric>

namespace semel::integration {
namespace {

using conformance::eventually;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class OutboxCommand : public relaying::RelayTest {
protected:
    using ScriptedSink = testing::ScriptedSink;
    using Process = relaying::Process;

    testing::Finished outbox(std::vector<std::string> arguments, const std::string& verb) {
        std::vector<std::string> argv{SEMEL_BINARY, "outbox", verb, "--db", address_};
        argv.insert(argv.end(), arguments.begin(), arguments.end());
        const auto finished = testing::run({.argv = argv}, 60s);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : testing::Finished();
    }
    Json json(const std::string& verb, std::vector<std::string> arguments = {}, int code = 0) {
        arguments.emplace_back("--json");
        const auto done = outbox(std::move(arguments), verb);
        EXPECT_EQ(done.exit.code, code) << verb << ": " << done.output << done.error_output;
        return Json::parse(done.output, nullptr, false);
    }
    /// Publishes everything that can leave, and lets go of the partitions.
    void relay_all(ScriptedSink& sink) {
        Process one = process(sink);
        one.relay->run_until_idle();
        one.relay->stop();
    }
    /// Makes every event look forty days older.
    void make_old() {
        run(sqlite() ? "UPDATE semel_outbox_event SET created_at = created_at - 3456000000000"
                     : "UPDATE semel.outbox_event SET created_at = created_at - interval '40 days'");
    }
    [[nodiscard]] std::int64_t events() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_event")
                        : count("SELECT count(*) FROM semel.outbox_event");
    }
};

TEST_P(OutboxCommand, TellsWhatWaitsAndWhoRelays) {
    append({1, 2, 2, 3});
    const Json before = json("status");
    EXPECT_EQ(before["pending"], 4);
    EXPECT_GE(before["oldestSeconds"].get<double>(), 0.0);
    EXPECT_EQ(before["parked"], 0);
    EXPECT_TRUE(before["relays"].empty());
    ASSERT_EQ(before["partitions"].size(), 64U);
    std::int64_t sum = 0;
    for (const Json& one : before["partitions"]) sum += one["pending"].get<std::int64_t>();
    EXPECT_EQ(sum, 4);

    ScriptedSink sink;
    Process at_work = process(sink);
    at_work.relay->run_until_idle();
    const Json during = json("status");
    EXPECT_EQ(during["pending"], 0);
    EXPECT_TRUE(during["oldestSeconds"].is_null());
    ASSERT_EQ(during["relays"].size(), 1U);
    EXPECT_EQ(during["relays"][0]["alive"], true);
    EXPECT_EQ(during["relays"][0]["partitions"], 64);
    EXPECT_EQ(during["partitions"][0]["owner"], at_work.relay->id().text());
    EXPECT_GT(during["partitions"][0]["leaseSecondsLeft"].get<double>(), 0.0);
    at_work.relay->stop();
    EXPECT_THAT(outbox({}, "status").output, AllOf(HasSubstr("pending 0"), HasSubstr("no relay is at work")));
}

TEST_P(OutboxCommand, ListsAndShowsEvents) {
    append({7, 8});
    const Json listed = json("list", {"--limit", "1"});
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0]["aggregate"], "order/7");
    EXPECT_EQ(listed[0]["state"], "pending");
    const std::string id = listed[0]["id"];
    const Json shown = json("show", {id});
    EXPECT_EQ(shown["payload"], "{}");
    EXPECT_EQ(shown["tenant"], "shop");
    ScriptedSink sink;
    relay_all(sink);
    EXPECT_EQ(json("show", {id})["state"], "left");
    EXPECT_TRUE(json("list").empty());
    EXPECT_TRUE(json("show", {Uuid().text()}, 1).is_null());
    EXPECT_EQ(outbox({"nonsense"}, "show").exit.code, 3);
}

TEST_P(OutboxCommand, RedrivesWhatIsParkedAndSaysSoWhenNothingIs) {
    append({1, 1}, "parks");
    run(sqlite() ? "INSERT INTO semel_outbox_parked SELECT event_id, position, aggregate, partition, tenant, "
                   "aggregate_type, aggregate_id, 3, 'too large', 1, semel_now() FROM semel_outbox_event;"
                   "DELETE FROM semel_outbox_pending"
                 : "INSERT INTO semel.outbox_parked SELECT event_id, position, aggregate, partition, tenant, "
                   "aggregate_type, aggregate_id, 3, 'too large', true FROM semel.outbox_event;"
                   "DELETE FROM semel.outbox_pending");
    const Json parked = json("parked");
    ASSERT_EQ(parked.size(), 2U);
    EXPECT_EQ(parked[0]["reason"], "too large");
    EXPECT_EQ(parked[0]["aggregate"], "parks/1");
    EXPECT_EQ(json("show", {parked[0]["id"]})["state"], "parked");
    EXPECT_EQ(json("redrive", {"--aggregate", "parks/1"}, 1)["redriven"], 0) << "another tenant's";
    EXPECT_EQ(json("redrive", {"--aggregate", "parks/1", "--tenant", "shop"})["redriven"], 2);
    EXPECT_TRUE(json("parked").empty());
    EXPECT_EQ(pending(), 2);
    EXPECT_EQ(outbox({"--aggregate", "parks"}, "redrive").exit.code, 3);
}

TEST_P(OutboxCommand, ReplaysOnlyWhatMatchesAndHasLeft) {
    append({1, 1, 2});
    append({3}, "cart");
    ScriptedSink sink;
    relay_all(sink);
    append({1});
    EXPECT_EQ(json("replay", {"--aggregate", "order/1", "--dry-run"})["found"], 2) << "the third has still to leave";
    EXPECT_EQ(json("replay", {"--type", "unheard.of"}, 1)["found"], 0);
    EXPECT_EQ(json("replay", {"--until", "1h"}, 1)["found"], 0);
    EXPECT_EQ(json("replay", {"--since", "1h", "--dry-run", "--limit", "3"})["found"], 3);
    EXPECT_EQ(json("replay", {"--tenant", "elsewhere"}, 1)["found"], 0);
    EXPECT_EQ(pending(), 1) << "nothing was changed so far";
    EXPECT_TRUE(json("audit").empty());

    const Json replayed = json("replay", {"--aggregate", "order/1", "--by", "ann", "--rate", "100000"});
    EXPECT_EQ(replayed["replayed"], 2);
    EXPECT_TRUE(replayed["warning"].is_null());
    EXPECT_EQ(pending(), 3);
    EXPECT_EQ(json("replay", {"--aggregate", "order/1"}, 1)["found"], 0) << "all of them are about to leave";
    const Json audit = json("audit");
    ASSERT_EQ(audit.size(), 1U);
    EXPECT_EQ(audit[0]["action"], "replay");
    EXPECT_EQ(audit[0]["actor"], "ann");
    EXPECT_EQ(audit[0]["events"], 2);
    EXPECT_THAT(audit[0]["detail"].get<std::string>(), HasSubstr("order/1"));

    const std::size_t before = sink.taken().size();
    relay_all(sink);
    EXPECT_EQ(sink.taken().size(), before + 3);
    relaying::RelayTest::expect_order(sink);
}

TEST_P(OutboxCommand, ReplaysInBatchesNoFasterThanTheRateAndCountsThemAll) {
    append(std::vector<int>(30, 1));
    ScriptedSink sink;
    relay_all(sink);
    const Instant begun = now();
    EXPECT_EQ(json("replay", {"--rate", "10"})["replayed"], 30);
    EXPECT_GE(now() - begun, 1900ms) << "three batches of ten, a second apart";
    EXPECT_EQ(json("audit")[0]["events"], 30);
}

TEST_P(OutboxCommand, WarnsAboutEventsThatConsumersMayHaveForgotten) {
    append({1});
    ScriptedSink sink;
    relay_all(sink);
    make_old();
    const auto warned = outbox({"--dry-run"}, "replay");
    EXPECT_EQ(warned.exit.code, 0);
    EXPECT_THAT(warned.error_output, HasSubstr("dedup window of 7d"));
    EXPECT_EQ(outbox({"--dry-run", "--dedup-window", "41d"}, "replay").error_output, "");
}

TEST_P(OutboxCommand, PrunesWhatLeftLongAgoAndNothingElse) {
    append({1, 2, 3, 4, 5, 6, 7});
    ScriptedSink sink;
    relay_all(sink);
    append({8});
    append({9}, "parks");
    run(sqlite() ? "INSERT INTO semel_outbox_parked SELECT event_id, position, aggregate, partition, tenant, "
                   "aggregate_type, aggregate_id, 3, 'no', 1, semel_now() FROM semel_outbox_event "
                   "WHERE aggregate_type = 'parks';"
                   "DELETE FROM semel_outbox_pending WHERE event_id IN (SELECT event_id FROM semel_outbox_parked)"
                 : "INSERT INTO semel.outbox_parked SELECT event_id, position, aggregate, partition, tenant, "
                   "aggregate_type, aggregate_id, 3, 'no', true FROM semel.outbox_event WHERE aggregate_type = 'parks';"
                   "DELETE FROM semel.outbox_pending WHERE event_id IN (SELECT event_id FROM semel.outbox_parked)");
    make_old();
    append({10});
    relay_all(sink);
    // Event 8 has just left; one more that is old, and one that is young and has left.
    EXPECT_EQ(events(), 10);
    run(sqlite() ? "INSERT INTO semel_outbox_pending (position, aggregate, event_id, partition) SELECT position, "
                   "aggregate, event_id, partition FROM semel_outbox_event WHERE aggregate_id = '8'"
                 : "INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition) SELECT position, "
                   "aggregate, event_id, partition FROM semel.outbox_event WHERE aggregate_id = '8'");
    EXPECT_EQ(json("prune", {"--older-than", "50d"})["deleted"], 0);
    EXPECT_EQ(json("prune", {"--older-than", "30d", "--batch", "3"})["deleted"], 7);
    EXPECT_EQ(events(), 3) << "the pending, the parked and the young one";
    EXPECT_EQ(pending(), 1);
    EXPECT_EQ(parked(), 1);
    const Json audit = json("audit");
    ASSERT_EQ(audit.size(), 1U) << "where nothing was deleted there is nothing to say";
    EXPECT_EQ(audit[0]["action"], "prune");
    EXPECT_EQ(audit[0]["events"], 7);
    EXPECT_EQ(outbox({"--older-than", "soon"}, "prune").exit.code, 3);
    EXPECT_EQ(outbox({}, "prune").exit.code, 2);
}

TEST_P(OutboxCommand, NeverDeletesAnEventThatIsBeingReplayed) {
    std::vector<int> aggregates(2000);
    std::iota(aggregates.begin(), aggregates.end(), 0);
    append(aggregates);
    run(sqlite() ? "DELETE FROM semel_outbox_pending" : "DELETE FROM semel.outbox_pending");
    make_old();
    const auto replay = EventReplay::of(*database).value();
    const auto retention = OutboxRetention::of(*database).value();
    const OutboxAudit replays{.id = new_uuid(), .action = "replay", .actor = "test", .detail = ""};
    const OutboxAudit prunes{.id = new_uuid(), .action = "prune", .actor = "test", .detail = ""};
    const ReplayPlan plan = replay.find({.limit = aggregates.size()}, soon()).value();
    ASSERT_EQ(plan.events.size(), aggregates.size());
    std::atomic<std::int64_t> sent = 0;
    {
        // One by one, here and there, while all that is left is being looked for and deleted at once.
        std::vector<std::jthread> replayers;
        for (std::size_t first = 0; first < 2; ++first)
            replayers.emplace_back([&, first] {
                for (std::size_t i = 0; i < 200; ++i) {
                    const std::size_t at = (first + 2 * i * 97) % plan.events.size();
                    const auto one = replay.send(std::span(plan.events).subspan(at, 1), replays, soon());
                    ASSERT_TRUE(one.committed()) << one.error().describe();
                    sent += one.value();
                }
            });
        ASSERT_TRUE(eventually([&] { return sent > 20; }));
        const auto pruned = retention.prune(24h, Uuid(), plan.events.size(), prunes, soon());
        ASSERT_TRUE(pruned.committed()) << pruned.error().describe();
        EXPECT_GT(pruned.value().deleted, 0);
    }
    EXPECT_EQ(pending(), sent);
    EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_outbox_pending p "
                               "WHERE NOT EXISTS (SELECT 1 FROM semel_outbox_event e WHERE e.position = p.position)")
                       : count("SELECT count(*) FROM semel.outbox_pending p "
                               "WHERE NOT EXISTS (SELECT 1 FROM semel.outbox_event e WHERE e.event_id = p.event_id)"),
              0)
        << "each that is pending still has its event";
}

INSTANTIATE_TEST_SUITE_P(Every, OutboxCommand,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres),
                         relaying::target_name);

}  // namespace
}  // namespace semel::integration
