// What a mail server may answer, and what becomes of the events.

#include "semel/smtp/sink.hpp"
#include "tests/smtp/mail_server.hpp"

#include <gmock/gmock.h>

namespace semel::smtp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Message event_number(int number, const std::string& aggregate = "1") {
    Message message;
    message.id = Uuid::parse("0190d9a6-7c21-7000-8000-00000000000" + std::to_string(number)).value();
    message.tenant = "shop";
    message.aggregate = {.type = "order", .id = aggregate};
    message.type = "order.created";
    message.payload = "{}";
    message.headers = "{}";
    message.created_at = Timestamp(std::chrono::seconds(1'700'000'000));
    return message;
}

class SmtpSinkTest : public ::testing::Test {
protected:
    void start(MailServer::Script script) { server.emplace(std::move(script)); }
    [[nodiscard]] std::unique_ptr<SmtpSink> sink() const {
        const std::string address = "smtp://127.0.0.1:" + std::to_string(server->port()) +
                                    "?tls=none&from=shop@shop.example&to=a@x.example&to=b@x.example";
        return SmtpSink::open(sink_options(address).value()).value();
    }
    static Deadline in(Duration time) { return Deadline::after(system_clock().now(), time); }
    /// What becomes of one event if the server answers so to that line.
    Status published_when(const std::string& line, const std::string& answer,
                          Duration limit = std::chrono::seconds(20)) {
        start([line, answer](std::string_view said, const Mail&) -> std::optional<std::string> {
            return said.starts_with(line) && (!said.empty() == !line.empty()) ? std::optional(answer) : std::nullopt;
        });
        const std::array messages{event_number(1)};
        return sink()->publish(messages, in(limit)).at(0);
    }
    static Fault fault_of(const Status& answer) {
        return answer ? throw std::logic_error("taken") : answer.error().fault;
    }

    std::optional<MailServer> server;
};

TEST_F(SmtpSinkTest, SendsEachEventToEveryReaderUnderItsOwnId) {
    start([](std::string_view, const Mail&) { return std::nullopt; });
    const std::array messages{event_number(1), event_number(2)};
    for (const Status& one : sink()->publish(messages, in(std::chrono::seconds(20)))) EXPECT_TRUE(one);
    const auto mails = server->taken();
    ASSERT_EQ(mails.size(), 2U);
    EXPECT_EQ(mails[0].from, "<shop@shop.example>");
    EXPECT_THAT(mails[0].to, ElementsAre("<a@x.example>", "<b@x.example>"));
    EXPECT_EQ(mails[0].field("Message-ID"), "<0190d9a6-7c21-7000-8000-000000000001@shop.example>");
    EXPECT_EQ(mails[0].field("Subject"), "order.created order/1");
    EXPECT_EQ(mails[0].field("Date"), "Tue, 14 Nov 2023 22:13:20 +0000");
    EXPECT_EQ(mails[1].field("Message-ID"), "<0190d9a6-7c21-7000-8000-000000000002@shop.example>");
}

TEST_F(SmtpSinkTest, ARefusalForGoodIsTheEventsOwn) {
    EXPECT_EQ(fault_of(published_when(".", "552 too large")), Fault::rejected);
    EXPECT_EQ(fault_of(published_when("RCPT", "550 no such reader")), Fault::rejected);
    EXPECT_EQ(fault_of(published_when("DATA", "554 no")), Fault::rejected);
}

TEST_F(SmtpSinkTest, WhatMayPassIsTriedAgain) {
    EXPECT_EQ(fault_of(published_when(".", "451 later")), Fault::throttled);
    EXPECT_EQ(fault_of(published_when("MAIL", "421 going down")), Fault::unavailable);
    EXPECT_EQ(fault_of(published_when("MAIL", "530 who are you")), Fault::unavailable);
    EXPECT_EQ(fault_of(published_when("DATA", "")), Fault::unavailable);
}

TEST_F(SmtpSinkTest, SentAndNotAnsweredIsUnknown) { EXPECT_EQ(fault_of(published_when(".", "")), Fault::unknown); }

TEST_F(SmtpSinkTest, OneThatWasRefusedHoldsBackItsAggregateOnly) {
    start([](std::string_view line, const Mail& mail) -> std::optional<std::string> {
        return line == "." && mail.field("Message-ID").find("0001@") != std::string::npos
                   ? std::optional<std::string>("554 not this one")
                   : std::nullopt;
    });
    const std::array messages{event_number(1), event_number(2), event_number(3, "other")};
    const auto answers = sink()->publish(messages, in(std::chrono::seconds(20)));
    EXPECT_EQ(fault_of(answers[0]), Fault::rejected);
    EXPECT_EQ(answers[1].error().message, behind_unacknowledged().message);
    EXPECT_TRUE(answers[2]);
}

TEST_F(SmtpSinkTest, AServerThatIsAwayIsAskedOnce) {
    start([](std::string_view line, const Mail&) -> std::optional<std::string> {
        return line.empty() ? std::optional<std::string>("421 not today") : std::nullopt;
    });
    const std::array messages{event_number(1), event_number(2, "other")};
    const auto answers = sink()->publish(messages, in(std::chrono::seconds(20)));
    EXPECT_EQ(fault_of(answers[0]), Fault::unavailable);
    EXPECT_EQ(fault_of(answers[1]), Fault::unavailable);
    EXPECT_THAT(answers[1].error().message, HasSubstr("not sent"));
}

TEST_F(SmtpSinkTest, DoesNotTalkWithoutTlsUnlessTold) {
    start([](std::string_view, const Mail&) { return std::nullopt; });
    const std::string address =
        "smtp://127.0.0.1:" + std::to_string(server->port()) + "?from=a@x.example&to=b@x.example";
    const auto careful = SmtpSink::open(sink_options(address).value()).value();
    const std::array messages{event_number(1)};
    EXPECT_EQ(fault_of(careful->publish(messages, in(std::chrono::seconds(20))).at(0)), Fault::unavailable);
    EXPECT_TRUE(server->taken().empty());
}

}  // namespace
}  // namespace semel::smtp
