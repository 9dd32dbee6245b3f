// A CDC relay is killed at every failpoint, and again and again under load. Another takes over: nothing is lost, the order
// of each aggregate is kept, and what is sent twice is bounded by what was not confirmed.

#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/cdc/fixture.hpp"
#include "tests/relay/file_sink.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

using relaying::FileSink;
using semel::testing::Process;

constexpr const char* child_address = "SEMEL_CDC_TEST_ADDRESS";
constexpr const char* child_broker = "SEMEL_CDC_TEST_BROKER";
constexpr std::size_t batch = 16;
constexpr std::size_t told_together = 3;

/// A broker that outlives whoever is killed, and refuses one aggregate as long as it is told to.
class PickySink final : public Sink {
public:
    PickySink(const std::filesystem::path& broker, bool picky) : sink_(broker), picky_(picky) {}
    std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override {
        std::vector<Status> answers;
        for (const Message& one : messages) {
            if (picky_ && one.aggregate.id == "1")
                answers.emplace_back(fail(Fault::rejected, "refused"));
            else
                answers.push_back(sink_.publish({&one, 1}, deadline).front());
        }
        return answers;
    }

private:
    FileSink sink_;
    bool picky_;
};

RelayOptions crashing_options() {
    RelayOptions options = CdcShop::options();
    options.rules.batch = batch;
    options.rules.lease = 1500ms;
    options.rules.publish_limit = 900ms;
    options.rules.attempts_max = 1000;
    return options;
}

/// The child: relays until it is killed.
TEST(CdcChild, DISABLED_IsTheChild) {
    const std::string url = std::getenv(child_address);
    PickySink sink(std::getenv(child_broker), std::getenv("SEMEL_CDC_TEST_PICKY") != nullptr);
    auto opened = open(url).value();
    const RelayOptions how = crashing_options();
    auto feed = CdcFeed::create(*opened.database,
                                {.link = {.connection = url}, .lease = how.rules.lease, .poll = how.rules.poll});
    const auto relay = Relay::create(*opened.database, sink, *std::move(feed), how).value();
    relay->start();
    std::ignore = system_clock().sleep(system_clock().now() + 5min, {});
}

Process spawn_child(const CdcShop& shop, const std::filesystem::path& broker, std::vector<std::string> more) {
    semel::testing::Command command;
    command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                    "--gtest_filter=CdcChild.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                    "--gtest_brief=1"};
    command.environment = {std::string(child_address) + "=" + shop.url,
                           std::string(child_broker) + "=" + broker.string()};
    for (std::string& one : more) command.environment.push_back(std::move(one));
    return Process::spawn(command).value();
}

struct Arrivals {
    std::size_t events = 0;
    std::size_t repeats = 0;
};
Arrivals arrivals_in(const std::filesystem::path& broker, const std::string& where) {
    std::set<std::int64_t> seen;
    std::map<std::string, std::int64_t> newest;
    Arrivals arrivals;
    for (const auto& [aggregate, position] : FileSink(broker).lines()) {
        if (!seen.insert(position).second) {
            ++arrivals.repeats;
            continue;
        }
        EXPECT_GT(position, newest[aggregate]) << where << ": aggregate " << aggregate << " out of order";
        newest[aggregate] = position;
    }
    arrivals.events = seen.size();
    return arrivals;
}

/// Only where a slot is lost: BetweenTheLossOfASlotAndTheEndOfItsBackfillLosesNothing.
const std::vector<std::string> other_places{"cdc.lost"};
const std::vector<std::string> places{"cdc.slot_made",     "cdc.begun",       "cdc.started",   "cdc.owned",
                                      "cdc.turned",        "cdc.diverted",    "cdc.set_aside", "cdc.before_confirm",
                                      "cdc.after_confirm", "cdc.turned_back", "cdc.ended"};

