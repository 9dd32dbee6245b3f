// Sixteen writers, five hundred aggregates, three relays of which one is killed every few seconds, a real broker and a
// consumer with its inbox: nothing is lost, every effect happens once and in order.
//
// A short one in the suite; 200,000 events each with SEMEL_SOAK=1.

#include "semel/base/log.hpp"
#include "semel/consumer/consumer.hpp"
#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/open/source.hpp"
#include "semel/outbox/append.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/process.hpp"
#include "tests/event_campaign/brokers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <latch>
#include <optional>
#include <thread>

namespace semel::campaign {
namespace {

using namespace std::chrono_literals;

constexpr int aggregates = 500;
constexpr int writers = 16;
constexpr int relays = 3;
constexpr std::int64_t batch = 256;
constexpr std::int64_t transaction_max = 4;  ///< Events that one transaction tells.

struct Scale {
    std::int64_t events;
    Duration between_kills;
    Duration limit;
    Duration tell_every;  ///< How far it is: who waits for long wants to know for whom.
};

Scale scale() {
    const bool soak = std::getenv("SEMEL_SOAK") != nullptr;
    return soak ? Scale{.events = 200'000, .between_kills = 3s, .limit = 30min, .tell_every = 15s}
                : Scale{.events = 6'000, .between_kills = 700ms, .limit = 4min, .tell_every = 1h};
}

double seconds_since(Instant begun) { return std::chrono::duration<double>(system_clock().now() - begun).count(); }

struct Case {
    const char* name;
    Result<std::unique_ptr<Broker>> (*start)();
    bool cdc;
};
std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

/// Counts what the broker itself delivers again.
class CountingSource final : public Source {
public:
    explicit CountingSource(Source& source) noexcept : source_(&source) {}
    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override {
        auto some = source_->receive(limit, deadline);
        if (some) redelivered_ += static_cast<std::uint64_t>(std::ranges::count(*some, true, &Delivery::redelivered));
        return some;
    }
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override { return source_->acknowledge(tags); }
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override { return source_->give_back(tags); }
    void pause() override { source_->pause(); }
    void resume() override { source_->resume(); }
    void wake() override { source_->wake(); }
    [[nodiscard]] std::uint64_t redelivered() const noexcept { return redelivered_; }

private:
    Source* source_;
    std::atomic<std::uint64_t> redelivered_ = 0;
};

class EventCampaign : public ::testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        set_log_sink({});
        auto started = GetParam().start();
        if (!started) GTEST_SKIP() << started.error().describe();
        broker_ = *std::move(started);
        const auto shared = testing::shared_postgres();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        postgres_ = *shared;
        const auto made = postgres_->fresh_database();
        ASSERT_TRUE(made) << made.error().describe();
        address_ = *made;
        const auto opened = open(address_);
        ASSERT_TRUE(opened) << opened.error().describe();
        ASSERT_TRUE(migrate(*opened->database, "semel", opened->schema, soon()));
        database_ = open_pool(writers);
        ASSERT_TRUE(database_);
        run("CREATE TABLE aggregate (id int PRIMARY KEY, version bigint NOT NULL)");
        run("CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text NOT NULL,"
            " order_key text NOT NULL, version bigint NOT NULL)");
        run("INSERT INTO aggregate SELECT n, 0 FROM generate_series(1, 500) AS n");
    }

    static Deadline soon() { return Deadline::after(system_clock().now(), 60s); }
    [[nodiscard]] std::unique_ptr<Database> open_pool(std::size_t size) const {
        DatabaseOptions options;
        options.pool.size = size;
        options.breaker.attempts_min = 100'000;
        options.budget.floor_per_second = 100'000;
        auto opened = open(address_, options);
        EXPECT_TRUE(opened) << opened.error().describe();
        return opened ? std::move(opened->database) : nullptr;
    }
    void run(Sql statement) {
        const auto done = transact(*database_, [&](Transaction& tx) -> Status {
            tx.post(statement);
            return {};
        });
        ASSERT_TRUE(done.committed()) << done.error().describe();
    }
    [[nodiscard]] std::int64_t count(Sql statement) { return count(*database_, statement); }
    [[nodiscard]] static std::int64_t count(Database& database, Sql statement) {
        const auto counted = transact(database, [&](Transaction& tx) -> Result<std::int64_t> {
            const Rows rows = SEMEL_TRY(tx.execute(statement));
            return rows.scalar<std::int64_t>();
        });
        EXPECT_TRUE(counted.committed()) << counted.error().describe();
        return counted.committed() ? counted.value() : -1;
    }

    /// One to four aggregates change in one transaction, each telling its new version.
    void write_some(const AppendStatements& statements, Random& random) {
        std::vector<std::int64_t> chosen;
        for (std::uint64_t i = 1 + random.below(transaction_max); i > 0; --i)
            chosen.push_back(static_cast<std::int64_t>(random.below(aggregates)) + 1);
        std::ranges::sort(chosen);
        chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
        const auto done = transact(*database_, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database_->clock(), database_->random());
            for (const std::int64_t id : chosen) {
                const Rows rows = SEMEL_TRY(
                    tx.execute("UPDATE aggregate SET version = version + 1 WHERE id = $1 RETURNING version", id));
                const auto version = SEMEL_TRY(rows.scalar<std::int64_t>());
                outbox.append({.aggregate = {.type = "thing", .id = std::to_string(id), .version = version},
                               .type = "thing.changed",
                               .payload = "{\"version\":" + std::to_string(version) + "}"});
            }
            outbox.post_to(tx);
            return {};
        });
        if (done.committed())
            appended_ += static_cast<std::int64_t>(chosen.size());
        else
            ADD_FAILURE() << done.error().describe();
    }
    void write_all() {
        const AppendStatements statements = AppendStatements::from(database_->catalogue()).value();
        std::vector<std::jthread> threads;
        for (int i = 0; i < writers; ++i)
            threads.emplace_back([&, i] {
                SeededRandom random(static_cast<std::uint64_t>(i) + 1);
                while (appended_ < scale().events && !HasFailure()) write_some(statements, random);
            });
    }

