#include "semel/nats/address.hpp"

#include "semel/nats/sink.hpp"
#include "semel/nats/source.hpp"

#include <gmock/gmock.h>

namespace semel::nats {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NatsUrl, NamesServersStreamAndSettings) {
    const auto url = parse_url("nats://one:4333,two,[::1]:4444/ORDERS?subject=a.b&max%5Fin_flight=7");
    ASSERT_TRUE(url) << url.error().describe();
    EXPECT_EQ(url->connection.servers, (std::vector<ServerAddress>{{"one", 4333}, {"two", 4222}, {"::1", 4444}}));
    EXPECT_EQ(url->stream, "ORDERS");
    EXPECT_EQ(url->settings, (std::multimap<std::string, std::string>{{"subject", "a.b"}, {"max_in_flight", "7"}}));
    EXPECT_FALSE(url->connection.tls);
}

TEST(NatsUrl, TellsAUserFromAToken) {
    const auto user = parse_url("nats://us%40er:pa%3Ass@host/S").value();
    EXPECT_EQ(user.connection.user, "us@er");
    EXPECT_EQ(user.connection.password, "pa:ss");
    EXPECT_EQ(user.connection.token, "");
    const auto token = parse_url("nats://secret@host/S").value();
    EXPECT_EQ(token.connection.token, "secret");
    EXPECT_EQ(token.connection.user, "");
}

TEST(NatsUrl, TalksTlsWhenItIsToldTo) {
    EXPECT_TRUE(parse_url("tls://host/S")->connection.tls);
    const auto url = parse_url("nats://host/S?tls=true&ca=/etc/ca.pem&credentials=/etc/user.creds").value();
    EXPECT_TRUE(url.connection.tls);
    EXPECT_EQ(url.connection.ca_file, "/etc/ca.pem");
    EXPECT_EQ(url.connection.credentials_file, "/etc/user.creds");
    EXPECT_TRUE(url.settings.empty());
}

TEST(NatsUrl, SaysWhatIsWrongAndNeverShowsASecret) {
    for (const char* text :
         {"http://hunter2@host/S", "nats://:hunter2@/S", "nats://u:hunter2@host:0/S", "nats://u:hunter2@host:x/S",
          "nats://u:hunter2@host:99999/S", "nats://u:hunter2@[::1]x/S", "nats://u:hunter2%zz@host/S",
          "nats://u:hunter2@host/S?tls=perhaps", "nats://u:hunter2@host/S?a=1&a=2", "nats://u:hunter2@host/S?ca=x",
          "tls://u:hunter2@host/S?tls=false", "nats://u:hunter2@host/S%z", "nats://u:hunter2@host/S?=x"}) {
        const auto url = parse_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().fault, Fault::rejected);
        EXPECT_THAT(url.error().describe(), Not(HasSubstr("hunter2"))) << text;
    }
}

TEST(NatsUrl, BecomesTheOptionsOfASink) {
    const auto options = sink_options(
        "nats://host/ORDERS?subject={stream}.{type}&mode=structured&create=true&replicas=3&duplicate_window=600&"
        "max_in_flight=9&deadline=4&source=/shop");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->stream, "ORDERS");
    EXPECT_EQ(options->subject, "{stream}.{type}");
    EXPECT_EQ(options->mode, Mode::structured);
    EXPECT_TRUE(options->stream_options.create);
    EXPECT_EQ(options->stream_options.replicas, 3);
    EXPECT_EQ(options->stream_options.duplicate_window, std::chrono::minutes(10));
    EXPECT_EQ(options->max_in_flight, 9U);
    EXPECT_EQ(options->deadline, std::chrono::seconds(4));
    EXPECT_EQ(options->event.source, "/shop");
}

TEST(NatsUrl, BecomesTheOptionsOfASource) {
    const auto options =
        source_options("nats://host/ORDERS?consumer=billing&filter=ORDERS.a.%3E&prefetch=5&ack_wait=9&create=false");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->consumer, "billing");
    EXPECT_EQ(options->filter, "ORDERS.a.>");
    EXPECT_EQ(options->prefetch, 5U);
    EXPECT_EQ(options->ack_wait, std::chrono::seconds(9));
    EXPECT_FALSE(options->create);
}

TEST(NatsUrl, RefusesOptionsThatCannotWork) {
    for (const char* text :
         {"nats://host/", "nats://host/a.b", "nats://host/S?mode=other", "nats://host/S?colour=red",
          "nats://host/S?max_in_flight=0", "nats://host/S?max_in_flight=10001", "nats://host/S?deadline=-1",
          "nats://host/S?subject=a..b", "nats://host/S?subject={what}"}) {
        const auto options = sink_options(text);
        ASSERT_FALSE(options) << text;
        EXPECT_EQ(options.error().fault, Fault::rejected);
    }
    for (const char* text : {"nats://host/S", "nats://host/S?consumer=a.b", "nats://host/S?consumer=a&prefetch=0",
                             "nats://host/S?consumer=a&prefetch=65001", "nats://host/S?consumer=a&subject=b"}) {
        const auto options = source_options(text);
        ASSERT_FALSE(options) << text;
        EXPECT_EQ(options.error().fault, Fault::rejected);
    }
    EXPECT_THAT(sink_options("nats://host/S?colour=red").error().describe(), HasSubstr("max_in_flight"));
}

}  // namespace
}  // namespace semel::nats
