// A consumer is killed at every failpoint, or by a message: each other message has its effect once.

#include "semel/testing/process.hpp"
#include "tests/consuming/crash_steps.hpp"
#include "tests/consuming/file_broker.hpp"
#include "tests/consuming/fixture.hpp"

#include <csignal>
#include <cstdlib>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

constexpr const char* child_address = "SEMEL_CONSUMER_TEST_ADDRESS";
constexpr const char* child_broker = "SEMEL_CONSUMER_TEST_BROKER";
constexpr const char* child_threads = "SEMEL_CONSUMER_TEST_THREADS";

Status kill_or_note(ConsumerWork& work) {
    SEMEL_TRY(note_effect(work));
    if (work.message.id != "killer") return {};
    SEMEL_TRY(work.tx.flush());
    std::raise(SIGKILL);
    return {};
}

/// Two at a time, so that each failpoint is visited more than once.
ConsumerOptions crashing_options() {
    ConsumerOptions options = quick_options();
    options.rules.workers = 1;
    options.rules.held_max = 2;
    return options;
}

/// The child: consumes until it is killed, or there is nothing left.
TEST(ConsumerCrash, DISABLED_IsTheChild) {
    FileBroker broker(std::getenv(child_broker));
    auto opened = open(std::getenv(child_address)).value();
    if (std::getenv(child_threads) == nullptr) {
        Consumer::create(*opened.database, broker, crashing_options(), kill_or_note).value()->run_until_idle();
        return;
    }
    const auto one = Consumer::create(*opened.database, broker, quick_options(), kill_or_note).value();
    one->start();
    while (!broker.done()) std::this_thread::sleep_for(5ms);
    one->stop();
}

const std::vector<std::string> places{"consumer.received", "consumer.before_commit", "consumer.after_commit",
                                      "consumer.before_acknowledge"};

class ConsumerCrash : public ConsumerTest {
protected:
    [[nodiscard]] testing::Finished consume_in_child(const std::filesystem::path& broker,
                                                     const std::vector<std::string>& environment) {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=ConsumerCrash.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_,
                               std::string(child_broker) + "=" + broker.string()};
        command.environment.insert(command.environment.end(), environment.begin(), environment.end());
        const auto ended = testing::run(command, 60s);
        EXPECT_TRUE(ended) << ended.error().describe();
        return ended ? *ended : testing::Finished{};
    }

    testing::TempDir broker_directory_ = testing::TempDir::make("consumer-crash").value();
};

TEST_P(ConsumerCrash, AtAnyFailpointEachMessageHasItsEffectOnce) {
    std::size_t sent = 0;
    for (const std::string& place : places) {
        for (const int visit : {1, 2}) {
            const std::string where = place + "-" + std::to_string(visit);
            const std::filesystem::path path = broker_directory_.path() / where;
            FileBroker outside(path);
            for (int n = 0; n < 6; ++n, ++sent)
                outside.send(message(where + "-" + std::to_string(n), where + (n % 2 == 0 ? "a" : "b")));
            const auto ended = consume_in_child(path, {"SEMEL_FAILPOINTS=" + place + "=kill@" + std::to_string(visit)});
            EXPECT_EQ(ended.exit.signal, SIGKILL) << place << " was never reached: " << ended.output;
            FileBroker broker(path);
            const auto healthy = consumer(broker, crashing_options());
            EXPECT_TRUE(eventually([&] {
                healthy->run_until_idle();
                return broker.done();
            })) << where;
            const bool after = place == "consumer.after_commit" || place == "consumer.before_acknowledge";
            EXPECT_EQ(healthy->report().duplicates, after ? 1U : 0U) << where;
            EXPECT_EQ(healthy->report().parked, 0U) << where;
        }
    }
    expect_each_once(sent);
    std::map<std::string, std::string> newest;
    for (const auto& [id, key] : effects()) {
        EXPECT_GT(id, newest[key]) << "out of order";
        newest[key] = id;
    }
    EXPECT_EQ(attempt_rows(), 0);
}

TEST_P(ConsumerCrash, AMessageThatKillsItsConsumerIsParkedAndItsNeighboursAreNot) {
    const std::filesystem::path path = broker_directory_.path() / "poison";
    FileBroker outside(path);
    for (int n = 0; n < 10; ++n) outside.send(message("before-" + std::to_string(n)));
    outside.send(message("killer", "k"));
    outside.send(message("behind the killer", "k"));
    for (int n = 0; n < 10; ++n) outside.send(message("after-" + std::to_string(n)));
    int kills = 0;
    testing::Finished ended;
    do {
        ended = consume_in_child(path, {std::string(child_threads) + "=4"});
        kills += ended.exit.signal == SIGKILL ? 1 : 0;
    } while (ended.exit.signal == SIGKILL && kills < 20);
    EXPECT_TRUE(ended.exit.success()) << ended.exit.text() << ended.output;
    // The first delivery is not counted; then three are.
    EXPECT_EQ(kills, quick_options().rules.attempts_max + 1);
    expect_each_once(21);
    ScriptedSource none;
    const auto parked = consumer(none)->parked().list(10, soon()).value();
    ASSERT_EQ(parked.size(), 1U);
    EXPECT_EQ(parked[0].message.id, "killer");
    EXPECT_EQ(parked[0].attempts, 3);
    EXPECT_NE(parked[0].reason.find("begun 3 times"), std::string::npos) << parked[0].reason;
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerCrash, ::testing::Values(Target::sqlite, Target::postgres), target_name);

TEST(ConsumerCrashPlaces, AreAllThereAre) {
    std::set<std::string> found;
    constexpr std::string_view opening = "SEMEL_FAILPOINT(\"";
    for (const char* folder : {"semel/consumer", "semel/inbox", "semel/source"}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(SEMEL_SOURCE_DIR) / folder)) {
            std::stringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            const std::string code = text.str();
            for (auto at = code.find(opening); at != std::string::npos; at = code.find(opening, at + 1)) {
                const auto begin = at + opening.size();
                const std::string place = code.substr(begin, code.find('"', begin) - begin);
                EXPECT_TRUE(found.insert(place).second) << place << " stands in two places";
            }
        }
    }
    std::set<std::string> killed_at(places.begin(), places.end());
    for (const CrashStep& step : crash_steps) killed_at.insert(step.place);
    killed_at.insert(retention_places.begin(), retention_places.end());
    EXPECT_EQ(found, killed_at);
}

}  // namespace
}  // namespace semel::consuming
