// Writers, outbox, relay, broker, consumer: what was committed at one end has its effect once at the other, in order.

#include "semel/outbox/append.hpp"
#include "semel/relay/runner.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/scripted_sink.hpp"
#include "tests/consuming/file_broker.hpp"
#include "tests/consuming/fixture.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <tuple>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using testing::ScriptedSink;

constexpr const char* child_address = "SEMEL_END_TO_END_ADDRESS";
constexpr const char* child_broker = "SEMEL_END_TO_END_BROKER";

RelayOptions relay_options() {
    RelayOptions options;
    options.rules.batch = 32;
    options.rules.lease = 1500ms;
    options.rules.publish_limit = 900ms;
    options.rules.poll = 10ms;
    options.rules.backoff = {.base = 1ms, .cap = 20ms, .throttled_base = 1ms};
    return options;
}

/// The row says which event it was by its position.
Status note_position(ConsumerWork& work) {
    work.tx.post("INSERT INTO effect (message, order_key) VALUES ($1, $2)", work.message.payload, work.message.key);
    return {};
}

[[noreturn]] void live_until_killed() {
    std::ignore = system_clock().sleep(system_clock().now() + 5min, {});
    std::abort();
}

TEST(EndToEnd, DISABLED_IsTheRelay) {
    FileBroker broker(std::getenv(child_broker));
    auto opened = open(std::getenv(child_address)).value();
    LocalDoorbell bell;
    const auto relay = Relay::create(*opened.database, broker, bell, relay_options()).value();
    relay->start();
    live_until_killed();
}

TEST(EndToEnd, DISABLED_IsTheConsumer) {
    FileBroker broker(std::getenv(child_broker));
    auto opened = open(std::getenv(child_address)).value();
    const auto one = Consumer::create(*opened.database, broker, quick_options(), note_position).value();
    one->start();
    live_until_killed();
}

/// Passes on to a source what a scripted sink has taken.
class FeedingSink final : public Sink {
public:
    FeedingSink(ScriptedSink& sink, ScriptedSource& source) : sink_(&sink), source_(&source) {}
    std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override {
        std::vector<Status> answers = sink_->publish(messages, deadline);
        const std::vector<Message> taken = sink_->taken();
        for (; fed_ < taken.size(); ++fed_) {
            ReceivedMessage received = received_from(taken[fed_], "orders");
            received.payload = std::to_string(taken[fed_].position);
            source_->send(std::move(received));
        }
        return answers;
    }

private:
    ScriptedSink* sink_;
    ScriptedSource* source_;
    std::size_t fed_ = 0;
};

class EndToEnd : public ConsumerTest {
protected:
    static constexpr int aggregates = 30;

    void append(const std::vector<int>& numbers) {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (const int one : numbers)
                outbox.append(
                    {.aggregate = {.type = "order", .id = std::to_string(one)}, .type = "changed", .payload = "{}"});
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    [[nodiscard]] std::int64_t pending() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_pending")
                        : count("SELECT count(*) FROM semel.outbox_pending");
    }
    void expect_once_and_in_order(std::size_t events) {
        expect_each_once(events);
        std::map<std::string, std::int64_t> newest;
        for (const auto& [position, key] : effects()) {
            EXPECT_GT(std::stoll(position), newest[key]) << "aggregate " << key << " out of order";
            newest[key] = std::stoll(position);
        }
    }
    [[nodiscard]] testing::Process spawn(const std::string& who, const std::filesystem::path& broker) const {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=EndToEnd.DISABLED_IsThe" + who, "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_,
                               std::string(child_broker) + "=" + broker.string()};
        return testing::Process::spawn(command).value();
    }
};

TEST_P(EndToEnd, EachEffectHappensOnceUnderEveryMischiefOfTheBroker) {
    SeededRandom moods(7);  // The relay's thread draws from them.
    ScriptedSink sink([&](const Message&) {
        using enum ScriptedSink::Answer;
        constexpr std::array answers{take, take, take, duplicate, lose_answer, lose, away, throttle};
        return answers[moods.below(answers.size())];
    });
    SeededRandom random(8);
    source.play({.duplicate = 10, .lose_acknowledgement = 10, .refuse_acknowledgement = 5, .shuffle = true});
    FeedingSink feeding(sink, source);
    LocalDoorbell bell;
    RelayOptions how = relay_options();
    how.rules.breaker.attempts_min = 100'000;
    const auto relay = Relay::create(*database, feeding, bell, how).value();
    const auto one = consumer(source, quick_options(), note_position);
    relay->start();
    one->start();
    constexpr int transactions = 150;
    for (int n = 0; n < transactions; ++n)
        append({static_cast<int>(random.below(aggregates)), static_cast<int>(random.below(aggregates))});
    EXPECT_TRUE(eventually([&] { return pending() == 0 && source.waiting() == 0; }));
    relay->stop();
    source.play({});
    EXPECT_TRUE(eventually([&] {
        source.disconnect();
        std::this_thread::sleep_for(20ms);
        return source.empty();
    }));
    one->stop();
    expect_once_and_in_order(transactions * 2);
    std::printf("%d events, %zu taken by the broker, %llu delivered\n", transactions * 2, sink.taken().size(),
                static_cast<unsigned long long>(source.delivered()));
}

TEST_P(EndToEnd, EachEffectHappensOnceWhoeverIsKilled) {
    const testing::TempDir directory = testing::TempDir::make("end-to-end").value();
    const std::filesystem::path path = directory.path() / "broker";
    std::atomic<bool> enough = false;
    std::atomic<int> written = 0;
    std::vector<testing::Process> relays;
    for (int n = 0; n < 2; ++n) relays.push_back(spawn("Relay", path));
    testing::Process consuming = spawn("Consumer", path);
    std::size_t kills = 0;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 2; ++writer)
            writers.emplace_back([&, writer] {
                SeededRandom random(static_cast<std::uint64_t>(writer) + 1);
                while (!enough) {
                    append({static_cast<int>(random.below(aggregates)), static_cast<int>(random.below(aggregates))});
                    written += 2;
                    std::this_thread::sleep_for(4ms);
                }
            });
        for (; kills < 8; ++kills) {
            std::this_thread::sleep_for(500ms);
            testing::Process& victim = kills % 2 == 0 ? consuming : relays[kills / 2 % 2];
            victim.kill();
            victim = spawn(kills % 2 == 0 ? "Consumer" : "Relay", path);
        }
        enough = true;
    }
    const FileBroker broker(path);
    EXPECT_TRUE(eventually([&] { return pending() == 0; }));
    EXPECT_TRUE(eventually([&] { return broker.done(); }));
    for (testing::Process& one : relays) one.kill();
    consuming.kill();
    expect_once_and_in_order(static_cast<std::size_t>(written.load()));
    EXPECT_EQ(attempt_rows(), 0);
    std::printf("%d events, %zu kills, %zu lines sent, %zu deliveries\n", written.load(), kills,
                broker.lines_in("messages"), broker.lines_in("delivered"));
}

INSTANTIATE_TEST_SUITE_P(Databases, EndToEnd, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::consuming
