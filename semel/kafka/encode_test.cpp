#include "semel/kafka/encode.hpp"

#include "semel/source/received.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace semel::kafka {
namespace {

Message event_to_encode() {
    Message one;
    one.id = Uuid::parse("0190a6a0-0000-7000-8000-000000000001").value();
    one.tenant = "shop";
    one.aggregate = {.type = "order", .id = "o-7", .version = 3};
    one.type = "order.changed";
    one.payload = R"({"a": 1.10})";
    one.headers = R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})";
    return one;
}

std::string header(const Record& record, std::string_view name) {
    const auto found = std::ranges::find(record.headers, name, &CloudEventAttribute::name);
    return found == record.headers.end() ? "none" : found->value;
}

TEST(AggregateKey, IsDifferentForDifferentAggregates) {
    std::set<std::string> keys;
    const std::vector<std::array<std::string, 3>> aggregates{{"a", "b", "c"}, {"ab", "", "c"},   {"", "ab", "c"},
                                                             {"a", "bc", ""}, {"1:a", "b", "c"}, {"a", "1:b", "c"}};
    for (const auto& [tenant, type, id] : aggregates) {
        Message one = event_to_encode();
        one.tenant = tenant;
        one.aggregate.type = type;
        one.aggregate.id = id;
        EXPECT_TRUE(keys.insert(aggregate_key(one)).second) << tenant << "|" << type << "|" << id;
    }
}

TEST(AggregateKey, IsTheKeyThatTheRestOfSemelGivesAnAggregate) {
    EXPECT_EQ(aggregate_key(event_to_encode()), semel::received_from(event_to_encode(), "orders").key);
}

TEST(TopicOf, FillsInWhatTheEventIsAbout) {
    EXPECT_EQ(topic_of(event_to_encode(), "orders").value(), "orders");
    EXPECT_EQ(topic_of(event_to_encode(), "{tenant}.{aggregate}.v1").value(), "shop.order.v1");
    EXPECT_EQ(topic_of(event_to_encode(), "{type}").value(), "order.changed");
}

TEST(TopicOf, RefusesNamesThatKafkaDoesNotKnow) {
    Message one = event_to_encode();
    for (const std::string& tenant : std::vector<std::string>{"a/b", "ü", " ", std::string(250, 'a')}) {
        one.tenant = tenant;
        const auto topic = topic_of(one, "{tenant}");
        ASSERT_FALSE(topic) << tenant;
        EXPECT_EQ(topic.error().fault, Fault::rejected);
    }
    one.tenant = "..";
    EXPECT_FALSE(topic_of(one, "{tenant}"));
}

TEST(CheckTopic, NamesWhatIsWrongWithATemplate) {
    EXPECT_TRUE(check_topic("orders"));
    EXPECT_TRUE(check_topic("{tenant}-{aggregate}_{type}"));
    for (const std::string_view form : {"", "a b", "{", "{}", "{tenant", "{id}", "tenant}", "a/b", ".", ".."})
        EXPECT_FALSE(check_topic(form)) << form;
}

TEST(RecordOf, PutsAttributesIntoHeadersAndThePayloadIntoTheValueInBinaryMode) {
    const Record record = record_of(event_to_encode(), {.source = "/shop"}, Mode::binary, "orders").value();
    EXPECT_EQ(record.topic, "orders");
    EXPECT_EQ(record.key, "4:shop5:order3:o-7");
    EXPECT_EQ(record.value, R"({"a": 1.10})");
    EXPECT_EQ(header(record, "ce_id"), event_to_encode().id.text());
    EXPECT_EQ(header(record, "ce_source"), "/shop");
    EXPECT_EQ(header(record, "ce_type"), "order.changed");
    EXPECT_EQ(header(record, "ce_specversion"), "1.0");
    EXPECT_EQ(header(record, "ce_subject"), "order/o-7");
    EXPECT_EQ(header(record, "content-type"), "application/json");
}

TEST(RecordOf, PutsBothIntoOneDocumentInStructuredMode) {
    const Record record = record_of(event_to_encode(), {.source = "/shop"}, Mode::structured, "orders").value();
    ASSERT_EQ(record.headers.size(), 1U);
    EXPECT_TRUE(header(record, "content-type").starts_with("application/cloudevents+json"));
    EXPECT_NE(record.value.find(R"("data":{"a": 1.10}})"), std::string::npos) << record.value;
}

TEST(RecordOf, RefusesWhatIsNoCloudEvent) {
    Message one = event_to_encode();
    one.headers = "none";
    const auto record = record_of(one, {.source = "/shop"}, Mode::binary, "orders");
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().fault, Fault::rejected);
}

}  // namespace
}  // namespace semel::kafka
