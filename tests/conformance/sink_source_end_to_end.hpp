#pragma once

// Outbox, relay, a real broker, consumer, inbox: each effect happens once and in order, whoever dies. A program that includes it
// defines `make_broker` and `find_broker`, and instantiates:
//   INSTANTIATE_TEST_SUITE_P(Databases, BrokerEndToEnd, ::testing::Values(Target::sqlite, Target::postgres), target_name);

#include "semel/outbox/append.hpp"
#include "semel/relay/runner.hpp"
#include "semel/testing/process.hpp"
#include "tests/consuming/fixture.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace semel::conformance {

/// A broker with something of its own for one test.
class EndToEndBroker {
public:
    virtual ~EndToEndBroker() = default;
    /// By which another process finds it.
    [[nodiscard]] virtual std::string place() const = 0;
    [[nodiscard]] virtual std::unique_ptr<Sink> sink() = 0;
    [[nodiscard]] virtual std::unique_ptr<Source> source() = 0;
    /// Events of this type are refused for good.
    [[nodiscard]] virtual std::string refused_type() const = 0;
    /// Killed, and started again with what it has on disk.
    [[nodiscard]] virtual Status crash_and_restart() = 0;
};
/// An Error says why there is none.
[[nodiscard]] Result<std::unique_ptr<EndToEndBroker>> make_broker();
[[nodiscard]] std::unique_ptr<EndToEndBroker> find_broker(const std::string& place);

namespace end_to_end {

inline constexpr const char* child_address = "SEMEL_BROKER_TEST_ADDRESS";
inline constexpr const char* child_broker = "SEMEL_BROKER_TEST_BROKER";

inline RelayOptions relay_options() {
    RelayOptions options;
    options.rules.batch = 32;
    options.rules.lease = std::chrono::milliseconds(1500);
    options.rules.publish_limit = std::chrono::milliseconds(900);
    options.rules.poll = std::chrono::milliseconds(10);
    options.rules.backoff = {.base = std::chrono::milliseconds(1),
                             .cap = std::chrono::milliseconds(50),
                             .throttled_base = std::chrono::milliseconds(1)};
    options.rules.breaker.attempts_min = 100'000;
    options.rules.attempts_max = 1;
    options.rules.poison = Poison::park;
    return options;
}

inline ConsumerOptions consumer_options() {
    ConsumerOptions options = consuming::quick_options();
    // Whoever is killed in the middle of them has begun with innocent ones too.
    options.rules.attempts_max = 20;
    return options;
}

/// The payload is the event's number.
inline Status note_number(ConsumerWork& work) {
    work.tx.post("INSERT INTO effect (message, order_key) VALUES ($1, $2)", work.message.payload, work.message.key);
    return {};
}

[[noreturn]] inline void live_until_killed() {
    std::ignore = system_clock().sleep(system_clock().now() + std::chrono::minutes(5), {});
    std::abort();
}

}  // namespace end_to_end

TEST(BrokerEndToEndChild, DISABLED_Relay) {
    const auto broker = find_broker(std::getenv(end_to_end::child_broker));
    const auto sink = broker->sink();
    auto opened = open(std::getenv(end_to_end::child_address)).value();
    LocalDoorbell bell;
    const auto relay = Relay::create(*opened.database, *sink, bell, end_to_end::relay_options()).value();
    relay->start();
    end_to_end::live_until_killed();
}

TEST(BrokerEndToEndChild, DISABLED_Consumer) {
    const auto broker = find_broker(std::getenv(end_to_end::child_broker));
    const auto source = broker->source();
    auto opened = open(std::getenv(end_to_end::child_address)).value();
    const auto one =
        Consumer::create(*opened.database, *source, end_to_end::consumer_options(), end_to_end::note_number).value();
    one->start();
    end_to_end::live_until_killed();
}

class BrokerEndToEnd : public consuming::ConsumerTest {
protected:
    static constexpr int aggregates = 30;

    void SetUp() override {
        ConsumerTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        auto made = make_broker();
        if (!made) GTEST_SKIP() << made.error().describe();
        broker = *std::move(made);
    }

    /// One transaction with an event for each of these aggregates, the next numbers in their payloads.
    void append(const std::vector<int>& of, const std::string& type = "changed") {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (std::size_t n = 0; n < of.size(); ++n)
                outbox.append({.aggregate = {.type = "order", .id = std::to_string(of[n])},
                               .type = type,
                               .payload = std::to_string(appended + static_cast<int>(n) + 1)});
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
        appended += static_cast<int>(of.size());
    }
    void append_some(int transactions) {
        for (int n = 0; n < transactions; ++n) append({n % aggregates, n * 7 % aggregates});
    }
    [[nodiscard]] std::int64_t pending() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_pending")
                        : count("SELECT count(*) FROM semel.outbox_pending");
    }
    [[nodiscard]] std::size_t effects_so_far() {
        return static_cast<std::size_t>(count("SELECT count(*) FROM effect"));
    }
    /// Restarts take their time.
    [[nodiscard]] static bool finally(const std::function<bool()>& so) {
        const Instant limit = system_clock().now() + std::chrono::seconds(60);
        while (!so()) {
            if (system_clock().now() > limit) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return true;
    }
    void expect_once_and_in_order(std::size_t events) {
        EXPECT_TRUE(finally([&] { return effects_so_far() >= events; }))
            << effects_so_far() << " of " << events << " effects";
        expect_each_once(events);
        std::map<std::string, std::int64_t> newest;
        for (const auto& [number, key] : effects()) {
            EXPECT_GT(std::stoll(number), newest[key]) << "aggregate " << key << " out of order";
            newest[key] = std::stoll(number);
        }
    }
    [[nodiscard]] testing::Process spawn(const std::string& who, const std::string& failpoint = {}) const {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=BrokerEndToEndChild.DISABLED_" + who, "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(end_to_end::child_address) + "=" + address_,
                               std::string(end_to_end::child_broker) + "=" + broker->place()};
        if (!failpoint.empty()) command.environment.push_back("SEMEL_FAILPOINTS=" + failpoint);
        return testing::Process::spawn(command).value();
    }
    /// Runs one until its failpoint kills it.
    void run_to_death(const std::string& who, const std::string& failpoint) {
        testing::Process victim = spawn(who, failpoint);
        const auto exit = victim.wait(std::chrono::seconds(30));
        ASSERT_TRUE(exit) << failpoint << " was never reached";
        EXPECT_EQ(exit->signal, SIGKILL) << failpoint << ": " << exit->text() << victim.output();
    }
    [[nodiscard]] std::unique_ptr<Consumer> started_consumer(Source& from) {
        auto one = consumer(from, end_to_end::consumer_options(), end_to_end::note_number);
        one->start();
        return one;
    }

    std::unique_ptr<EndToEndBroker> broker;
    int appended = 0;
};