    /// None: the machine would not start it, and the test has failed. Called on threads, where an exception ends everything.
    [[nodiscard]] std::optional<testing::Process> start_relay() {
        // Half of a lease is what a publish may take, and an answer that comes too late is a repeat like a kill: one that
        // need not be short is not. Who streams is followed as soon as its connection ends.
        std::vector<std::string> argv{SEMEL_BINARY, "relay",
                                      "--db",       address_,
                                      "--to",       broker_->sink(),
                                      "--batch",    std::to_string(batch),
                                      "--lease",    GetParam().cdc ? "20s" : "3s"};
        // Slots are of the whole server, not of one database.
        if (GetParam().cdc) argv.insert(argv.end(), {"--cdc", "--slot", GetParam().name});
        auto started = testing::Process::spawn({.argv = argv});
        EXPECT_TRUE(started) << started.error().describe();
        return started ? std::optional(*std::move(started)) : std::nullopt;
    }
    /// Three at a time; every few seconds one is killed and another takes its place.
    void relay_until(const std::stop_token& stop) {
        std::vector<testing::Process> running;
        for (int i = 0; i < relays; ++i)
            if (auto started = start_relay()) running.push_back(*std::move(started));
        if (running.empty()) return;
        for (std::size_t next = 0; !stop.stop_requested(); ++next) {
            if (system_clock().sleep(system_clock().now() + scale().between_kills, stop) == Wake::stopped) break;
            testing::Process& victim = running[next % running.size()];
            if (victim.running()) ++kills_;
            victim.kill();
            if (auto started = start_relay()) victim = *std::move(started);
        }
        for (testing::Process& one : running) one.kill();
    }

    void tell_until(const std::stop_token& stop, Instant begun) {
        const auto own = open_pool(1);
        if (own == nullptr) return;
        while (system_clock().sleep(system_clock().now() + scale().tell_every, stop) != Wake::stopped) {
            const std::int64_t pending = count(*own, "SELECT count(*) FROM semel.outbox_pending");
            const std::int64_t effects = count(*own, "SELECT count(*) FROM effect");
            std::printf("%s: %.0f s, %lld written, %lld pending, %lld effects, %lld kills\n", GetParam().name,
                        seconds_since(begun), static_cast<long long>(appended_), static_cast<long long>(pending),
                        static_cast<long long>(effects), static_cast<long long>(kills_));
            std::fflush(stdout);
        }
    }

