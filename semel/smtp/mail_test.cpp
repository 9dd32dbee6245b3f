#include "semel/smtp/mail.hpp"

#include <gmock/gmock.h>

namespace semel::smtp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Message sample() {
    Message message;
    message.id = Uuid::parse("0190d9a6-7c21-7000-8000-000000000001").value();
    message.tenant = "shop";
    message.aggregate = {.type = "order", .id = "7"};
    message.type = "order.created";
    message.payload = R"({"text":"..."})";
    message.headers = "{}";
    return message;
}
Letterhead head() {
    Letterhead head;
    head.from = "shop@shop.example";
    head.to = {"ops@shop.example"};
    return head;
}

TEST(SmtpMail, NoLineIsTooLongWhateverThePayload) {
    Message long_one = sample();
    long_one.payload = "\"" + std::string(100'000, 'x') + "\"";
    long_one.aggregate.id = std::string(200, 'i') + "\u00e4\u00f6\u00fc";
    const std::string mail = mail_of(long_one, head()).value();
    std::size_t begin = 0;
    for (std::size_t end = mail.find("\r\n"); end != std::string::npos; end = mail.find("\r\n", begin)) {
        EXPECT_LE(end - begin, 998U);
        begin = end + 2;
    }
    EXPECT_EQ(begin, mail.size()) << "the last line ends too";
}

TEST(SmtpMail, NothingOfAnEventCanBeginAFieldOfItsOwn) {
    Message evil = sample();
    evil.aggregate.id = "7\r\nBcc: thief@evil.example";
    EXPECT_FALSE(mail_of(evil, head()));
    evil = sample();
    evil.type = "order\ncreated";
    EXPECT_FALSE(mail_of(evil, head()));
}

TEST(SmtpMail, OtherThanPlainTextIsEncodedInTheSubject) {
    Message message = sample();
    message.aggregate.id = "Stra\u00dfe";
    EXPECT_THAT(mail_of(message, head()).value(), HasSubstr("Subject: =?utf-8?B?"));
    EXPECT_THAT(mail_of(sample(), head()).value(), HasSubstr("Subject: order.created order/7\r\n"));
}

TEST(SmtpMail, TooLongAnAttributeIsRefused) {
    Message message = sample();
    message.aggregate.id = std::string(2000, 'x');
    const auto mail = mail_of(message, head());
    ASSERT_FALSE(mail);
    EXPECT_EQ(mail.error().fault, Fault::rejected);
}

TEST(SmtpMail, KnowsAnAddressWhenItSeesOne) {
    for (const char* good : {"a@b", "first.last+tag@sub.example"}) EXPECT_TRUE(is_mail_address(good)) << good;
    for (const char* bad : {"", "a", "@b", "a@", "a@b@c", "a b@c", "a@b>", "<a@b", "a@b\r\nX: y", "a@b,c@d", "\"a\"@b"})
        EXPECT_FALSE(is_mail_address(bad)) << bad;
}

}  // namespace
}  // namespace semel::smtp
