#include "semel/rabbitmq/address.hpp"

#include "semel/rabbitmq/routing_key.hpp"
#include "semel/rabbitmq/sink.hpp"
#include "semel/rabbitmq/source.hpp"

#include <gmock/gmock.h>

namespace semel::rabbitmq {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AmqpUrl, NamesServersVhostAndSettings) {
    const auto url = parse_url("amqp://us%40er:pa%3Ass@one:5673,[::1]/shop%2Feast?queue=a&x=%26");
    ASSERT_TRUE(url) << url.error().describe();
    EXPECT_EQ(url->connection.servers, (std::vector<ServerAddress>{{"one", 5673}, {"::1", 0}}));
    EXPECT_EQ(url->connection.user, "us@er");
    EXPECT_EQ(url->connection.password, "pa:ss");
    EXPECT_EQ(url->connection.vhost, "shop/east");
    EXPECT_EQ(url->settings, (std::multimap<std::string, std::string>{{"queue", "a"}, {"x", "&"}}));
    EXPECT_FALSE(url->connection.tls);
}

TEST(AmqpUrl, HasDefaults) {
    for (const char* text : {"amqp://host", "amqp://host/"}) {
        const auto url = parse_url(text).value();
        EXPECT_EQ(url.connection.user, "guest");
        EXPECT_EQ(url.connection.vhost, "/");
    }
    const auto secure = parse_url("amqps://host?ca=/etc/ca.pem").value();
    EXPECT_TRUE(secure.connection.tls);
    EXPECT_EQ(secure.connection.ca_file, "/etc/ca.pem");
}

TEST(AmqpUrl, SaysWhatIsWrongAndNeverShowsASecret) {
    for (const char* text :
         {"http://u:hunter2@host/", "amqp://u:hunter2@/v", "amqp://u:hunter2@host:0/", "amqp://u:hunter2@host:x/",
          "amqp://u:hunter2@host:99999/", "amqp://u:hunter2%z@host/", "amqp://u:hunter2@host/?a=1&a=2",
          "amqp://u:hunter2@host/?ca=x", "amqp://u:hunter2@host/%z", "amqp://u:hunter2@host/?=1"}) {
        const auto url = parse_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().fault, Fault::rejected);
        EXPECT_THAT(url.error().describe(), Not(HasSubstr("hunter2"))) << text;
    }
}

TEST(AmqpUrl, BecomesTheOptionsOfASink) {
    const auto options = sink_options(
        "amqp://host/?exchange=orders&exchange_type=direct&routing_key={type}&queue=all&binding=a.%23&declare=true&"
        "single_active_consumer=false&mode=structured&max_in_flight=9&deadline=4&source=/shop");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->exchange, "orders");
    EXPECT_EQ(options->exchange_type, "direct");
    EXPECT_EQ(options->routing_key, "{type}");
    EXPECT_EQ(options->queue, "all");
    EXPECT_EQ(options->binding, "a.#");
    EXPECT_TRUE(options->declare);
    EXPECT_FALSE(options->single_active_consumer);
    EXPECT_EQ(options->mode, Mode::structured);
    EXPECT_EQ(options->max_in_flight, 9U);
    EXPECT_EQ(options->deadline, std::chrono::seconds(4));
    EXPECT_EQ(options->event.source, "/shop");
}

TEST(AmqpUrl, BecomesTheOptionsOfASource) {
    const auto options = source_options(
        "amqp://host/?queue=all&exchange=orders&declare=true&single_active_consumer=false&prefetch=5&heartbeat=9");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->queue, "all");
    EXPECT_EQ(options->exchange, "orders");
    EXPECT_TRUE(options->declare);
    EXPECT_FALSE(options->single_active_consumer);
    EXPECT_EQ(options->prefetch, 5U);
    EXPECT_EQ(options->heartbeat, std::chrono::seconds(9));
}

TEST(AmqpUrl, RefusesOptionsThatCannotWork) {
    for (const char* text : {"amqp://host/?mode=other", "amqp://host/?colour=red", "amqp://host/?max_in_flight=0",
                             "amqp://host/?max_in_flight=10001", "amqp://host/?deadline=-1",
                             "amqp://host/?routing_key={what}", "amqp://host/?declare=true"}) {
        const auto options = sink_options(text);
        ASSERT_FALSE(options) << text;
        EXPECT_EQ(options.error().fault, Fault::rejected);
    }
    for (const char* text : {"amqp://host/", "amqp://host/?queue=a&prefetch=0", "amqp://host/?queue=a&prefetch=70000",
                             "amqp://host/?queue=a&heartbeat=0", "amqp://host/?queue=a&mode=binary"}) {
        const auto options = source_options(text);
        ASSERT_FALSE(options) << text;
        EXPECT_EQ(options.error().fault, Fault::rejected);
    }
    EXPECT_THAT(source_options("amqp://host/?queue=a&colour=red").error().describe(), HasSubstr("prefetch"));
}

TEST(RoutingKey, IsMadeOfWhatTheMessageIsAbout) {
    Message message;
    message.tenant = "shop";
    message.aggregate = {.type = "order.line", .id = "o.1"};
    message.type = "order.created";
    const auto key = [&](std::string_view text) { return RoutingKeyTemplate::parse(text)->key_of(message).value(); };
    EXPECT_EQ(key("{aggregate_type}.{type}"), "order_line.order.created");
    EXPECT_EQ(key("{tenant}/{aggregate_id}!"), "shop/o_1!");
    EXPECT_EQ(key("a-queue"), "a-queue");
    EXPECT_FALSE(RoutingKeyTemplate::parse("{nothing}"));
    message.type = std::string(300, 'x');
    const auto refused = RoutingKeyTemplate::parse("{type}")->key_of(message);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
}

}  // namespace
}  // namespace semel::rabbitmq
