// Writers, outbox, relay, Kafka, consumer: what was committed at one end has its effect once at the other, in order, whoever
// is killed, sleeps or refuses in between.

#include "semel/base/random.hpp"
#include "semel/testing/process.hpp"
#include "tests/kafka/pipeline.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <tuple>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

constexpr const char* child_address = "SEMEL_KAFKA_ADDRESS";
constexpr const char* child_brokers = "SEMEL_KAFKA_BROKERS";
constexpr const char* child_topic = "SEMEL_KAFKA_TOPIC";

constexpr const char* killer = "\"killer\"";

Status note_or_die(ConsumerWork& work) {
    SEMEL_TRY(note_number(work));
    if (work.message.payload != killer) return {};
    SEMEL_TRY(work.tx.flush());
    std::raise(SIGKILL);
    return {};
}

[[noreturn]] void live_until_killed() {
    std::ignore = system_clock().sleep(system_clock().now() + 5min, {});
    std::abort();
}

TEST(KafkaEndToEndChild, DISABLED_Relay) {
    const auto sink = sink_to(std::getenv(child_brokers), std::getenv(child_topic));
    const auto opened = semel::open(std::getenv(child_address)).value();
    LocalDoorbell bell;
    const auto relay = Relay::create(*opened.database, *sink, bell, relay_options()).value();
    relay->start();
    live_until_killed();
}

TEST(KafkaEndToEndChild, DISABLED_Consumer) {
    const auto source = source_of(std::getenv(child_brokers), std::getenv(child_topic));
    const auto opened = semel::open(std::getenv(child_address)).value();
    const auto one = Consumer::create(*opened.database, *source, consuming::quick_options(), note_or_die).value();
    one->start();
    live_until_killed();
}

class KafkaEndToEnd : public consuming::ConsumerTest {
protected:
    static constexpr int aggregates = 12;

    void SetUp() override {
        const auto shared = RealCluster::shared();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        real = *shared;
        ConsumerTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = real->fresh_topic(3, "max.message.bytes=100000").value();
    }

    /// One event after the other, each in a transaction of its own, numbered as they are committed.
    void append(int count) {
        for (int n = 0; n < count; ++n) append_one(std::to_string(random.below(aggregates)), std::to_string(written++));
    }
    void append_one(const std::string& aggregate, const std::string& payload) {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            outbox.append({.aggregate = {.type = "order", .id = aggregate}, .type = "changed", .payload = payload});
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    [[nodiscard]] std::int64_t pending() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_pending")
                        : count("SELECT count(*) FROM semel.outbox_pending");
    }
    [[nodiscard]] std::size_t effect_rows() { return static_cast<std::size_t>(count("SELECT count(*) FROM effect")); }
    [[nodiscard]] bool all_arrived() { return pending() == 0 && effect_rows() >= static_cast<std::size_t>(written); }
    void expect_once_and_in_order() {
        expect_each_once(static_cast<std::size_t>(written));
        std::map<std::string, int> newest;
        for (const auto& [number, key] : effects()) {
            EXPECT_GT(std::stoi(number) + 1, newest[key]) << "aggregate " << key << " out of order";
            newest[key] = std::stoi(number) + 1;
        }
    }

    [[nodiscard]] testing::Process spawn(const std::string& who, const std::string& failpoints = {}) const {
        return spawn_at(real->direct(), who, failpoints);
    }
    [[nodiscard]] testing::Process spawn_at(const std::string& brokers, const std::string& who,
                                            const std::string& failpoints = {}) const {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=KafkaEndToEndChild.DISABLED_" + who, "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_, std::string(child_brokers) + "=" + brokers,
                               std::string(child_topic) + "=" + topic, "SEMEL_FAILPOINTS=" + failpoints};
        return testing::Process::spawn(command).value();
    }
    /// A relay and a consumer in this process, while it lives.
    struct Healthy {
        std::unique_ptr<KafkaSink> sink;
        std::unique_ptr<KafkaSource> source;
        LocalDoorbell bell;
        std::unique_ptr<Relay> relay;
        std::unique_ptr<Consumer> consumer;
    };
    [[nodiscard]] std::unique_ptr<Healthy> healthy(const RelayOptions& options = relay_options()) {
        auto made = std::make_unique<Healthy>();
        made->sink = sink_to(real->direct(), topic);
        made->source = source_of(real->direct(), topic);
        made->relay = Relay::create(*database, *made->sink, made->bell, options).value();
        made->consumer = consumer(*made->source, consuming::quick_options(), note_number);
        made->relay->start();
        made->consumer->start();
        return made;
    }

    RealCluster* real = nullptr;
    std::string topic;
    SeededRandom random{3};
    int written = 0;
};

