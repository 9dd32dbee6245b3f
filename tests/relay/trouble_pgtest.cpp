// The database fails, restarts, or has a standby that is away: nothing is lost, nothing leaves too early.

#include "semel/testing/faulty_database.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "tests/relay/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::relaying {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using testing::FaultPlan;
using testing::StepFailure;

class RelayTrouble : public RelayTest {
protected:
    /// A relay whose database fails as planned.
    [[nodiscard]] Process faulty_process(Sink& sink, FaultPlan& plan) {
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        how.breaker.attempts_min = 100'000;
        how.budget.floor_per_second = 100'000;
        how.retry = Policy::once();
        Process made{.database = Database::create(testing::faulty(driver_.connect, plan), how).value(),
                     .relay = nullptr};
        made.relay = Relay::create(*made.database, sink, bell, options()).value();
        return made;
    }
    /// Works until the outbox is empty, waiting as the relay would.
    void work_off(Process& one) {
        EXPECT_TRUE(eventually([&] {
            one.relay->run_until_idle();
            return pending() == 0;
        }));
    }
};

TEST_P(RelayTrouble, EveryStepOfTheDatabaseMayFailBeforeOrAfterItWasDone) {
    FaultPlan plan;
    const auto round = [&](ScriptedSink& sink) {
        append({1, 2, 1});
        append({2, 3});
        Process one = faulty_process(sink, plan);
        work_off(one);
    };
    std::uint64_t steps = 0;
    {
        ScriptedSink sink;
        round(sink);
        steps = plan.steps();
        ASSERT_EQ(sink.taken().size(), 5U);
    }
    ASSERT_GT(steps, 10U);
    std::size_t repeats = 0;
    for (std::uint64_t n = 1; n <= steps; ++n) {
        for (const auto when : {StepFailure::When::before, StepFailure::When::after}) {
            SCOPED_TRACE("step " + std::to_string(n) + (when == StepFailure::When::before ? " before" : " after"));
            plan.restart();
            plan.fail_step(n, {.when = when});
            age();
            ScriptedSink sink;
            round(sink);
            EXPECT_EQ(sink.first_taken().size(), 5U);
            EXPECT_EQ(parked(), 0);
            expect_order(sink);
            repeats += sink.taken().size() - 5;
            if (HasFailure()) return;
        }
    }
    std::printf("%llu steps, each failed twice; %zu events sent more than once\n",
                static_cast<unsigned long long>(steps), repeats);
    EXPECT_EQ(repeats, 0U) << "a relay that lives on knows what has left";
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayTrouble, ::testing::Values(Target::sqlite, Target::postgres), target_name);

/// A server of its own, which is maltreated.
class RelayServer : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = testing::PostgresCluster::start();
        ASSERT_TRUE(started) << started.error().describe();
        server.emplace(*std::move(started));
        url = server->fresh_database().value();
        database = open_it();
        const auto made = driver(url).value();
        ASSERT_TRUE(migrate(*database, "semel", made.schema, in(30s)));
    }
    [[nodiscard]] std::unique_ptr<Database> open_it() const {
        DatabaseOptions how;
        how.breaker.attempts_min = 100'000;
        how.budget.floor_per_second = 100'000;
        return std::move(open(url, how).value().database);
    }
    static Deadline in(Duration limit) { return Deadline::after(system_clock().now(), limit); }
    [[nodiscard]] bool tell(int aggregate, Sql before = "SELECT 1") const {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        TransactOptions how;
        how.deadline = in(20s);
        const auto outcome = transact(*database, how, [&](Transaction& tx) -> Status {
            tx.post(before);
            Outbox outbox(statements, "shop", database->clock(), database->random());
            outbox.append(
                {.aggregate = {.type = "order", .id = std::to_string(aggregate)}, .type = "changed", .payload = "{}"});
            outbox.post_to(tx);
            return {};
        });
        return outcome.committed();
    }
    [[nodiscard]] static RelayOptions options() {
        RelayOptions options;
        options.rules.batch = 8;
        options.rules.lease = 3s;
        options.rules.publish_limit = 1s;
        options.rules.poll = 20ms;
        options.rules.backoff.base = 5ms;
        options.rules.backoff.throttled_base = 5ms;
        options.rules.backoff.cap = 100ms;
        return options;
    }
    static bool eventually(const std::function<bool()>& so, Duration limit = 30s) {
        const Instant end = system_clock().now() + limit;
        while (!so()) {
            if (system_clock().now() > end) return false;
            std::this_thread::sleep_for(5ms);
        }
        return true;
    }
    [[nodiscard]] std::string ask(const std::string& sql) const {
        return server->scalar(sql, url.substr(url.rfind('/') + 1)).value_or("no answer");
    }

    std::optional<testing::PostgresCluster> server;
    std::string url;
    std::unique_ptr<Database> database;
};

