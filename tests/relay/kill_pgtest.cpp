// Three relays at a time, one of them killed again and again, while others write: nothing is lost, the order of each
// aggregate is kept, and what is sent twice is bounded by one batch for each kill.

#include "semel/testing/process.hpp"
#include "tests/relay/file_sink.hpp"
#include "tests/relay/fixture.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace semel::relaying {
namespace {

using namespace std::chrono_literals;
using conformance::Target;

constexpr const char* child_address = "SEMEL_RELAY_KILL_ADDRESS";
constexpr const char* child_broker = "SEMEL_RELAY_KILL_BROKER";
constexpr std::size_t batch = 32;

/// The child: relays until it is killed.
TEST(RelayKill, DISABLED_IsTheChild) {
    FileSink sink(std::getenv(child_broker));
    auto opened = open(std::getenv(child_address)).value();
    LocalDoorbell bell;
    RelayOptions options;
    options.rules.batch = batch;
    options.rules.lease = 1500ms;
    options.rules.publish_limit = 900ms;
    options.rules.poll = 10ms;
    const auto relay = Relay::create(*opened.database, sink, bell, options).value();
    relay->start();
    std::ignore = system_clock().sleep(system_clock().now() + 5min, {});
}

class RelayKill : public RelayTest {
protected:
    [[nodiscard]] testing::Process spawn(const std::filesystem::path& broker) const {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=RelayKill.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_,
                               std::string(child_broker) + "=" + broker.string()};
        return testing::Process::spawn(command).value();
    }
};

TEST_P(RelayKill, LosesNothingAndKeepsTheOrderWhoeverDies) {
    const testing::TempDir directory = testing::TempDir::make("relay-kill").value();
    const std::filesystem::path broker = directory.path() / "taken";
    constexpr int aggregates = 50;
    std::atomic<bool> enough = false;
    std::atomic<int> written = 0;
    std::vector<testing::Process> relays;
    for (int n = 0; n < 3; ++n) relays.push_back(spawn(broker));
    std::size_t kills = 0;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 4; ++writer)
            writers.emplace_back([&, writer] {
                SeededRandom random(static_cast<std::uint64_t>(writer) + 1);
                while (!enough) {
                    append({static_cast<int>(random.below(aggregates)), static_cast<int>(random.below(aggregates))});
                    written += 2;
                    std::this_thread::sleep_for(2ms);
                }
            });
        for (; kills < 8; ++kills) {
            std::this_thread::sleep_for(700ms);
            testing::Process& victim = relays[kills % relays.size()];
            victim.kill();
            victim = spawn(broker);
        }
        enough = true;
    }
    EXPECT_TRUE(eventually([&] { return pending() == 0; }));
    for (testing::Process& one : relays) one.kill();
    std::set<std::int64_t> seen;
    std::map<std::string, std::int64_t> newest;
    std::size_t repeats = 0;
    for (const auto& [aggregate, position] : FileSink(broker).lines()) {
        if (!seen.insert(position).second) {
            ++repeats;
            continue;
        }
        EXPECT_GT(position, newest[aggregate]) << "aggregate " << aggregate << " out of order";
        newest[aggregate] = position;
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(written.load())) << "each event, and no other";
    EXPECT_LE(repeats, batch * kills);
    std::printf("%d events of %d aggregates, %zu kills, %zu sent more than once\n", written.load(), aggregates, kills,
                repeats);
}

INSTANTIATE_TEST_SUITE_P(Databases, RelayKill, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