class CdcCrash : public CdcTest {
protected:
    void crash_at(const std::string& place, int visit) {
        const std::string where = place + " " + std::to_string(visit);
        const std::filesystem::path broker = directory.path() / where;
        shop.emplace(*server);
        const bool picky = place == "cdc.diverted" || place == "cdc.set_aside";
        // What is refused must come through the log, or its aggregate waits from the beginning.
        for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({picky ? 3 : 1, 2, n + 4}));
        shop->switch_in();
        std::vector<std::string> more{"SEMEL_FAILPOINTS=" + place + "=kill@" + std::to_string(visit)};
        if (picky) more.emplace_back("SEMEL_CDC_TEST_PICKY=1");
        Process child = spawn_child(*shop, broker, std::move(more));
        const bool back = place == "cdc.turned_back" || place == "cdc.ended";
        bool switched = false;
        const Instant limit = system_clock().now() + 40s;
        for (int n = 0; child.running() && system_clock().now() < limit; ++n) {
            const bool streamed = !picky || shop->ask("SELECT last_value FROM semel.outbox_mode") == "1";
            ASSERT_TRUE(shop->tell({streamed ? 1 : 3, 2, n % 9 + 2}));
            if (back && !switched && n > 20 && shop->ask("SELECT last_value FROM semel.outbox_mode") == "1") {
                ASSERT_TRUE(switch_to_polling(*shop->database, in(10s)));
                switched = true;
            }
            std::this_thread::sleep_for(3ms);
        }
        const auto exit = child.wait(1s);
        ASSERT_TRUE(exit && exit->signal == SIGKILL) << where << " was never reached";
        PickySink sink(broker, false);
        LocalDoorbell bell;
        CdcProcess healthy = shop->process(sink, crashing_options());
        healthy.relay->start();
        const auto polling = Relay::create(*shop->database, sink, bell, crashing_options()).value();
        polling->start();
        for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({1, 2, n}));
        const auto written = static_cast<std::size_t>(shop->events());
        EXPECT_TRUE(eventually([&] { return arrivals_in(broker, where).events == written; }))
            << where << ": " << arrivals_in(broker, where).events << " of " << written;
        if (back) {
            EXPECT_TRUE(eventually([&] {
                return shop->ask("SELECT mode FROM semel.outbox_feed") == "polling" &&
                       shop->ask("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()") ==
                           "0";
            })) << where;
        }
        healthy.relay->stop();
        polling->stop();
        const Arrivals arrivals = arrivals_in(broker, where);
        EXPECT_LE(arrivals.repeats, batch + 64 + told_together)
            << where << ": one batch, to the end of its transaction";
        if (place == "cdc.before_confirm") {
            EXPECT_GT(arrivals.repeats, 0U) << where << ": it had not said so yet";
        }
        std::printf("%-22s %zu events, %zu sent more than once\n", where.c_str(), arrivals.events, arrivals.repeats);
    }
    semel::testing::TempDir directory = semel::testing::TempDir::make("cdc-crash").value();
};

TEST_F(CdcCrash, AtAnyFailpointLosesNothingAndRepeatsOneBatchAtMost) {
    for (const std::string& place : places) {
        crash_at(place, 1);
        if (HasFailure()) return;
    }
    for (const std::string place : {"cdc.owned", "cdc.diverted", "cdc.before_confirm", "cdc.after_confirm",
                                    "relay.after_publish", "relay.before_settle"}) {
        crash_at(place, 3);
        if (HasFailure()) return;
    }
}

