#include "semel/nats/delivery.hpp"

#include "semel/nats/server_info.hpp"

#include <gmock/gmock.h>

namespace semel::nats {
namespace {

using ::testing::HasSubstr;

TEST(DeliveryFacts, AreReadWithAndWithoutADomain) {
    for (const char* reply : {"$JS.ACK.ORDERS.billing.2.17.9.1690000000000000000.4",
                              "$JS.ACK.hub.acc0unt.ORDERS.billing.2.17.9.1690000000000000000.4",
                              "$JS.ACK.hub.acc0unt.ORDERS.billing.2.17.9.1690000000000000000.4.r4nd0m"}) {
        const auto facts = delivery_facts(reply);
        ASSERT_TRUE(facts) << reply;
        EXPECT_EQ(facts->stream, "ORDERS");
        EXPECT_EQ(facts->times, 2U);
        EXPECT_EQ(facts->sequence, 17U);
    }
}

TEST(DeliveryFacts, OfAnythingElseAreNone) {
    for (const char* reply : {"", "_INBOX.x", "$JS.ACK.S.c.1.2.3.4", "$JS.ACK.d.S.c.1.2.3.4.5", "$JS.ACK.S.c.x.2.3.4.5",
                              "$JS.NAK.S.c.1.2.3.4.5", "$JS.ACK.S.c.1..3.4.5"})
        EXPECT_FALSE(delivery_facts(reply)) << reply;
}

TEST(ServerVersion, IsComparedByNumbers) {
    EXPECT_TRUE(at_least("2.12.0", 2, 12));
    EXPECT_TRUE(at_least("3.0.1", 2, 12));
    EXPECT_FALSE(at_least("2.9.10", 2, 12));
    EXPECT_FALSE(at_least("", 2, 12));
    EXPECT_FALSE(at_least("dev", 2, 12));
}

TEST(DurabilityWarnings, SayWhatCouldBeLost) {
    const auto old = durability_warnings("2.9.10", false, 1);
    ASSERT_EQ(old.size(), 2U);
    EXPECT_THAT(old[0], HasSubstr("sync_interval: always"));
    EXPECT_THAT(old[1], HasSubstr("one replica"));
    EXPECT_THAT(durability_warnings("2.12.1", true, 3), ::testing::ElementsAre(HasSubstr("memory")));
    EXPECT_TRUE(durability_warnings("2.12.1", false, 3).empty());
    EXPECT_EQ(durability_warnings("", false, 3).size(), 1U) << "an unknown version is not trusted";
}

}  // namespace
}  // namespace semel::nats
