// A transaction that stays open delays nobody else's events, whichever way they leave.
//
// For three seconds in the suite; for a minute with SEMEL_SOAK=1.

#include "tests/cdc/fixture.hpp"

#include <cstdio>

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

Duration open_for() { return std::getenv("SEMEL_SOAK") != nullptr ? 60s : 3s; }

enum class Way : unsigned char { polling, cdc };

class OpenWriter : public CdcTest, public ::testing::WithParamInterface<Way> {
protected:
    void start_relay() {
        if (GetParam() == Way::cdc) {
            shop->switch_in();
            streaming = shop->process(sink);
            streaming.relay->start();
            ASSERT_TRUE(shop->streams());
            return;
        }
        polling = Relay::create(*shop->database, sink, bell, CdcShop::options()).value();
        polling->start();
    }
    /// How long two events of others take from before their transaction to the sink.
    [[nodiscard]] Duration time_others() {
        const std::size_t before = sink.taken().size();
        const Instant told = system_clock().now();
        EXPECT_TRUE(shop->tell({2, 3}));
        EXPECT_TRUE(eventually([&] { return sink.taken().size() >= before + 2; }));
        return system_clock().now() - told;
    }

    ScriptedSink sink;
    LocalDoorbell bell;
    CdcProcess streaming;
    std::unique_ptr<Relay> polling;
};

TEST_P(OpenWriter, DelaysNobodyElse) {
    start_relay();
    static_cast<void>(time_others());
    // Its event has a low position, and is not there yet.
    const auto driver_of = driver(shop->url).value();
    auto session = driver_of.connect(in(10s)).value();
    const AppendStatements statements = AppendStatements::from(shop->database->catalogue()).value();
    Transaction held(*session, {}, in(open_for() + 60s));
    Outbox outbox(statements, "shop", shop->database->clock(), shop->database->random());
    outbox.append(CdcShop::event(1));
    outbox.post_to(held);
    ASSERT_TRUE(held.flush());

    const Instant begun = system_clock().now();
    const std::size_t before = sink.taken().size();
    Duration longest{};
    while (system_clock().now() < begun + open_for() && !HasFailure()) {
        longest = std::max(longest, time_others());
        // A session that says nothing for long is ended by the server.
        ASSERT_TRUE(held.execute("SELECT 1"));
        std::this_thread::sleep_for(100ms);
    }
    const auto meanwhile = sink.taken().size() - before;
    std::printf("%s: open for %.1f s, %zu events of others left meanwhile, the slowest after %.0f ms\n",
                GetParam() == Way::cdc ? "cdc" : "polling",
                std::chrono::duration<double>(system_clock().now() - begun).count(), meanwhile,
                std::chrono::duration<double, std::milli>(longest).count());
    EXPECT_LT(longest, 2s);
    for (const Message& one : sink.taken()) EXPECT_NE(one.aggregate.id, "1") << "it was not committed";
    // And when it commits, it is not too late.
    ASSERT_TRUE(std::move(held).commit().committed());
    shop->expect_all(sink);
    EXPECT_EQ(sink.taken().back().aggregate.id, "1");
    if (polling) polling->stop();
}

INSTANTIATE_TEST_SUITE_P(Ways, OpenWriter, ::testing::Values(Way::polling, Way::cdc),
                         [](const auto& one) { return one.param == Way::cdc ? "cdc" : "polling"; });

}  // namespace
}  // namespace semel::cdc
