#include "semel/http/answer.hpp"

#include "semel/http/problem.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace semel::http {
namespace {

using namespace std::chrono_literals;

Result<Response> judged(const Response& response) { return judge(response, Timestamp{}); }

TEST(Answer, IsAValueIfAskingAgainWouldNotChangeIt) {
    for (unsigned status : {200U, 201U, 204U, 301U, 304U, 400U, 404U, 409U, 412U, 422U, 501U}) {
        const auto answer = judged({.status = status, .body = "b"});
        ASSERT_TRUE(answer.has_value()) << status;
        EXPECT_EQ(answer->status, status);
        EXPECT_EQ(answer->body, "b");
    }
}

TEST(Answer, IsAnErrorByItsStatusOtherwise) {
    EXPECT_EQ(judged({.status = 500}).error().fault, Fault::unknown);
    EXPECT_EQ(judged({.status = 502}).error().fault, Fault::unknown);
    EXPECT_EQ(judged({.status = 503}).error().fault, Fault::unknown);
    EXPECT_EQ(judged({.status = 425}).error().fault, Fault::unavailable);
    const auto throttled = judged({.status = 429, .headers = {{"Retry-After", "7"}}});
    EXPECT_EQ(throttled.error().fault, Fault::throttled);
    EXPECT_EQ(throttled.error().cause.retry_after, 7s);
    EXPECT_EQ(throttled.error().cause.code, "429");
}

TEST(Answer, With503AndRetryAfterMeansThatNothingWasDone) {
    const auto answer = judged(Problem(problems::overloaded).with_retry_after(2s).to_response("c"));
    EXPECT_EQ(answer.error().fault, Fault::throttled);
    EXPECT_EQ(answer.error().cause.retry_after, 2s);
    EXPECT_EQ(answer.error().message, "answered 503 OVERLOADED");
    EXPECT_EQ(judged({.status = 503, .headers = {{"Retry-After", "whenever"}}}).error().fault, Fault::unknown);
}

TEST(Answer, ThatSaysItDoesNotKnowIsBelievedDespiteRetryAfter) {
    const auto answer = judged(Problem(problems::outcome_unknown).with_retry_after(2s).to_response("c"));
    EXPECT_EQ(answer.error().fault, Fault::unknown);
    EXPECT_EQ(answer.error().cause.retry_after, 2s);
}

TEST(Answer, ThatTheSameKeyIsBeingExecutedIsWorthAnotherLook) {
    const auto answer = judged(Problem(problems::request_already_in_progress).to_response("c"));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().fault, Fault::throttled);
    EXPECT_TRUE(judged(Problem(problems::idempotency_key_conflict).to_response("c")).has_value());
    EXPECT_TRUE(
        judged({.status = 409, .headers = {{"Content-Type", "application/problem+json"}}, .body = "{"}).has_value());
}

TEST(Answer, ThatCameTooLateForTheWholeNamesTheWholesLimit) {
    Error error;
    error.cause.timeout = Timeout::request;
    EXPECT_EQ(overall(error, Deadline::at(Instant(5s)), Instant(5s)).cause.timeout, Timeout::total);
    EXPECT_EQ(overall(error, Deadline::at(Instant(5s)), Instant(4s)).cause.timeout, Timeout::request);
}

}  // namespace
}  // namespace semel::http
