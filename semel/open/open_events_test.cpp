#include "semel/open/sink.hpp"
#include "semel/open/source.hpp"

#include <gmock/gmock.h>

namespace semel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(OpenSink, SaysWhereEventsCanBeSent) {
    for (const char* address : {"", "nowhere", "ftp://host/x", "redis://host"}) {
        const auto sink = open_sink(address);
        ASSERT_FALSE(sink) << address;
        EXPECT_EQ(sink.error().fault, Fault::rejected);
        EXPECT_THAT(sink.error().describe(), HasSubstr("kafka://"));
    }
}

TEST(OpenSink, LeavesTheAddressToWhoKnowsItAndShowsNoPassword) {
    for (const char* address :
         {"kafka://me:geheim@host:notaport/topic", "nats://me:geheim@host:99999/S", "amqp://me:geheim@host:notaport/",
          "smtp://me:geheim@host?to=x", "https://me:geheim@host"}) {
        const auto sink = open_sink(address);
        ASSERT_FALSE(sink) << address;
        EXPECT_EQ(sink.error().fault, Fault::rejected) << address;
        EXPECT_THAT(sink.error().describe(), Not(HasSubstr("geheim"))) << address;
    }
}

TEST(OpenSink, TalksToNobodyWhereThatIsNotNeeded) {
    EXPECT_TRUE(open_sink("kafka://127.0.0.1:1/topic"));
    EXPECT_TRUE(open_sink("smtp://127.0.0.1:1?tls=none&from=a@b&to=c@d"));
    EXPECT_TRUE(open_sink("https://shop.example/in"));
}

TEST(OpenSource, NamesTheConsumerUnlessTheAddressDoes) {
    EXPECT_TRUE(open_source("kafka://127.0.0.1:1/topic", "billing"));
    EXPECT_TRUE(open_source("kafka://127.0.0.1:1/topic?group=other", "billing"));
    const auto none = open_source("https://host", "billing");
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().describe(), HasSubstr("nats://"));
}

}  // namespace
}  // namespace semel