TEST_F(RelayServer, MayBeRestartedInTheMiddle) {
    ScriptedSink sink;
    LocalDoorbell bell;
    const auto own = open_it();
    const auto relay = Relay::create(*own, sink, bell, options()).value();
    relay->start();
    std::atomic<int> committed = 0;
    std::atomic<bool> enough = false;
    std::jthread writer([&] {
        for (int n = 0; !enough; ++n)
            if (tell(n % 7)) ++committed;
    });
    for (int n = 0; n < 3; ++n) {
        const std::size_t before = sink.first_taken().size();
        ASSERT_TRUE(eventually([&] { return sink.first_taken().size() > before + 20; }));
        ASSERT_TRUE(n == 1 ? server->kill9() : server->stop());
        ASSERT_TRUE(server->start_again());
    }
    enough = true;
    writer.join();
    EXPECT_TRUE(eventually([&] { return ask("SELECT count(*) FROM semel.outbox_pending") == "0"; }));
    relay->stop();
    const std::string events = ask("SELECT count(*) FROM semel.outbox_event");
    EXPECT_EQ(std::to_string(sink.first_taken().size()), events);
    EXPECT_GE(std::stoi(events), committed.load());
    std::map<std::string, std::int64_t> newest;
    for (const Message& one : sink.first_taken()) {
        EXPECT_GT(one.position, newest[one.aggregate.id]);
        newest[one.aggregate.id] = one.position;
    }
    std::printf("%s events over 3 restarts, %zu sent more than once\n", events.c_str(),
                sink.taken().size() - sink.first_taken().size());
}

TEST_F(RelayServer, PublishesNothingThatAStandbyDoesNotHave) {
    ScriptedSink sink;
    LocalDoorbell bell;
    const auto own = open_it();
    RelayOptions how = options();
    how.rules.lease = 30s;
    how.rules.publish_limit = 5s;
    how.database_limit = 1s;
    const auto relay = Relay::create(*own, sink, bell, how).value();
    relay->run_until_idle();
    ASSERT_EQ(relay->report().partitions, 64U);
    // From now on every COMMIT waits for a standby that is away, except one that is told not to.
    ASSERT_TRUE(server->sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'"));
    ASSERT_TRUE(server->sql("SELECT pg_reload_conf()"));
    ASSERT_TRUE(eventually([&] { return ask("SHOW synchronous_standby_names") == "nobody"; }));
    ASSERT_TRUE(tell(1, "SELECT set_config('synchronous_commit', 'local', true)"));
    ASSERT_EQ(ask("SELECT count(*) FROM semel.outbox_pending"), "1") << "everyone can see it";
    bell.ring();
    for (int n = 0; n < 3; ++n) std::ignore = relay->step();
    EXPECT_EQ(sink.publishes(), 0U) << "a promotion would lose what was published";

    ASSERT_TRUE(server->sql("ALTER SYSTEM RESET synchronous_standby_names"));
    ASSERT_TRUE(server->sql("SELECT pg_reload_conf()"));
    EXPECT_TRUE(eventually([&] {
        relay->run_until_idle();
        return sink.taken().size() == 1;
    }));
}

}  // namespace
}  // namespace semel::relaying
