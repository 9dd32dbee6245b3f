// Mistakes of every kind at every route, taken from what /openapi.json tells of them: 4xx that says what is wrong.

#include "tests/orders/fixture.hpp"
#include "tests/orders/signed_callback.hpp"

namespace orders::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* nobody = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";

class OrdersMalformed : public OrdersTest {
protected:
    void SetUp() override {
        OrdersTest::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) start({.config = std::string(callback_config)});
    }

    /// A request for this route that lacks nothing but sense.
    [[nodiscard]] HttpRequest request_of(const DescribedRoute& route, const std::string& id) {
        if (route.method == "GET") return {.method = "GET", .target = route.path_with(id)};
        HttpRequest request = posting(route.path_with(id), "malformed-" + std::to_string(++keys_), "{}");
        if (route.is_guarded) request.headers.emplace_back("If-Match", "\"quote-version-1\"");
        return request;
    }

    /// The status, and a detail for whoever made the mistake.
    HttpResponse expect_refused(const HttpRequest& request, const ::testing::Matcher<int>& status) const {
        const HttpResponse refused = send(request);
        EXPECT_THAT(refused.status, status) << request.text() << "\n-> " << refused.body;
        EXPECT_NE(refused.member("detail"), "") << request.text() << "\n-> " << refused.body;
        return refused;
    }

    /// Every route that is like this; there must be some.
    template <class Like, class Check>
    void each(const Like& like, const Check& check) {
        int checked = 0;
        for (const DescribedRoute& route : openapi->routes()) {
            if (!like(route)) continue;
            SCOPED_TRACE(route.method + " " + route.path);
            check(route);
            ++checked;
        }
        EXPECT_GT(checked, 3);
    }

    static void replace(HttpRequest& request, const std::string& name, const std::optional<std::string>& value) {
        std::erase_if(request.headers, [&](const auto& field) { return field.first == name; });
        if (value) request.headers.emplace_back(name, *value);
    }

private:
    int keys_ = 0;
};

TEST_P(OrdersMalformed, AnIdThatIsNoneIsNamed) {
    each([](const DescribedRoute& route) { return route.has_ids; },
         [&](const DescribedRoute& route) {
             for (const std::string id : {"x", "1", "0190a6f27c1d7e3a9f102b4c6d8e0f12", "'%20OR%201=1", "%00"}) {
                 const HttpResponse refused = expect_refused(request_of(route, id), 400);
                 EXPECT_THAT(refused.code(), AnyOf("VALIDATION_FAILED", "MALFORMED_REQUEST")) << refused.body;
             }
             EXPECT_THAT(route.path, HasSubstr("{" + send(request_of(route, "x")).member("field") + "}"));
         });
}

TEST_P(OrdersMalformed, AVersionIsAskedForAndMustBeOne) {
    each([](const DescribedRoute& route) { return route.is_guarded; },
         [&](const DescribedRoute& route) {
             const auto with = [&](const std::optional<std::string>& tag) {
                 HttpRequest request = request_of(route, nobody);
                 replace(request, "If-Match", tag);
                 return request;
             };
             EXPECT_EQ(expect_refused(with(std::nullopt), 428).code(), "PRECONDITION_REQUIRED");
             EXPECT_EQ(expect_refused(with("*"), 428).code(), "PRECONDITION_REQUIRED");
             for (const char* tag : {"quote-version-1", "\"", "7", "", "\"a\", \"b\""})
                 EXPECT_EQ(expect_refused(with(tag), 400).code(), "MALFORMED_REQUEST") << tag;
             HttpRequest twice = with("\"a\"");
             twice.headers.emplace_back("If-Match", "\"a\"");
             expect_refused(twice, 400);
             // Well-formed, and no version of anything: then the rest of the request counts.
             for (const char* tag : {"W/\"quote-version-1\"", "\"\"", "\"quote-version-99999999999999999999\""})
                 expect_refused(with(tag), AnyOf(400, 404));
         });
}

TEST_P(OrdersMalformed, ACommandNeedsAKeyAndAnObjectWithoutStrangeMembers) {
    each([](const DescribedRoute& route) { return route.is_keyed; },
         [&](const DescribedRoute& route) {
             HttpRequest keyless = request_of(route, nobody);
             replace(keyless, "Idempotency-Key", std::nullopt);
             EXPECT_EQ(expect_refused(keyless, 400).code(), "MISSING_IDEMPOTENCY_KEY");
             for (const std::string& key : {std::string(), std::string(256, 'k'), std::string("a,b")}) {
                 HttpRequest malformed = request_of(route, nobody);
                 replace(malformed, "Idempotency-Key", key);
                 EXPECT_EQ(expect_refused(malformed, 400).code(), "INVALID_IDEMPOTENCY_KEY") << key;
             }
             for (const char* body : {"{", "[]", "null", "7", "\"text\"", "{} {}", "{\"a\":1,\"a\":2}", "\xff"}) {
                 HttpRequest malformed = request_of(route, nobody);
                 malformed.body = body;
                 EXPECT_EQ(expect_refused(malformed, 400).code(), "MALFORMED_BODY") << body;
             }
             HttpRequest strange = request_of(route, nobody);
             strange.body = R"({"colour":"red"})";
             EXPECT_THAT(expect_refused(strange, 400).member("detail"), HasSubstr("`colour`"));
             HttpRequest form = request_of(route, nobody);
             replace(form, "Content-Type", "application/x-www-form-urlencoded");
             EXPECT_EQ(expect_refused(form, 415).code(), "UNSUPPORTED_MEDIA_TYPE");
         });
}

TEST_P(OrdersMalformed, AParameterOfACollectionIsKnownWellFormedAndGivenOnce) {
    each([](const DescribedRoute& route) { return route.is_collection; },
         [&](const DescribedRoute& route) {
             std::vector<std::string> queries{"limit=0",
                                              "limit=101",
                                              "limit=-1",
                                              "limit=ten",
                                              "limit=",
                                              "limit=1.0",
                                              "cursor=x",
                                              "cursor=zz",
                                              "limit=1&limit=1",
                                              "colour=red",
                                              "cursor=",
                                              "LIMIT=1",
                                              "limit=99999999999999999999"};
             for (const std::string& filter : route.filters) {
                 queries.push_back(filter + "=%21");
                 queries.push_back(filter + "=" + std::string(65, 'x'));
                 queries.push_back(filter + "=x&" + filter + "=x");
                 queries.push_back(filter + "=%00");
             }
             for (const std::string& query : queries) {
                 HttpRequest request = request_of(route, nobody);
                 request.target += "?" + query;
                 const HttpResponse refused = expect_refused(request, 400);
                 if (refused.code() == "MALFORMED_REQUEST") continue;  // The server itself takes no such byte.
                 EXPECT_EQ(refused.member("field"), query.substr(0, query.find('='))) << refused.body;
             }
         });
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersMalformed, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
