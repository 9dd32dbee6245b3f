#include "semel/http/context_headers.hpp"

#include "semel/base/id.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace semel::http {
namespace {

using namespace std::chrono_literals;
constexpr Instant now{100s};

TEST(ContextHeaders, ComeBackAsTheyWereWrittenWithLessTimeLeft) {
    Headers headers;
    write_context(headers, {.attempt = 3, .owner = "gateway", .deadline = Deadline::at(now + 1500ms)}, now + 250ms);
    EXPECT_EQ(headers.find("X-Deadline-Remaining-Ms"), "1250");
    const auto context = read_context(headers, Instant(7s));
    ASSERT_TRUE(context.has_value());
    EXPECT_EQ(context->attempt, 3U);
    EXPECT_EQ(context->owner, "gateway");
    EXPECT_EQ(context->deadline, Deadline::at(Instant(7s) + 1250ms));
}

TEST(ContextHeaders, AreAllOptional) {
    const auto context = read_context({{"X-Other", "1"}, {"a", "b"}}, now);
    ASSERT_TRUE(context.has_value());
    EXPECT_EQ(context->attempt, 1U);
    EXPECT_TRUE(context->owner.empty());
    EXPECT_TRUE(context->deadline.is_never());
}

TEST(ContextHeaders, AreRefusedWhenMalformedOrRepeated) {
    for (const Headers& headers :
         {Headers{{"X-Deadline-Remaining-Ms", "-1"}}, Headers{{"X-Deadline-Remaining-Ms", "soon"}},
          Headers{{"x-attempt", "0"}}, Headers{{"X-Attempt", "1e3"}}, Headers{{"X-Retry-Owner", "a b"}},
          Headers{{"X-Retry-Owner", ""}}, Headers{{"X-Attempt", "1"}, {"x-attempt", "1"}}}) {
        const auto context = read_context(headers, now);
        ASSERT_FALSE(context.has_value()) << headers.begin()->value;
        EXPECT_EQ(context.error().fault, Fault::rejected);
        EXPECT_TRUE(context.error().message.starts_with("X-")) << context.error().message;
    }
}

TEST(CorrelationId, IsTakenOverOnlyIfItIsHarmlessInALog) {
    EXPECT_EQ(correlation_id({{"x-correlation-id", "req:1/a+b=.@_-"}}), "req:1/a+b=.@_-");
    for (const std::string& bad : {std::string(), std::string(129, 'a'), std::string("a b"), std::string("a\"b"),
                                   std::string("a\xc3\xa9"), std::string("{}")}) {
        const std::string id = correlation_id({{"X-Correlation-Id", bad}});
        EXPECT_TRUE(Uuid::parse(id).has_value()) << id;
    }
    const std::string id = correlation_id({{"X-Correlation-Id", "a"}, {"X-Correlation-Id", "a"}});
    EXPECT_TRUE(Uuid::parse(id).has_value()) << id;
}

}  // namespace
}  // namespace semel::http