TEST_F(CdcCrash, BetweenTheLossOfASlotAndTheEndOfItsBackfillLosesNothing) {
    for (const std::string place : {"cdc.lost", "cdc.slot_made", "cdc.begun", "cdc.started", "cdc.owned"}) {
        const std::filesystem::path broker = directory.path() / ("lost " + place);
        shop.emplace(*server);
        shop->switch_in();
        PickySink sink(broker, false);
        {
            CdcProcess one = shop->process(sink, crashing_options());
            one.relay->start();
            ASSERT_TRUE(shop->streams());
            ASSERT_TRUE(shop->tell({1, 2}));
            ASSERT_TRUE(eventually([&] { return arrivals_in(broker, place).events == 2; }));
        }
        ASSERT_TRUE(eventually([&] {
            std::ignore = shop->ask("SELECT pg_drop_replication_slot($1)", {shop->slot});
            return shop->ask("SELECT count(*) FROM pg_replication_slots WHERE slot_name = $1", {shop->slot}) == "0";
        }));
        for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({1, n}));
        Process child = spawn_child(*shop, broker, {"SEMEL_FAILPOINTS=" + place + "=kill"});
        const auto exit = child.wait(40s);
        ASSERT_TRUE(exit && exit->signal == SIGKILL) << place << " was never reached";
        for (int n = 0; n < 10; ++n) ASSERT_TRUE(shop->tell({1, n}));
        CdcProcess healthy = shop->process(sink, crashing_options());
        healthy.relay->start();
        EXPECT_TRUE(eventually([&] { return arrivals_in(broker, place).events == 42; }))
            << place << ": " << arrivals_in(broker, place).events;
        EXPECT_EQ(shop->ask("SELECT slots_lost FROM semel.outbox_feed"), "1") << place;
        healthy.relay->stop();
        if (HasFailure()) return;
    }
}

TEST_F(CdcCrash, KilledAgainAndAgainUnderLoadLosesNothing) {
    const std::filesystem::path broker = directory.path() / "taken";
    shop->switch_in();
    std::vector<Process> relays;
    for (int n = 0; n < 2; ++n) relays.push_back(spawn_child(*shop, broker, {}));
    ASSERT_TRUE(shop->streams());
    std::atomic<bool> enough = false;
    std::size_t kills = 0;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 3; ++writer)
            writers.emplace_back([&, writer] {
                SeededRandom random(static_cast<std::uint64_t>(writer) + 1);
                while (!enough) {
                    EXPECT_TRUE(shop->tell({static_cast<int>(random.below(50)), static_cast<int>(random.below(50))}));
                    std::this_thread::sleep_for(2ms);
                }
            });
        for (; kills < 8; ++kills) {
            std::this_thread::sleep_for(1200ms);
            // Mostly the one that streams: whoever stood by has taken over from the last one that was killed.
            Process& victim = relays[kills % relays.size()];
            victim.kill();
            victim = spawn_child(*shop, broker, {});
        }
        enough = true;
    }
    const auto written = static_cast<std::size_t>(shop->events());
    EXPECT_TRUE(eventually([&] { return arrivals_in(broker, "kill").events == written; }))
        << arrivals_in(broker, "kill").events << " of " << written;
    for (Process& one : relays) one.kill();
    const Arrivals arrivals = arrivals_in(broker, "kill");
    EXPECT_LE(arrivals.repeats, (batch + 64 + 2) * kills);
    std::printf("%zu events, %zu kills, %zu sent more than once\n", arrivals.events, kills, arrivals.repeats);
}

TEST(CdcCrashPlaces, AreAllThereAre) {
    std::set<std::string> found;
    constexpr std::string_view opening = "SEMEL_FAILPOINT(\"";
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SEMEL_SOURCE_DIR) / "semel/cdc")) {
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string source = text.str();
        for (auto at = source.find(opening); at != std::string::npos; at = source.find(opening, at + 1)) {
            const auto begin = at + opening.size();
            const std::string place = source.substr(begin, source.find('"', begin) - begin);
            EXPECT_TRUE(found.insert(place).second) << place << " stands in two places";
        }
    }
    std::set<std::string> tried(places.begin(), places.end());
    tried.insert(other_places.begin(), other_places.end());
    EXPECT_EQ(found, tried);
}

}  // namespace
}  // namespace semel::cdc
