// Read, transform and write in one transaction: whoever dies, doubts or comes back from the dead, each message has its
// effect once in the output.

#include "semel/kafka/transactions.hpp"

#include "semel/kafka/sink.hpp"
#include "semel/testing/process.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

constexpr const char* child_brokers = "SEMEL_KAFKA_TRANSACTIONS_BROKERS";
constexpr const char* child_input = "SEMEL_KAFKA_TRANSACTIONS_INPUT";

/// Two records for each message.
KafkaTransform doubled(const std::string& output) {
    return [output](const ReceivedMessage& message) -> Result<std::vector<Record>> {
        return std::vector<Record>{{.topic = output, .key = message.key, .value = message.payload + " first"},
                                   {.topic = output, .key = message.key, .value = message.payload + " second"}};
    };
}

KafkaTransactionsOptions moving_options(const std::string& brokers, const std::string& input) {
    KafkaTransactionsOptions options;
    options.connection.brokers = brokers;
    options.topics = {input};
    options.group = "movers-of-" + input;
    options.id = "mover-of-" + input;
    options.patience = 1s;
    options.deadline = 5s;
    options.batch = 10;
    return options;
}

/// The child: moves until it is killed, or nothing is left.
TEST(KafkaTransactionsChild, DISABLED_Moves) {
    const std::string input = std::getenv(child_input);
    const auto moving =
        KafkaTransactions::open(moving_options(std::getenv(child_brokers), input), doubled(input + "-out")).value();
    for (std::size_t moved = 0; moved < 30;)
        moved += moving->step(Deadline::after(system_clock().now(), 5s)).value_or(0);
}

const std::vector<std::string> kafka_places{"kafka.transaction_written", "kafka.before_transaction_commit",
                                            "kafka.after_transaction_commit"};

class KafkaTransactionsTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = RealCluster::shared();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        real = *shared;
        fresh_topics();
    }
    void fresh_topics() {
        input = real->fresh_topic(2).value();
        output = input + "-out";
    }
    void send(int count) {
        KafkaSinkOptions options;
        options.connection.brokers = real->direct();
        options.topic = input;
        const auto sink = KafkaSink::open(options).value();
        std::vector<Message> batch;
        for (int n = 0; n < count; ++n) {
            Message one;
            one.id = new_uuid();
            one.aggregate = {.type = "order", .id = std::to_string(n % 5)};
            one.type = "changed";
            one.payload = std::to_string(sent++);
            one.headers = "{}";
            batch.push_back(std::move(one));
        }
        for (const Status& answer : sink->publish(batch, Deadline::never()))
            ASSERT_TRUE(answer) << answer.error().describe();
    }
    [[nodiscard]] std::unique_ptr<KafkaTransactions> open(KafkaTransform transform = {}) {
        return open_with(moving_options(real->direct(), input), std::move(transform));
    }
    [[nodiscard]] std::unique_ptr<KafkaTransactions> open_with(const KafkaTransactionsOptions& options,
                                                               KafkaTransform transform = {}) {
        return KafkaTransactions::open(options, transform ? std::move(transform) : doubled(output)).value();
    }
    /// Each message of the input once, both records of it one behind the other, those of a key in order.
    void expect_moved_once() {
        const auto all = read_topic(real->direct(), output);
        ASSERT_TRUE(all) << all.error().describe();
        std::map<std::string, int> times;
        std::map<std::string, int> newest;
        for (const Stored& one : *all) {
            ++times[one.value];
            if (!one.value.ends_with("first")) continue;
            const int number = std::stoi(one.value) + 1;
            EXPECT_GT(number, newest[one.key]) << "out of order";
            newest[one.key] = number;
        }
        EXPECT_EQ(times.size(), static_cast<std::size_t>(sent) * 2) << "some are lost";
        for (const auto& [value, count] : times) EXPECT_EQ(count, 1) << value;
    }
    /// Steps until as many messages have been moved in all.
    static void move(KafkaTransactions& moving, std::size_t count) {
        const Instant limit = system_clock().now() + 30s;
        std::size_t moved = 0;
        while (moved < count && system_clock().now() < limit) {
            const auto step = moving.step(Deadline::after(system_clock().now(), 1s));
            if (step)
                moved += *step;
            else
                EXPECT_NE(step.error().fault, Fault::broken) << step.error().describe();
        }
        EXPECT_EQ(moved, count) << "not within 30 seconds";
    }

    RealCluster* real = nullptr;
    std::string input;
    std::string output;
    int sent = 0;
};

TEST_F(KafkaTransactionsTest, MoveEachMessageOnceAlsoAfterARestart) {
    send(25);
    auto moving = open();
    move(*moving, 25);
    EXPECT_EQ(moving->step(Deadline::after(system_clock().now(), 200ms)).value_or(99), 0U);
    moving.reset();
    send(10);
    moving = open();
    move(*moving, 10);
    expect_moved_once();
}

