// One relay streams, others stand by; servers are restarted.

#include "tests/cdc/fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

class CdcTakeover : public CdcTest {};

TEST_F(CdcTakeover, ASecondRelayStandsByAndTakesOverWhenTheFirstLeaves) {
    shop->switch_in();
    ScriptedSink sink;
    CdcProcess first = shop->process(sink);
    CdcProcess second = shop->process(sink);
    first.relay->start();
    ASSERT_TRUE(shop->streams());
    second.relay->start();
    for (int n = 0; n < 50; ++n) ASSERT_TRUE(shop->tell({n % 7}));
    shop->expect_all(sink);
    EXPECT_TRUE(first.feed->report().streaming);
    EXPECT_FALSE(second.feed->report().streaming);
    EXPECT_EQ(second.feed->report().received, 0U);
    EXPECT_EQ(second.relay->report().partitions, 0U);
    first.relay->stop();
    const Instant begun = system_clock().now();
    for (int n = 0; n < 50; ++n) ASSERT_TRUE(shop->tell({n % 7}));
    shop->expect_all(sink);
    EXPECT_LT(system_clock().now() - begun, 10s);
    EXPECT_TRUE(second.feed->report().streaming);
    EXPECT_EQ(CdcShop::repeats(sink), 0U) << "who leaves has confirmed what it settled";
}

TEST_F(CdcTakeover, WhoLosesItsConnectionTakesPartAgain) {
    shop->switch_in();
    ScriptedSink sink;
    std::vector<CdcProcess> relays;
    for (int n = 0; n < 2; ++n) {
        relays.push_back(shop->process(sink));
        relays.back().relay->start();
    }
    ASSERT_TRUE(shop->streams());
    std::atomic<bool> enough = false;
    std::jthread writer([&] {
        for (int n = 0; !enough; ++n) EXPECT_TRUE(shop->tell({n % 7, n % 11}));
    });
    for (int n = 0; n < 6; ++n) {
        const std::size_t before = sink.first_taken().size();
        EXPECT_TRUE(eventually([&] { return sink.first_taken().size() > before + 50; }));
        std::ignore = shop->ask(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active AND "
            "database = current_database()");
    }
    enough = true;
    writer.join();
    shop->expect_all(sink);
    EXPECT_EQ(relays[0].feed->report().slots_lost + relays[1].feed->report().slots_lost, 0U);
    std::printf("%d events over 6 lost connections, %zu sent more than once\n", shop->events(), CdcShop::repeats(sink));
}

TEST(CdcRestart, IsNotHeldUpByEventsThatCannotLeave) {
    auto started = PostgresCluster::start();
    ASSERT_TRUE(started) << started.error().describe();
    PostgresCluster server = *std::move(started);
    CdcShop shop(server);
    shop.switch_in();
    ScriptedSink sink([](const Message&) { return ScriptedSink::Answer::away; });
    CdcProcess one = shop.process(sink);
    one.relay->start();
    ASSERT_TRUE(shop.streams());
    ASSERT_TRUE(shop.tell({1, 2}));
    ASSERT_TRUE(eventually([&] { return one.feed->report().received == 2; }));
    const Instant begun = system_clock().now();
    ASSERT_TRUE(server.stop());
    std::printf("stopped after %lld ms\n",
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::milliseconds>(system_clock().now() - begun).count()));
    ASSERT_TRUE(server.start_again());
    sink.play({});
    shop.expect_all(sink);
    one.relay->stop();
}

TEST(CdcRestart, OfTheServerLosesNothing) {
    auto started = PostgresCluster::start();
    ASSERT_TRUE(started) << started.error().describe();
    PostgresCluster server = *std::move(started);
    CdcShop shop(server);
    shop.switch_in();
    ScriptedSink sink;
    CdcProcess one = shop.process(sink);
    one.relay->start();
    ASSERT_TRUE(shop.streams());
    std::atomic<bool> enough = false;
    std::jthread writer([&] {
        for (int n = 0; !enough; ++n) std::ignore = shop.tell({n % 7});
    });
    for (int n = 0; n < 3; ++n) {
        const std::size_t before = sink.first_taken().size();
        ASSERT_TRUE(eventually([&] { return sink.first_taken().size() > before + 20; }));
        ASSERT_TRUE(n == 1 ? server.kill9() : server.stop());
        ASSERT_TRUE(server.start_again());
    }
    enough = true;
    writer.join();
    shop.expect_all(sink);
    EXPECT_EQ(one.feed->report().slots_lost, 0U);
    std::printf("%d events over 3 restarts, %zu sent more than once\n", shop.events(), CdcShop::repeats(sink));
    one.relay->stop();
}

}  // namespace
}  // namespace semel::cdc
