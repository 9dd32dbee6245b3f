#include "semel/webhook/answer.hpp"

#include <gtest/gtest.h>

namespace semel::webhook {
namespace {

using namespace std::chrono_literals;

/// Wed, 21 Oct 2015 07:28:00 GMT
constexpr Timestamp now{1'445'412'480s};

TEST(WebhookAnswer, MeansByItsStatusWhatTheReceiverCanMeanByIt) {
    for (const long status : {200L, 201L, 202L, 204L, 299L}) EXPECT_TRUE(judge({.status = status}, now)) << status;
    const auto fault = [](long status) { return judge({.status = status}, now).error().fault; };
    for (const long status : {301L, 302L, 303L, 304L, 307L, 308L}) EXPECT_EQ(fault(status), Fault::rejected) << status;
    for (const long status : {400L, 401L, 403L, 404L, 409L, 410L, 413L, 415L, 422L})
        EXPECT_EQ(fault(status), Fault::rejected) << status;
    for (const long status : {408L, 425L, 500L, 501L, 502L, 503L, 504L, 599L})
        EXPECT_EQ(fault(status), Fault::unavailable) << status;
    EXPECT_EQ(fault(429), Fault::throttled);
}

TEST(WebhookAnswer, SaysWhenToComeBack) {
    const Status later = judge({.status = 503, .retry_after = "120"}, now);
    EXPECT_EQ(later.error().fault, Fault::throttled);
    EXPECT_EQ(later.error().cause.retry_after, 120s);
    EXPECT_EQ(judge({.status = 429, .retry_after = "7"}, now).error().cause.retry_after, 7s);
    EXPECT_EQ(judge({.status = 429}, now).error().cause.retry_after, std::nullopt);
    EXPECT_EQ(judge({.status = 500, .retry_after = "3"}, now).error().fault, Fault::unavailable);
}

TEST(WebhookAnswer, ReadsRetryAfterInBothFormsAndWithinBounds) {
    EXPECT_EQ(parse_retry_after("0", now), 0s);
    EXPECT_EQ(parse_retry_after("-5", now), 0s);
    EXPECT_EQ(parse_retry_after("999999999", now), 24h);
    EXPECT_EQ(parse_retry_after("99999999999999999999999999", now), 24h);
    EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:29:30 GMT", now), 90s);
    EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2015 07:00:00 GMT", now), 0s);
    EXPECT_EQ(parse_retry_after("Wed, 21 Oct 2099 07:00:00 GMT", now), 24h);
    EXPECT_EQ(parse_retry_after("soon", now), std::nullopt);
    EXPECT_EQ(parse_retry_after("", now), std::nullopt);
}

TEST(WebhookAnswer, SaysThatRedirectsAreNotFollowedAndWhereItPointed) {
    const Status redirect = judge({.status = 302, .location = "http://169.254.169.254/"}, now);
    EXPECT_NE(redirect.error().message.find("redirect"), std::string::npos);
    EXPECT_EQ(redirect.error().native, "http://169.254.169.254/");
    EXPECT_NE(judge({.status = 410}, now).error().message.find("no more events"), std::string::npos);
}

}  // namespace
}  // namespace semel::webhook
