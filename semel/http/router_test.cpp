#include "semel/http/router.hpp"

#include "semel/http/target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel::http {
namespace {

Route route(unsigned status) {
    return {.handle = [status](Request&) { return Response{.status = status}; }};
}

class RouterTest : public ::testing::Test {
protected:
    RouterTest() {
        router.add("GET", "/quotes", route(201));
        router.add("POST", "/quotes", route(202));
        router.add("GET", "/quotes/{id}", route(203));
        router.add("GET", "/quotes/latest", route(204));
        router.add("PUT", "/quotes/{id}/items/{item}", route(205));
        router.add("DELETE", "/{any}/latest", route(206));
    }
    /// The status that the route answers with; 0 if there is none.
    unsigned status(std::string_view method, std::string_view path) {
        match = router.match(method, decode_path(path).value(), request);
        return match.route == nullptr ? 0 : match.route->handle(request).status;
    }
    Router router;
    Request request;
    Router::Match match;
};

TEST_F(RouterTest, FindsRoutesByMethodAndPathAndFillsTheirVariables) {
    EXPECT_EQ(status("GET", "/quotes"), 201U);
    EXPECT_EQ(status("POST", "/quotes"), 202U);
    EXPECT_EQ(status("GET", "/quotes/a%20b"), 203U);
    EXPECT_EQ(request.variable("id"), "a b");
    EXPECT_EQ(status("PUT", "/quotes/1/items/2"), 205U);
    EXPECT_EQ(request.variable("id"), "1");
    EXPECT_EQ(request.variable("item"), "2");
}

TEST_F(RouterTest, PrefersALiteralToAVariable) {
    EXPECT_EQ(status("GET", "/quotes/latest"), 204U);
    EXPECT_TRUE(request.variables.empty());
    EXPECT_EQ(status("DELETE", "/quotes/latest"), 206U) << "a more general path that has the method";
    EXPECT_EQ(request.variable("any"), "quotes");
}

TEST_F(RouterTest, AnswersHeadByGet) { EXPECT_EQ(status("HEAD", "/quotes/7"), 203U); }

TEST_F(RouterTest, SaysWhichMethodsAPathHas) {
    EXPECT_EQ(status("PATCH", "/quotes"), 0U);
    EXPECT_EQ(match.allowed, "OPTIONS, HEAD, GET, POST");
    EXPECT_EQ(status("GET", "/nothing"), 0U);
    EXPECT_EQ(match.allowed, "");
}

TEST_F(RouterTest, TakesNoEmptySegmentForAVariable) {
    EXPECT_EQ(status("GET", "/quotes/"), 0U);
    EXPECT_EQ(match.allowed, "");
    EXPECT_EQ(status("GET", "//quotes"), 0U);
}

TEST_F(RouterTest, FindsLiteralPathsWithoutDecoding) {
    ASSERT_NE(router.find_literal("GET", "/quotes"), nullptr);
    EXPECT_EQ(router.find_literal("GET", "/quotes")->handle(request).status, 201U);
    EXPECT_EQ(router.find_literal("GET", "/quotes/7"), nullptr);
    EXPECT_EQ(router.find_literal("PATCH", "/quotes"), nullptr);
}

TEST(RouterDeathTest, TakesAWrongPatternForAMistakeInTheProgram) {
    Router router;
    router.add("GET", "/a", route(200));
    EXPECT_DEATH(router.add("GET", "/a", route(200)), "added");
    EXPECT_DEATH(router.add("GET", "b", route(200)), "pattern");
    EXPECT_DEATH(router.add("GET", "/{a", route(200)), "variable");
    EXPECT_DEATH(router.add("GET", "/c", {}), "handle");
}

}  // namespace
}  // namespace semel::http
