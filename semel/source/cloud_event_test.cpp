#include "semel/source/cloud_event.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace semel {
namespace {

using Headers = std::vector<CloudEventAttribute>;
using nlohmann::json;

Message told() {
    Message message;
    message.id = Uuid::parse("0190d9a6-7c21-7000-8000-000000000001").value();
    message.tenant = "sh\u00f6p";
    message.aggregate = {.type = "order", .id = "4 \"%2", .version = 7};
    message.type = "order.created";
    message.payload = R"({"sum": 1.50, "more":[1e3]})";
    message.headers = R"({"traceparent":"00-1-2-01"})";
    return message;
}

ReceivedMessage structured(const std::string& document) {
    return received_cloud_event(Headers{{"Content-Type", "application/CloudEvents+json; charset=utf-8"}}, "ce-",
                                document);
}

TEST(ReceivedCloudEvent, IsWhatWasToldInBinaryMode) {
    for (const auto encoding : {HeaderEncoding::utf8, HeaderEncoding::percent}) {
        const Message message = told();
        const auto sent = binary_cloud_event(message, {.source = "/shop"}, "ce-", encoding).value();
        const auto received = received_cloud_event(sent.headers, "ce-", sent.body, encoding);
        EXPECT_EQ(received.id, told().id.text());
        EXPECT_EQ(received.tenant, told().tenant);
        EXPECT_EQ(received.type, "order.created");
        EXPECT_EQ(received.payload, told().payload);
        const json headers = json::parse(received.headers);
        EXPECT_EQ(headers["traceparent"], "00-1-2-01");
        EXPECT_EQ(headers["subject"], "order/4 \"%2");
        EXPECT_EQ(headers["aggregateversion"], "7");
        EXPECT_EQ(headers["source"], "/shop");
    }
}

TEST(ReceivedCloudEvent, IsTheSameInStructuredModeByteForByte) {
    const Message message = told();
    const auto sent = binary_cloud_event(message, {.source = "/shop"}, "ce-", HeaderEncoding::utf8).value();
    const auto binary = received_cloud_event(sent.headers, "ce-", sent.body);
    EXPECT_EQ(structured(structured_cloud_event(told(), {.source = "/shop"}).value()), binary);
}

TEST(ReceivedCloudEvent, KeepsThePayloadAsItWasWritten) {
    for (const std::string payload : {"1.50", "\"a\\u0062\"", "null", "[1 , 2]", R"({"data":{"data":1}})", "true"}) {
        const std::string document =
            R"({"specversion":"1.0","id":"1","type":"t","source":"s","data": )" + payload + R"( , "last":"x"})";
        EXPECT_EQ(structured(document).payload, payload);
    }
    EXPECT_EQ(structured(R"({"specversion":"1.0","id":"1","data_base64":"AP8="})").payload, std::string("\0\xff", 2));
    EXPECT_EQ(structured(R"({"specversion":"1.0","id":"1","datacontenttype":"text/plain","data":"a\nb"})").payload,
              "a\nb");
    EXPECT_EQ(structured(R"({"specversion":"1.0","id":"1"})").payload, "");
}

TEST(ReceivedCloudEvent, WhatCannotBeReadArrivesAsItIs) {
    for (const std::string document : {"", "{", "[]", R"({"id":"1"})", R"({"specversion":"1.0","data_base64":"?"})"}) {
        const auto received = structured(document);
        EXPECT_EQ(received.id, "");
        EXPECT_EQ(received.payload, document);
    }
    const std::string deep =
        R"({"specversion":"1.0","id":"1","a":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
    EXPECT_EQ(structured(deep).payload, deep) << "no attribute has parts";
    const auto plain = received_cloud_event(Headers{{"X-Own", "1"}}, "ce-", "hello");
    EXPECT_EQ(plain.id, "");
    EXPECT_EQ(plain.key, "");
    EXPECT_EQ(plain.payload, "hello");
    EXPECT_EQ(json::parse(plain.headers)["x-own"], "1");
}

TEST(ReceivedCloudEvent, KeepsTenantsApartInTheKey) {
    const auto key = [](std::string tenant, std::string subject) {
        return received_cloud_event(Headers{{"ce_tenant", tenant}, {"ce_subject", subject}}, "ce_", "").key;
    };
    EXPECT_NE(key("a", "bc"), key("ab", "c"));
    EXPECT_EQ(key("a", "b"), key("a", "b"));
}

TEST(ReceivedCloudEvent, KeepsTheSameIdOfDifferentSourcesApart) {
    const auto id = [](const std::string& source, const std::string& own) {
        const auto binary = received_cloud_event(Headers{{"ce_id", own}, {"ce_source", source}}, "ce_", "").id;
        EXPECT_EQ(structured(json{{"specversion", "1.0"}, {"id", own}, {"source", source}}.dump()).id, binary);
        return binary;
    };
    EXPECT_NE(id("/billing", "1"), id("/shipping", "1"));
    EXPECT_EQ(id("/billing", "1"), id("/billing", "1"));
    EXPECT_NE(id("a", "b c"), id("a b", "c"));
    EXPECT_NE(id("/billing", "1"), id("", "1"));
    EXPECT_EQ(id("", "1"), "1") << "a sender that does not say who it is";
    const std::string uuid = told().id.text();
    EXPECT_EQ(id("/billing", uuid), uuid) << "unique by itself, and known by it everywhere";
    EXPECT_EQ(received_cloud_event(Headers{{"ce_source", "/x"}}, "ce_", "").id, "") << "none is none";
}

}  // namespace
}  // namespace semel