TEST_P(BrokerEndToEnd, ARelayThatDiesBeforeOrAfterPublishingCostsNothing) {
    const auto from = broker->source();
    const auto one = started_consumer(*from);
    const auto to = broker->sink();
    LocalDoorbell bell;
    for (const char* place : {"relay.before_publish", "relay.after_publish", "relay.before_settle"}) {
        append_some(10);
        run_to_death("Relay", std::string(place) + "=kill@1");
        EXPECT_GT(pending(), 0) << place;
        const auto relay = Relay::create(*database, *to, bell, end_to_end::relay_options()).value();
        relay->start();
        EXPECT_TRUE(finally([&] { return pending() == 0; })) << place;
        relay->stop();
    }
    expect_once_and_in_order(static_cast<std::size_t>(appended));
    one->stop();
}

TEST_P(BrokerEndToEnd, AConsumerThatDiesAfterItsCommitDoesNotActTwice) {
    append_some(10);
    const auto to = broker->sink();
    LocalDoorbell bell;
    const auto relay = Relay::create(*database, *to, bell, end_to_end::relay_options()).value();
    relay->start();
    for (const char* place : {"consumer.before_commit", "consumer.after_commit", "consumer.before_acknowledge"})
        run_to_death("Consumer", std::string(place) + "=kill@1");
    const auto from = broker->source();
    const auto one = started_consumer(*from);
    expect_once_and_in_order(static_cast<std::size_t>(appended));
    EXPECT_TRUE(finally([&] { return one->report().duplicates > 0; })) << "what was committed came again";
    one->stop();
    relay->stop();
    EXPECT_EQ(one->report().parked, 0U);
}

TEST_P(BrokerEndToEnd, WhatTheBrokerRefusesIsSetAsideAndTheRestGoesOn) {
    const auto to = broker->sink();
    const auto from = broker->source();
    LocalDoorbell bell;
    const auto relay = Relay::create(*database, *to, bell, end_to_end::relay_options()).value();
    const auto one = started_consumer(*from);
    append({1, 2, 3});
    append({2}, broker->refused_type());
    append({1, 2, 3});
    relay->start();
    EXPECT_TRUE(finally([&] { return pending() == 0; }));
    // Of aggregate 2 the refused one and the one behind it.
    EXPECT_TRUE(finally([&] { return effects_so_far() == 5; })) << effects_so_far();
    EXPECT_EQ(count(sqlite() ? Sql("SELECT count(*) FROM semel_outbox_parked")
                             : Sql("SELECT count(*) FROM semel.outbox_parked")),
              2);
    relay->stop();
    one->stop();
    expect_each_once(5);
}

TEST_P(BrokerEndToEnd, EachEffectHappensOnceAndInOrderWhileEverythingFails) {
    std::mutex database_is_there;
    std::atomic<bool> enough = false;
    std::vector<testing::Process> relays;
    for (int n = 0; n < 2; ++n) relays.push_back(spawn("Relay"));
    testing::Process consuming = spawn("Consumer");
    std::jthread writer([&] {
        SeededRandom random(1);
        while (!enough) {
            {
                const std::lock_guard guard(database_is_there);
                append({static_cast<int>(random.below(aggregates)), static_cast<int>(random.below(aggregates))});
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    });
    const auto for_a_while = [] { std::this_thread::sleep_for(std::chrono::milliseconds(700)); };
    for_a_while();
    // A relay sleeps past its lease; the other takes over, and it wakes in the middle of that.
    relays[0].signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    relays[0].signal(SIGCONT);
    relays[1].kill();
    relays[1] = spawn("Relay");
    for_a_while();
    consuming.kill();
    consuming = spawn("Consumer");
    for_a_while();
    const Status restarted = broker->crash_and_restart();
    EXPECT_TRUE(restarted) << restarted.error().describe();
    for_a_while();
    if (!sqlite()) {
        const std::lock_guard guard(database_is_there);
        testing::PostgresCluster& server = *testing::shared_postgres().value();
        EXPECT_TRUE(server.kill9());
        EXPECT_TRUE(server.start_again());
    }
    relays[0].kill();
    relays[0] = spawn("Relay");
    consuming.kill();
    consuming = spawn("Consumer");
    for_a_while();
    enough = true;
    writer.join();
    EXPECT_TRUE(finally([&] { return pending() == 0; }));
    expect_once_and_in_order(static_cast<std::size_t>(appended));
    for (testing::Process& one : relays) one.kill();
    consuming.kill();
    std::printf("%d events\n", appended);
}

}  // namespace semel::conformance