TEST_P(KafkaEndToEnd, EachEffectHappensOnceWhenRelayOrConsumerIsKilledBetweenAnyTwoSteps) {
    for (const std::string place : {"relay.before_publish", "relay.after_publish", "relay.before_settle"}) {
        append(6);
        testing::Process relay = spawn("Relay", place + "=kill");
        const auto exit = relay.wait(20s);
        ASSERT_TRUE(exit) << place << " was never reached";
        EXPECT_EQ(exit->signal, SIGKILL) << place;
    }
    testing::Process relay = spawn("Relay");
    ASSERT_TRUE(conformance::eventually([&] { return pending() == 0; }));
    relay.kill();
    std::uint64_t killed = 0;
    for (const std::string place :
         {"consumer.received", "consumer.before_commit", "consumer.after_commit", "consumer.before_acknowledge"}) {
        testing::Process one = spawn("Consumer", place + "=kill");
        const auto exit = one.wait(20s);
        ASSERT_TRUE(exit) << place << " was never reached";
        EXPECT_EQ(exit->signal, SIGKILL) << place;
        ++killed;
    }
    EXPECT_EQ(killed, 4U);
    const auto rest = healthy();
    EXPECT_TRUE(conformance::eventually([&] { return all_arrived(); }));
    rest->consumer->stop();
    expect_once_and_in_order();
    EXPECT_GT(rest->consumer->report().duplicates, 0U) << "nothing was delivered twice, so nothing was proved";
}

TEST_P(KafkaEndToEnd, EachEffectHappensOnceThroughKillsARelayThatSleepsPastItsLeaseAndARestartOfTheBroker) {
    std::vector<testing::Process> relays;
    std::vector<testing::Process> consumers;
    for (int n = 0; n < 2; ++n) {
        relays.push_back(spawn("Relay"));
        consumers.push_back(spawn("Consumer"));
    }
    std::atomic<bool> enough = false;
    std::jthread writer([&] {
        while (!enough) {
            append(1);
            std::this_thread::sleep_for(10ms);
        }
    });
    std::this_thread::sleep_for(1500ms);
    relays[0].signal(SIGSTOP);  // Past its lease, perhaps with a batch in its hands.
    consumers[0].kill();
    std::this_thread::sleep_for(2s);
    consumers[0] = spawn("Consumer");
    relays[0].signal(SIGCONT);
    std::this_thread::sleep_for(500ms);
    const Status restarted = real->crash_and_restart();
    EXPECT_TRUE(restarted) << restarted.error().describe();
    relays[1].kill();
    consumers[1].kill();
    std::this_thread::sleep_for(1s);
    enough = true;
    writer.join();
    relays[1] = spawn("Relay");
    EXPECT_TRUE(conformance::eventually([&] { return all_arrived(); }))
        << pending() << " pending, " << effect_rows() << " of " << written;
    expect_once_and_in_order();
    for (testing::Process& one : relays) one.kill();
    for (testing::Process& one : consumers) one.kill();
    const auto there = read_topic(real->direct(), topic);
    ASSERT_TRUE(there) << there.error().describe();
    std::printf("%d events, %zu in the topic\n", written, there->size());
}

TEST_P(KafkaEndToEnd, EachEffectHappensOnceWhenARelaySleepsPastItsLeaseWithABatchUnderWay) {
    testing::Process sleeper = spawn_at(real->brokers(), "Relay");
    append(5);
    ASSERT_TRUE(conformance::eventually([&] { return pending() == 0; }));
    real->be_mute(true);
    append(20);
    // The batch has left, and no answer comes.
    std::this_thread::sleep_for(300ms);
    sleeper.signal(SIGSTOP);
    real->be_mute(false);
    testing::Process other = spawn("Relay");
    ASSERT_TRUE(conformance::eventually([&] { return pending() == 0; })) << "nobody took over";
    append(20);
    ASSERT_TRUE(conformance::eventually([&] { return pending() == 0; }));
    sleeper.signal(SIGCONT);
    append(20);
    const auto rest = healthy();
    EXPECT_TRUE(conformance::eventually([&] { return all_arrived(); })) << effect_rows() << " of " << written;
    rest->consumer->stop();
    rest->relay->stop();
    sleeper.kill();
    other.kill();
    expect_once_and_in_order();
    const auto there = read_topic(real->direct(), topic);
    ASSERT_TRUE(there) << there.error().describe();
    EXPECT_GT(there->size(), static_cast<std::size_t>(written)) << "nothing was sent twice, so nothing was proved";
}

