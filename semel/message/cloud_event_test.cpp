#include "semel/message/cloud_event.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace semel {
namespace {

Message message() {
    using namespace std::chrono;
    return {
        .id = Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057").value(),
        .tenant = "shop",
        .aggregate = {.type = "order", .id = "o-1", .version = 7},
        .type = "order.created",
        .payload = R"({"id":"o-1", "total": 1.10})",
        .headers =
            R"({"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","other":1,"correlationId":"req-1"})",
        .created_at = Timestamp(sys_days(2026y / 2 / 3) + 4h + 5min + 6s + 7us),
        .position = 1,
        .partition = 2};
}

const CloudEventOptions options{.source = "/shop/orders"};

std::map<std::string, std::string> named(const std::vector<CloudEventAttribute>& all) {
    std::map<std::string, std::string> names;
    for (const auto& one : all) EXPECT_TRUE(names.emplace(one.name, one.value).second) << one.name << " twice";
    return names;
}

TEST(CloudEvent, HasTheRequiredAttributesAndOurExtensions) {
    const std::map<std::string, std::string> expected{
        {"specversion", "1.0"},
        {"id", "01890a5d-ac96-774b-bcce-b302099a8057"},
        {"source", "/shop/orders"},
        {"type", "order.created"},
        {"subject", "order/o-1"},
        {"time", "2026-02-03T04:05:06.000007Z"},
        {"datacontenttype", "application/json"},
        {"tenant", "shop"},
        {"aggregateversion", "7"},
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {"correlationid", "req-1"}};
    EXPECT_EQ(named(cloud_event_attributes(message(), options).value()), expected);
}

TEST(CloudEvent, LeavesOutWhatThereIsNot) {
    Message plain = message();
    plain.tenant.clear();
    plain.aggregate.version.reset();
    plain.headers = "{}";
    const auto names = named(cloud_event_attributes(plain, options).value());
    for (const char* absent : {"tenant", "aggregateversion", "traceparent", "tracestate", "correlationid"})
        EXPECT_FALSE(names.contains(absent)) << absent;
    EXPECT_EQ(names.size(), 7U);
}

TEST(CloudEvent, InBinaryModeCarriesThePayloadUntouched) {
    const Message sent = message();
    const auto event = binary_cloud_event(sent, options, "ce_", HeaderEncoding::utf8).value();
    EXPECT_EQ(event.body, sent.payload);
    EXPECT_EQ(event.body.data(), sent.payload.data()) << "and copies nothing";
    const auto names = named(event.headers);
    EXPECT_EQ(names.at("ce_id"), sent.id.text());
    EXPECT_EQ(names.at("content-type"), "application/json");
    EXPECT_FALSE(names.contains("ce_datacontenttype"));
}

TEST(CloudEvent, WritesForHttpWhatAHeaderCanCarry) {
    Message odd = message();
    odd.aggregate.id = "50% \"grün\"";
    const auto http = named(binary_cloud_event(odd, options, "ce-", HeaderEncoding::percent).value().headers);
    EXPECT_EQ(http.at("ce-subject"), "order/50%25%20%22gr%C3%BCn%22");
    const auto kafka = named(binary_cloud_event(odd, options, "ce_", HeaderEncoding::utf8).value().headers);
    EXPECT_EQ(kafka.at("ce_subject"), "order/50% \"grün\"");
}

TEST(CloudEvent, InStructuredModeIsOneJsonDocument) {
    Message odd = message();
    odd.aggregate.id = "a\"b\\c grün";
    const std::string text = structured_cloud_event(odd, options).value();
    const auto parsed = nlohmann::json::parse(text);
    EXPECT_EQ(parsed.at("specversion"), "1.0");
    EXPECT_EQ(parsed.at("subject"), "order/a\"b\\c grün");
    EXPECT_EQ(parsed.at("data").at("id"), "o-1");
    EXPECT_NE(text.find(odd.payload), std::string::npos) << "numbers keep the digits they were written with";
    EXPECT_EQ(parsed.at("aggregateversion"), "7");
}

TEST(CloudEvent, RefusesForGoodWhatCannotBeTold) {
    const auto refused = [](auto change) {
        Message wrong = message();
        change(wrong);
        const auto event = structured_cloud_event(wrong, options);
        return !event && event.error().fault == Fault::rejected;
    };
    EXPECT_TRUE(refused([](Message& wrong) { wrong.type = "line\nbreak"; }));
    EXPECT_TRUE(refused([](Message& wrong) { wrong.type.clear(); }));
    EXPECT_TRUE(refused([](Message& wrong) { wrong.headers = "[]"; }));
    EXPECT_TRUE(refused([](Message& wrong) { wrong.headers = "{"; }));
    EXPECT_TRUE(refused([](Message& wrong) { wrong.payload = "{"; }));
    EXPECT_FALSE(cloud_event_attributes(message(), {.source = ""}));
}

}  // namespace
}  // namespace semel
