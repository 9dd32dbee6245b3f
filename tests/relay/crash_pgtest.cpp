// A relay is killed at every failpoint. Another takes over once the leases end: nothing is lost, and no more than one
// batch is sent twice.

#include "semel/testing/process.hpp"
#include "tests/relay/file_sink.hpp"
#include "tests/relay/fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace semel::relaying {
namespace {

using conformance::Target;

constexpr const char* child_address = "SEMEL_RELAY_TEST_ADDRESS";
constexpr const char* child_broker = "SEMEL_RELAY_TEST_BROKER";

constexpr std::size_t batch = 4;

RelayOptions crashing_options() {
    RelayOptions options;
    options.rules.batch = batch;
    return options;
}

/// The child: relays until it is killed at the failpoint that its environment names.
TEST(RelayCrash, DISABLED_IsTheChild) {
    FileSink sink(std::getenv(child_broker));
    auto opened = open(std::getenv(child_address)).value();
    LocalDoorbell bell;
    Relay::create(*opened.database, sink, bell, crashing_options()).value()->run_until_idle();
}

const std::vector<std::string> places{"relay.lease_taken",   "relay.after_read",    "relay.before_publish",
                                      "relay.after_publish", "relay.before_settle", "relay.after_settle"};

class RelayCrash : public RelayTest {
protected:
    void relay_in_child(const std::string& place, int visit, const std::filesystem::path& broker) {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=RelayCrash.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_,
                               std::string(child_broker) + "=" + broker.string(),
                               "SEMEL_FAILPOINTS=" + place + "=kill@" + std::to_string(visit)};
        const auto ended = testing::run(command, std::chrono::seconds(60));
        ASSERT_TRUE(ended) << ended.error().describe();
        EXPECT_EQ(ended->exit.signal, SIGKILL) << place << " was never reached: " << ended->output;
    }

    testing::TempDir broker_directory_ = testing::TempDir::make("relay-crash").value();
};

TEST_P(RelayCrash, AtAnyFailpointLosesNothingAndRepeatsOneBatchAtMost) {
    for (const std::string& place : places) {
        for (const int visit : {1, 2}) {
            if (place == "relay.lease_taken" && visit == 2) continue;  // It is taken once.
            const std::string where = place + " " + std::to_string(visit);
            const std::filesystem::path broker = broker_directory_.path() / where;
            for (int n = 0; n < 8; ++n) append({1, 2, n});
            relay_in_child(place, visit, broker);
            age();
            FileSink sink(broker);
            Process healthy = process(sink, crashing_options());
            healthy.relay->run_until_idle();
            EXPECT_EQ(pending(), 0) << where;
            std::set<std::int64_t> seen;
            std::map<std::string, std::int64_t> newest;
            std::size_t repeats = 0;
            for (const auto& [aggregate, position] : sink.lines()) {
                if (!seen.insert(position).second) {
                    ++repeats;
                    continue;
                }
                EXPECT_GT(position, newest[aggregate]) << where << ": out of order";
                newest[aggregate] = position;
            }
            EXPECT_EQ(seen.size(), 24U) << where << ": lost";
            EXPECT_LE(repeats, batch) << where;
            const bool between = place == "relay.after_publish" || place == "relay.before_settle";
            EXPECT_EQ(repeats > 0, between) << where;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayCrash, ::testing::Values(Target::sqlite, Target::postgres), target_name);

TEST(RelayCrashPlaces, AreAllThereAre) {
    std::set<std::string> found;
    constexpr std::string_view opening = "SEMEL_FAILPOINT(\"";
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SEMEL_SOURCE_DIR) / "semel/relay")) {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string source = text.str();
        for (auto at = source.find(opening); at != std::string::npos; at = source.find(opening, at + 1)) {
            const auto begin = at + opening.size();
            const std::string place = source.substr(begin, source.find('"', begin) - begin);
            EXPECT_TRUE(found.insert(place).second) << place << " stands in two places";
        }
    }
    EXPECT_EQ(found, std::set<std::string>(places.begin(), places.end()));
}

}  // namespace
}  // namespace semel::relaying