TEST_P(KafkaEndToEnd, AnEventThatTheBrokerRefusesIsParkedWithThoseBehindItAndOthersGoOn) {
    append(10);
    append_one("refused", '"' + std::string(200'000, 'x') + '"');
    append_one("refused", "\"behind it\"");
    append(10);
    RelayOptions options = relay_options();
    options.rules.poison = Poison::park;
    const auto rest = healthy(options);
    EXPECT_TRUE(conformance::eventually([&] { return rest->relay->report().parked == 2 && all_arrived(); }))
        << rest->relay->report().parked << " parked, " << effect_rows() << " of " << written;
    rest->consumer->stop();
    rest->relay->stop();
    expect_once_and_in_order();
}

TEST_P(KafkaEndToEnd, EachEffectHappensOnceWhenPartitionsAreHandedOutAnewInTheMiddleOfABatch) {
    const auto slow = [](ConsumerWork& work) -> Status {
        std::this_thread::sleep_for(3ms);
        return note_number(work);
    };
    append(300);
    const auto sink = sink_to(real->direct(), topic);
    LocalDoorbell bell;
    const auto relay = Relay::create(*database, *sink, bell, relay_options()).value();
    relay->start();
    std::vector<std::unique_ptr<KafkaSource>> sources;
    std::vector<std::unique_ptr<Consumer>> consumers;
    for (std::size_t n = 0; n < 3; ++n) {
        sources.push_back(source_of(real->direct(), topic));
        consumers.push_back(consumer(*sources.back(), consuming::quick_options(), slow));
        consumers.back()->start();
        ASSERT_TRUE(conformance::eventually([&] { return effect_rows() > n * 60 + 20; }));
    }
    // And one leaves, with what it holds.
    consumers.front()->stop();
    consumers.erase(consumers.begin());
    sources.erase(sources.begin());
    EXPECT_TRUE(conformance::eventually([&] { return all_arrived(); })) << effect_rows() << " of " << written;
    std::uint64_t received = 0;
    std::uint64_t duplicates = 0;
    for (const auto& one : consumers) {
        one->stop();
        received += one->report().received;
        duplicates += one->report().duplicates;
    }
    relay->stop();
    expect_once_and_in_order();
    std::printf("%d events; those who stayed received %llu, %llu of them again\n", written,
                static_cast<unsigned long long>(received), static_cast<unsigned long long>(duplicates));
}

INSTANTIATE_TEST_SUITE_P(Databases, KafkaEndToEnd, ::testing::Values(Target::sqlite, Target::postgres),
                         conformance::target_name);

class KafkaKiller : public KafkaEndToEnd {};

TEST_P(KafkaKiller, AMessageThatKillsItsConsumerIsParkedAndItsNeighboursAreNot) {
    append(10);
    append_one("deadly", killer);
    append_one("deadly", "1000");
    append(10);
    testing::Process relay = spawn("Relay");
    ASSERT_TRUE(conformance::eventually([&] { return pending() == 0; }));
    relay.kill();
    int kills = 0;
    const auto done = [&] { return effect_rows() == static_cast<std::size_t>(written) + 1; };
    while (!done() && kills < 10) {
        testing::Process one = spawn("Consumer");
        const Instant limit = system_clock().now() + 20s;
        while (!done() && one.running() && system_clock().now() < limit) std::this_thread::sleep_for(20ms);
        if (!one.running()) ++kills;
        one.kill();
    }
    EXPECT_TRUE(done()) << effect_rows() << " of " << written + 1;
    const auto parked = consumer(source)->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_EQ(parked[0].message.payload, killer);
    // It counts from the first time on: the first messages of a partition may have been begun by someone.
    EXPECT_EQ(kills, consuming::quick_options().rules.attempts_max);
}

INSTANTIATE_TEST_SUITE_P(Databases, KafkaKiller, ::testing::Values(Target::sqlite), conformance::target_name);

}  // namespace
}  // namespace semel::kafka
