#include "semel/kafka/url.hpp"

#include <gtest/gtest.h>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

std::string setting(const Connection& connection, std::string_view name) {
    for (const Setting& one : connection.settings)
        if (one.name == name) return one.value;
    return "none";
}

TEST(KafkaUrl, MakesTheOptionsOfASink) {
    const auto options = sink_options(
        "kafka://one:9092,two:9093/shop.{aggregate}?mode=structured&deadline=500ms"
        "&max_in_flight=7&source=%2Fshop&security.protocol=ssl");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->connection.brokers, "one:9092,two:9093");
    EXPECT_EQ(options->topic, "shop.{aggregate}");
    EXPECT_EQ(options->mode, Mode::structured);
    EXPECT_EQ(options->deadline, 500ms);
    EXPECT_EQ(options->max_in_flight, 7U);
    EXPECT_EQ(options->event.source, "/shop");
    EXPECT_EQ(setting(options->connection, "security.protocol"), "ssl");
}

TEST(KafkaUrl, MakesTheOptionsOfASource) {
    const auto options = source_options("kafka://[::1]:9092,host/a,b?group=billing&patience=10s&commit_interval=1s");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->connection.brokers, "[::1]:9092,host");
    EXPECT_EQ(options->topics, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(options->group, "billing");
    EXPECT_EQ(options->patience, 10s);
    EXPECT_EQ(options->commit_interval, 1s);
}

TEST(KafkaUrl, TakesUserAndPasswordForSasl) {
    const auto options = sink_options("kafka://me:p%40ss%3aword@host:9092/t?sasl.mechanism=PLAIN");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->connection.brokers, "host:9092");
    EXPECT_EQ(setting(options->connection, "sasl.username"), "me");
    EXPECT_EQ(setting(options->connection, "sasl.password"), "p@ss:word");
}

TEST(KafkaUrl, RefusesWhatMakesNoSenseAndShowsNoValue) {
    for (const std::string_view url : {"",
                                       "amqp://host/t",
                                       "kafka://",
                                       "kafka:///t",
                                       "kafka://:9092/t",
                                       "kafka://host:/t",
                                       "kafka://host:0/t",
                                       "kafka://host:70000/t",
                                       "kafka://host:secret/t",
                                       "kafka://a,,b/t",
                                       "kafka://host/",
                                       "kafka://host/a b",
                                       "kafka://host/t#secret",
                                       "kafka://host/t?mode=secret",
                                       "kafka://host/t?deadline=secret",
                                       "kafka://host/t?deadline=0s",
                                       "kafka://host/t?deadline=10",
                                       "kafka://host/t?max_in_flight=secret",
                                       "kafka://host/t?acks=secret",
                                       "kafka://host/t?enable.idempotence=false",
                                       "kafka://host/t?x=%secret",
                                       "kafka://host/t?x=%0",
                                       "kafka://host/t?x=%00",
                                       "kafka://u:secret@/t",
                                       "kafka://host/t?mode=binary&mode=binary",
                                       "kafka://u:secret@host/t?group=a"}) {
        const auto options = sink_options(url);
        ASSERT_FALSE(options) << url;
        EXPECT_EQ(options.error().fault, Fault::rejected) << url;
        EXPECT_EQ(options.error().describe().find("secret"), std::string::npos) << options.error().describe();
    }
    EXPECT_FALSE(source_options("kafka://host/t")) << "no group";
    EXPECT_FALSE(source_options("kafka://host/a,,b?group=g"));
    EXPECT_FALSE(source_options("kafka://host/?group=g"));
}

TEST(KafkaSinkOptions, AreLookedAtBeforeAnybodyIsTalkedTo) {
    const auto with = [](auto change) {
        KafkaSinkOptions options;
        options.connection.brokers = "127.0.0.1:1";
        options.topic = "t";
        change(options);
        return KafkaSink::open(options);
    };
    EXPECT_TRUE(with([](KafkaSinkOptions&) {}));
    for (const auto& made :
         {with([](KafkaSinkOptions& o) { o.connection.brokers.clear(); }),
          with([](KafkaSinkOptions& o) { o.topic = "a b"; }), with([](KafkaSinkOptions& o) { o.max_in_flight = 0; }),
          with([](KafkaSinkOptions& o) { o.deadline = 1ms; }),
          with([](KafkaSinkOptions& o) { o.event.source.clear(); }),
          with([](KafkaSinkOptions& o) { o.connection.settings = {{"acks", "0"}}; }),
          with([](KafkaSinkOptions& o) { o.connection.settings = {{"security.protocol", "none"}}; })}) {
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().fault, Fault::rejected) << made.error().describe();
    }
}

TEST(KafkaSourceOptions, AreLookedAtBeforeAnybodyIsTalkedTo) {
    const KafkaSourceOptions good{.connection = {.brokers = "127.0.0.1:1"}, .topics = {"t"}, .group = "g"};
    KafkaSourceOptions bad = good;
    bad.group.clear();
    EXPECT_FALSE(KafkaSource::open(bad));
    bad = good;
    bad.topics.clear();
    EXPECT_FALSE(KafkaSource::open(bad));
    bad = good;
    bad.patience = 1ms;
    EXPECT_FALSE(KafkaSource::open(bad));
    bad = good;
    bad.connection.settings = {{"auto.offset.reset", "latest"}};
    EXPECT_FALSE(KafkaSource::open(bad)) << "what decides about guarantees cannot be set";
}

TEST(KafkaSecrets, AreInNoError) {
    KafkaSinkOptions options;
    options.connection.brokers = "127.0.0.1:1";
    options.topic = "t";
    options.connection.settings = {{"security.protocol", "ssl"}, {"ssl.key.pem", "hush-hush"}};
    const auto made = KafkaSink::open(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().describe().find("hush"), std::string::npos) << made.error().describe();
}

}  // namespace
}  // namespace semel::kafka
