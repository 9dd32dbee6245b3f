#include "semel/webhook/sink.hpp"

#include <gtest/gtest.h>

namespace semel::webhook {
namespace {

TEST(WebhookUrl, GoesToHttpsAndOnlyWhereAllowedToHttp) {
    EXPECT_TRUE(check_url("https://hooks.example.com/in?x=1", false));
    EXPECT_TRUE(check_url("https://hooks.example.com:8443/in", false));
    EXPECT_TRUE(check_url("https://1.1.1.1/in", false));
    EXPECT_FALSE(check_url("http://hooks.example.com/in", false));
    EXPECT_TRUE(check_url("http://hooks.example.com/in", true));
    for (const char* url : {"", "hooks", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/",
                            "https://", "javascript:alert(1)"})
        EXPECT_FALSE(check_url(url, true)) << url;
}

TEST(WebhookUrl, RefusesPrivateAddressesHoweverTheyAreWritten) {
    for (const char* url :
         {"https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest/meta-data", "https://[::1]/",
          "https://[fd00::1]/", "https://[::ffff:127.0.0.1]/", "https://2130706433/", "https://0x7f000001/",
          "https://0177.0.0.1/", "https://127.1/", "https://0/"}) {
        const Status refused = check_url(url, false);
        ASSERT_FALSE(refused) << url;
        EXPECT_EQ(refused.error().fault, Fault::rejected);
        EXPECT_TRUE(check_url(url, true)) << url;
    }
}

TEST(WebhookUrl, RefusesAPasswordAndDoesNotRepeatIt) {
    for (const char* url : {"https://shop:hunter2@example.com/", "https://hunter2@example.com/"}) {
        const Status refused = check_url(url, true);
        ASSERT_FALSE(refused) << url;
        EXPECT_EQ(refused.error().describe().find("hunter2"), std::string::npos);
    }
}

TEST(WebhookUrl, LimitsWhatASinkMayBeToldToDo) {
    EXPECT_TRUE(WebhookSink::create({.url = "https://example.com/"}));
    EXPECT_FALSE(WebhookSink::create({.url = "https://example.com/", .parallel = 0}));
    EXPECT_FALSE(WebhookSink::create({.url = "https://example.com/", .request_limit = Duration::zero()}));
    EXPECT_FALSE(WebhookSink::create({.url = "https://example.com/", .event = {.source = ""}}));
}

}  // namespace
}  // namespace semel::webhook
