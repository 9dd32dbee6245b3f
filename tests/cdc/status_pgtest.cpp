// Whoever looks at the outbox is told when nothing leaves, and why.

#include "semel/outbox/status.hpp"
#include "tests/cdc/fixture.hpp"

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

class CdcStatus : public CdcTest {
protected:
    [[nodiscard]] FeedStatus feed() const { return outbox_status(*shop->database, in(10s)).value().feed; }
    [[nodiscard]] bool troubled(std::string_view by) const { return feed().trouble.find(by) != std::string::npos; }
};

TEST_F(CdcStatus, TellsWhoStreamsAndWhatTheLogKeeps) {
    EXPECT_EQ(feed().mode, "polling");
    EXPECT_EQ(feed().trouble, "");
    shop->switch_in();
    EXPECT_TRUE(troubled("nobody streams")) << feed().trouble;
    ScriptedSink sink;
    {
        CdcProcess one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
        const FeedStatus streaming = feed();
        EXPECT_EQ(streaming.mode, "cdc");
        EXPECT_EQ(streaming.slot, shop->slot);
        EXPECT_TRUE(streaming.slot_active);
        EXPECT_EQ(streaming.trouble, "");
        EXPECT_TRUE(streaming.retained_bytes && *streaming.retained_bytes >= 0);
        EXPECT_TRUE(streaming.streamed_ago && *streaming.streamed_ago < 10s);
    }
    EXPECT_TRUE(eventually([&] { return troubled("nobody streams"); })) << feed().trouble;
    std::ignore = shop->ask("SELECT pg_drop_replication_slot($1)", {shop->slot});
    EXPECT_TRUE(troubled("is gone")) << feed().trouble;
    ASSERT_TRUE(switch_to_polling(*shop->database, in(10s)));
    EXPECT_EQ(feed().mode, "leaving");
    EXPECT_TRUE(troubled("is gone")) << "it is not over yet";
    CdcProcess other = shop->process(sink);
    other.relay->start();
    EXPECT_TRUE(eventually([&] { return feed().mode == "polling" && feed().trouble.empty(); })) << feed().trouble;
    EXPECT_EQ(feed().slots_lost, 1);
}

TEST_F(CdcStatus, TellsOfASlotThatIsLeftOver) {
    std::ignore = shop->ask("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", {shop->slot});
    std::ignore = shop->ask("UPDATE semel.outbox_feed SET slot = $1", {shop->slot});
    EXPECT_TRUE(troubled("is left over")) << feed().trouble;
    ScriptedSink sink;
    CdcProcess one = shop->process(sink);
    one.relay->start();
    EXPECT_TRUE(eventually([&] { return feed().trouble.empty(); })) << "a relay that stands by drops it";
}

}  // namespace
}  // namespace semel::cdc
