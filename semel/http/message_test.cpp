#include "semel/http/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::http {
namespace {

using ::testing::ElementsAre;

TEST(Headers, FindsByNameInEitherCaseAndKeepsTheOrder) {
    Headers headers{{"Link", "a"}, {"ETag", "\"1\""}, {"link", "b"}};
    EXPECT_EQ(headers.find("etag"), "\"1\"");
    EXPECT_EQ(headers.find("LINK"), "a");
    EXPECT_THAT(headers.all("Link"), ElementsAre("a", "b"));
    EXPECT_EQ(headers.count("Link"), 2U);
    EXPECT_EQ(headers.find("Links"), std::nullopt);
}

TEST(Headers, SetLeavesOneOfANameAndRemoveNone) {
    Headers headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
    headers.set("a", "4");
    EXPECT_EQ(headers, (Headers{{"A", "4"}, {"B", "2"}}));
    headers.set("C", "5");
    EXPECT_EQ(headers.find("c"), "5");
    EXPECT_EQ(headers.remove("b"), 1U);
    EXPECT_EQ(headers.count("B"), 0U);
}

TEST(Headers, RefuseWhatCouldBeginAnotherField) {
    EXPECT_TRUE(is_field_value("a\tb \xc3\xa9"));
    for (const char* value : {"a\rb", "a\nb", "a\x01", "a\x7f"}) EXPECT_FALSE(is_field_value(value)) << value;
    EXPECT_FALSE(is_field_value(std::string_view("a\0b", 3)));
    EXPECT_TRUE(is_field_name("X-Correlation-Id"));
    for (const char* name : {"", "a b", "a:", "a\n", "\xc3\xa9"}) EXPECT_FALSE(is_field_name(name)) << name;
}

TEST(Response, SendsASharedBodyInsteadOfItsOwn) {
    Response response{.body = "own"};
    EXPECT_EQ(response.content(), "own");
    response.shared_body = std::make_shared<const std::string>("shared");
    EXPECT_EQ(response.content(), "shared");
}

TEST(Request, GivesParametersAndVariablesByName) {
    Request request;
    request.query = {{"a", "1"}, {"a", "2"}};
    request.variables = {{"id", "7"}};
    EXPECT_EQ(request.parameter("a"), "1");
    EXPECT_EQ(request.parameter("b"), std::nullopt);
    EXPECT_EQ(request.variable("id"), "7");
}

}  // namespace
}  // namespace semel::http