TEST_F(KafkaTransactionsTest, ShowNothingOfABatchThatFails) {
    send(10);
    int calls = 0;
    const auto moving = open([&](const ReceivedMessage& message) -> Result<std::vector<Record>> {
        if (++calls == 4) return fail(Fault::rejected, "not this one");
        return doubled(output)(message);
    });
    Result<std::size_t> step = 0U;
    while (step && calls < 4) step = moving->step(Deadline::after(system_clock().now(), 5s));
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().message, "not this one");
    move(*moving, 10);
    EXPECT_GT(calls, 10) << "it was run again";
    expect_moved_once();
}

TEST_F(KafkaTransactionsTest, ShutOutAZombieInTheMiddleOfItsTransaction) {
    send(10);
    KafkaTransactionsOptions options = moving_options(real->direct(), input);
    options.patience = 20s;  // It is its id that shuts it out, not its silence.
    const auto successor = open_with(options);
    bool taken_over = false;
    const auto zombie = open_with(options, [&](const ReceivedMessage& message) -> Result<std::vector<Record>> {
        // While it thinks, another process takes its id; it gets no partitions yet.
        if (!std::exchange(taken_over, true)) {
            EXPECT_EQ(successor->step(Deadline::after(system_clock().now(), 100ms)).value_or(99), 0U);
        }
        return doubled(output)(message);
    });
    Result<std::size_t> step = 0U;
    while (step && !taken_over) step = zombie->step(Deadline::after(system_clock().now(), 5s));
    ASSERT_FALSE(step) << "it committed although it was shut out";
    EXPECT_EQ(step.error().fault, Fault::conflict) << step.error().describe();
    move(*successor, 10);
    expect_moved_once();
}

TEST_F(KafkaTransactionsTest, ShutOutAProcessThatTheGroupWentOnWithout) {
    send(10);
    KafkaTransactionsOptions options = moving_options(real->direct(), input);
    options.id += "-successor";
    const auto successor = open_with(options);
    // Another id, so that nothing but the group tells the two apart.
    options = moving_options(real->brokers(), input);
    options.deadline = 60s;
    bool cut_off = false;
    const auto zombie = open_with(options, [&](const ReceivedMessage& message) -> Result<std::vector<Record>> {
        // While it thinks it hears nothing, and its partitions go to another; then it hears that it is no member any more.
        if (!std::exchange(cut_off, true)) {
            real->be_away(true);
            move(*successor, 10);
            real->be_away(false);
            std::this_thread::sleep_for(3s);
        }
        return doubled(output)(message);
    });
    Result<std::size_t> step = 0U;
    while (step && !cut_off) step = zombie->step(Deadline::after(system_clock().now(), 5s));
    EXPECT_FALSE(step) << "it committed what another had moved";
    if (!step) {
        EXPECT_EQ(step.error().fault, Fault::conflict) << step.error().describe();
    }
    step = zombie->step(Deadline::after(system_clock().now(), 500ms));
    for (int again = 0; again < 20 && !step; ++again) step = zombie->step(Deadline::after(system_clock().now(), 500ms));
    EXPECT_EQ(step.value_or(99), 0U) << "nothing is left for it";
    expect_moved_once();
}

TEST_F(KafkaTransactionsTest, OfAProcessKilledAnywhereAreSettledByTheNext) {
    for (const std::string& place : kafka_places) {
        fresh_topics();
        sent = 0;
        send(30);
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=KafkaTransactionsChild.DISABLED_Moves", "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_brokers) + "=" + real->direct(),
                               std::string(child_input) + "=" + input, "SEMEL_FAILPOINTS=" + place + "=kill@2"};
        const auto ended = testing::run(command, 60s);
        ASSERT_TRUE(ended) << ended.error().describe();
        EXPECT_EQ(ended->exit.signal, SIGKILL) << place << " was never reached: " << ended->output;
        const auto moving = open();
        const auto all_there = [&] {
            const auto all = read_topic(real->direct(), output);
            return all && all->size() >= static_cast<std::size_t>(sent) * 2;
        };
        const Instant limit = system_clock().now() + 30s;
        // It ends what the killed one left open, for which readers would have to wait.
        do std::ignore = moving->step(Deadline::after(system_clock().now(), 500ms));
        while (!all_there() && system_clock().now() < limit);
        expect_moved_once();
    }
}

TEST(KafkaTransactionsPlaces, AreAllThereAre) {
    std::set<std::string> found;
    constexpr std::string_view opening = "SEMEL_FAILPOINT(\"";
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SEMEL_SOURCE_DIR) / "semel/kafka")) {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string code = text.str();
        for (auto at = code.find(opening); at != std::string::npos; at = code.find(opening, at + 1)) {
            const auto begin = at + opening.size();
            EXPECT_TRUE(found.insert(code.substr(begin, code.find('"', begin) - begin)).second);
        }
    }
    EXPECT_EQ(found, std::set<std::string>(kafka_places.begin(), kafka_places.end()));
}

}  // namespace
}  // namespace semel::kafka
