#include "semel/kafka/decode.hpp"

#include "semel/kafka/encode.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace semel::kafka {
namespace {

Message event_to_decode() {
    Message one;
    one.id = Uuid::parse("0190a6a0-0000-7000-8000-000000000001").value();
    one.tenant = "shop";
    one.aggregate = {.type = "order", .id = "o-7", .version = 3};
    one.type = "order.changed";
    one.payload = R"({ "a" : 1.10, "b":[{"data":"}\"]"}, 12345678901234567890123 ] })";
    one.headers = R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})";
    return one;
}

RawMessage raw_of(const Record& record) {
    RawMessage raw{
        .topic = record.topic, .partition = 2, .offset = 40, .key = record.key, .value = record.value, .headers = {}};
    for (const CloudEventAttribute& one : record.headers) raw.headers.emplace_back(one.name, one.value);
    return raw;
}

class DecodeEither : public ::testing::TestWithParam<Mode> {};

TEST_P(DecodeEither, ModeGivesBackWhatWasSent) {
    const Message sent = event_to_decode();
    const Record record = record_of(sent, {.source = "/shop"}, GetParam(), "orders").value();
    const ReceivedMessage got = received_from(raw_of(record));
    EXPECT_EQ(got.id, sent.id.text());
    EXPECT_EQ(got.tenant, "shop");
    EXPECT_EQ(got.topic, "orders");
    EXPECT_EQ(got.partition, 2);
    EXPECT_EQ(got.offset, 40);
    EXPECT_EQ(got.key, aggregate_key(sent));
    EXPECT_EQ(got.type, "order.changed");
    EXPECT_EQ(got.payload, sent.payload) << "byte for byte";
    const auto headers = nlohmann::json::parse(got.headers);
    EXPECT_EQ(headers.at("traceparent"), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    EXPECT_EQ(headers.at("subject"), "order/o-7");
    EXPECT_EQ(headers.at("aggregateversion"), "3");
}

INSTANTIATE_TEST_SUITE_P(Modes, DecodeEither, ::testing::Values(Mode::binary, Mode::structured));

TEST(Decode, GivesAMessageWithoutAnIdTheOneThatTheBrokerKnowsItBy) {
    const RawMessage raw{
        .topic = "t", .partition = 1, .offset = 5, .key = "k", .value = "v", .headers = {{"who", "me"}}};
    const ReceivedMessage got = received_from(raw);
    EXPECT_EQ(got.id, "t/1/5");
    EXPECT_EQ(got.key, "k");
    EXPECT_EQ(got.payload, "v");
    EXPECT_EQ(got.headers, R"({"who":"me"})");
}

TEST(Decode, LeavesWhatOnlyClaimsToBeACloudEventAsItIs) {
    for (const std::string_view value :
         {"", "{", "[]", "\"data\"", "null", R"({"data":1})", R"({"specversion":"1.0","id":7,"data":1})",
          R"({"specversion":"1.0","id":"a","data_base64":"%"})", "\xef\xbb\xbf"}) {
        const RawMessage raw{.topic = "t",
                             .partition = 0,
                             .offset = 0,
                             .key = {},
                             .value = value,
                             .headers = {{"content-type", "application/cloudevents+json"}}};
        EXPECT_EQ(received_from(raw).payload, value);
    }
}

std::string structured_payload(std::string_view document) {
    return received_from({.topic = "t",
                          .partition = 0,
                          .offset = 0,
                          .key = {},
                          .value = document,
                          .headers = {{"content-type", "Application/CloudEvents+JSON; charset=utf-8"}}})
        .payload;
}

TEST(Decode, FindsTheDataWhereverItStands) {
    EXPECT_EQ(structured_payload(R"({"data":-1.50e2,"specversion":"1.0","id":"a"})"), "-1.50e2");
    EXPECT_EQ(structured_payload(R"( { "id" : "\"data\":0" , "data" : [ {} ] , "specversion" : "1.0" } )"), "[ {} ]");
    EXPECT_EQ(structured_payload(R"({"x":"{\"data\":1}","specversion":"1.0","id":"a","data":"te\"xt"})"),
              R"("te\"xt")");
    EXPECT_EQ(structured_payload("\xef\xbb\xbf{\"specversion\":\"1.0\",\"id\":\"a\",\"data\":true}"), "true");
    EXPECT_EQ(structured_payload(R"({"specversion":"1.0","id":"a"})"), "");
    EXPECT_EQ(structured_payload(R"({"specversion":"1.0","id":"a","data_base64":"AP8="})"), std::string("\0\xff", 2));
}

TEST(Decode, KeepsHeadersThatAreNotText) {
    const RawMessage raw{.topic = "t", .partition = 0, .offset = 0, .key = {}, .value = {}, .headers = {{"h", "\xff"}}};
    EXPECT_TRUE(nlohmann::json::accept(received_from(raw).headers));
}

}  // namespace
}  // namespace semel::kafka