    /// A relay that dies, also one of those killed at the end, may have sent a batch and not written it down. From the log
    /// it is the transactions of a batch that are not confirmed: those before were, or nothing more would have been sent,
    /// and of the one that lies across two batches the beginning comes again too.
    [[nodiscard]] static std::uint64_t repeated_by_a_kill_max() {
        return static_cast<std::uint64_t>(GetParam().cdc ? batch + transaction_max - 1 : batch);
    }

    static Status note_effect(ConsumerWork& work) {
        work.tx.post("INSERT INTO effect (message, order_key, version) VALUES ($1, $2, ($3::json->>'version')::bigint)",
                     work.message.id, work.message.key, work.message.payload);
        return {};
    }

    testing::PostgresCluster* postgres_ = nullptr;
    std::unique_ptr<Broker> broker_;
    std::string address_;
    std::unique_ptr<Database> database_;
    std::atomic<std::int64_t> appended_ = 0;
    std::atomic<std::int64_t> kills_ = 0;
};

TEST_P(EventCampaign, LosesNothingRepeatsNoEffectAndKeepsOrder) {
    const Instant begun = system_clock().now();
    // The relay makes the stream, or the queue, if it is not there.
    auto first = start_relay();
    ASSERT_TRUE(first);
    std::unique_ptr<Source> source;
    const auto source_is_there = [&] {
        auto opened = open_source(broker_->source(), "billing");
        if (opened) source = *std::move(opened);
        return source != nullptr;
    };
    while (!source_is_there() && system_clock().now() - begun < 60s) std::this_thread::yield();
    ASSERT_TRUE(source);
    first->signal(SIGTERM);
    static_cast<void>(first->wait(30s));

    const auto consumer_database = open_pool(6);
    ASSERT_TRUE(consumer_database);
    ConsumerOptions how;
    how.name = "billing";
    CountingSource counted(*source);
    const auto consumer = Consumer::create(*consumer_database, counted, how, note_effect).value();
    consumer->start();
    {
        std::jthread killer([this](const std::stop_token& stop) { relay_until(stop); });
        std::jthread teller([this, begun](const std::stop_token& stop) { tell_until(stop, begun); });
        write_all();
        while (!HasFailure() && count("SELECT count(*) FROM effect") < appended_ &&
               system_clock().now() - begun < scale().limit)
            static_cast<void>(system_clock().sleep(system_clock().now() + 200ms, {}));
    }
    consumer->stop();
    const ConsumerReport report = consumer->report();
    const std::uint64_t duplicates_max = repeated_by_a_kill_max() * static_cast<std::uint64_t>(kills_ + relays);
    std::printf(
        "%s: %lld events, %lld kills, %llu duplicates held by the inbox (at most %llu; the broker delivered %llu "
        "again), "
        "%.0f s\n",
        GetParam().name, static_cast<long long>(appended_), static_cast<long long>(kills_),
        static_cast<unsigned long long>(report.duplicates), static_cast<unsigned long long>(duplicates_max),
        static_cast<unsigned long long>(counted.redelivered()), seconds_since(begun));

    EXPECT_EQ(count("SELECT count(*) FROM semel.outbox_event"), appended_);
    EXPECT_EQ(count("SELECT count(*) FROM effect"), appended_) << "one effect for each event";
    EXPECT_EQ(count("SELECT count(DISTINCT message) FROM effect"), appended_);
    EXPECT_EQ(count("SELECT count(*) FROM (SELECT version, lag(version, 1, 0::bigint) OVER (PARTITION BY order_key "
                    "ORDER BY n) AS before FROM effect) AS o WHERE version <> before + 1"),
              0)
        << "every aggregate in its order, without a gap";
    EXPECT_EQ(report.parked, 0U);
    EXPECT_LE(report.duplicates, duplicates_max);
}

INSTANTIATE_TEST_SUITE_P(Brokers, EventCampaign,
                         ::testing::Values(Case{"nats_polling", start_nats, false}, Case{"nats_cdc", start_nats, true},
                                           Case{"rabbitmq_polling", start_rabbitmq, false},
                                           Case{"rabbitmq_cdc", start_rabbitmq, true},
                                           Case{"kafka_polling", start_kafka, false},
                                           Case{"kafka_cdc", start_kafka, true}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace semel::campaign
