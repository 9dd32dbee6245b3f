#include "semel/http/problem.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace semel::http {
namespace {

using namespace std::chrono_literals;

TEST(Problem, CarriesCodeAndCorrelationIdAlways) {
    const Response response = Problem(problems::not_found).to_response("c-1");
    EXPECT_EQ(response.status, 404U);
    EXPECT_EQ(response.headers.find("Content-Type"), "application/problem+json");
    EXPECT_EQ(
        response.body,
        R"({"type":"about:blank","title":"There is no such resource","status":404,"code":"NOT_FOUND","correlationId":"c-1"})");
}

TEST(Problem, CarriesItsExtensionsInTheirTypesAndOrder) {
    const Response response = Problem(problems::version_conflict, "It is at 3.")
                                  .with("currentVersion", std::int64_t{3})
                                  .with("resource", std::string("quote"))
                                  .with("final", false)
                                  .with_status(422)
                                  .to_response("c");
    EXPECT_EQ(response.status, 422U);
    const auto body = nlohmann::json::parse(response.body);
    EXPECT_EQ(body["detail"], "It is at 3.");
    EXPECT_EQ(body["currentVersion"], 3);
    EXPECT_EQ(body["resource"], "quote");
    EXPECT_EQ(body["final"], false);
    EXPECT_EQ(body["status"], 422);
}

TEST(Problem, EscapesWhatItIsGivenAndSurvivesWhatIsNotUtf8) {
    const Response response = Problem(problems::malformed_body, "a\"\\\n\x01\xff").to_response("c");
    EXPECT_EQ(nlohmann::json::parse(response.body)["detail"], "a\"\\\n\x01\xef\xbf\xbd");
}

TEST(Problem, RoundsRetryAfterUpAndNeverToZero) {
    EXPECT_EQ(format_retry_after(0s), "1");
    EXPECT_EQ(format_retry_after(1s), "1");
    EXPECT_EQ(format_retry_after(1001ms), "2");
    const Response response = Problem(problems::overloaded).with_retry_after(2500ms).to_response("c");
    EXPECT_EQ(response.headers.find("Retry-After"), "3");
}

}  // namespace
}  // namespace semel::http
