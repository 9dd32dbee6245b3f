#include "semel/idempotency/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace semel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Values = std::vector<NamedValue>;

/// A request that the tests change in one place.
struct Request {
    std::string_view operation = "orders.place";
    Values path{{"tenant", "acme"}, {"order", "17"}};
    Values query{{"dry", "false"}, {"tag", "b"}, {"tag", "a"}};
    std::string_view media_type = "application/json";
    std::string_view body = R"({"amount": 10.0, "currency": "EUR"})";

    [[nodiscard]] Result<Fingerprint> result() const {
        return fingerprint(
            {.operation = operation, .path = path, .query = query, .media_type = media_type, .body = body});
    }
    [[nodiscard]] std::string print() const {
        const auto made = result();
        return made ? hex(made->digest) : "refused: " + made.error().message;
    }
};

TEST(Fingerprint, NeverChangesWithinAVersion) {
    // Stored records hold these. Whoever changes what is hashed gives it a new version.
    const auto made = Request().result();
    ASSERT_TRUE(made);
    EXPECT_EQ(made->version, 1);
    EXPECT_EQ(hex(made->digest), "a9df1893fedbc5ecb963b33efc988b384daac4095bfa210a27097ada5e047729");
    EXPECT_EQ(Request({.media_type = "text/plain", .body = "hello"}).print(),
              "adb7f5206a1024ff3b54321231e78dd7d18e88507f56078046323080f10e0542");
    EXPECT_EQ(Request({.body = ""}).print(), "a0385dec43e244ee1f32e018022e69858ff3683c9aec927e449807a856321c0b");
    EXPECT_EQ(Request({.media_type = "multipart/form-data; boundary=b", .body = "--b\r\n\r\nx\r\n--b--"}).print(),
              "6c7b83be826c7ee42e5d3e66404d2be36b35432638a9a3d51046c26cd6f1e81b");
}

TEST(Fingerprint, IsTheSameForARequestInOtherWords) {
    const std::string print = Request().print();
    EXPECT_EQ(Request({.body = "{\"currency\":\"EUR\",\"amount\":1e1}\n"}).print(), print);
    EXPECT_EQ(Request({.media_type = "Application/JSON; charset=utf-8"}).print(), print);
    EXPECT_EQ(Request({.path = {{"order", "17"}, {"tenant", "acme"}}}).print(), print);
    EXPECT_EQ(Request({.query = {{"tag", "b"}, {"tag", "a"}, {"dry", "false"}}}).print(), print);
}

TEST(Fingerprint, DiffersWhenAnythingThatCountsDiffers) {
    const std::vector<Request> requests{
        {},
        {.operation = "orders.cancel"},
        {.path = {{"tenant", "acme"}, {"order", "18"}}},
        {.path = {{"tenant", "17"}, {"order", "acme"}}},
        {.path = {{"tenant", "acme"}}},
        {.path = {}},
        {.path = {{"tenant", "acme"}, {"order", "17"}, {"x", ""}}},
        {.path = {{"tenan", "tacme"}, {"order", "17"}}},
        {.query = {{"dry", "true"}, {"tag", "b"}, {"tag", "a"}}},
        {.query = {{"dry", "false"}, {"tag", "a"}, {"tag", "b"}}},
        {.query = {{"dry", "false"}, {"tag", "b"}}},
        {.query = {}},
        // What moves from one list to the other is another request.
        {.path = {{"tenant", "acme"}, {"order", "17"}, {"dry", "false"}}, .query = {{"tag", "b"}, {"tag", "a"}}},
        {.media_type = "application/merge-patch+json"},
        {.media_type = "text/plain"},
        {.media_type = ""},
        {.body = R"({"amount": 10.01, "currency": "EUR"})"},
        {.body = R"({"amount": "10.0", "currency": "EUR"})"},
        {.body = R"({"amount": 9007199254740993})"},
        {.body = R"({"amount": 9007199254740992})"},
        {.body = "{}"},
        {.body = "null"},
        {.body = ""},
        {.media_type = "multipart/mixed; boundary=b", .body = "--b\r\n\r\nx\r\n--b--"},
        {.media_type = "text/plain", .body = "--b\r\n\r\nx\r\n--b--"},
    };
    std::set<std::string> prints;
    for (const Request& request : requests) {
        EXPECT_THAT(request.print(), Not(HasSubstr("refused")));
        prints.insert(request.print());
    }
    EXPECT_EQ(prints.size(), requests.size());
}

TEST(Fingerprint, CountsOtherBodiesByteByByte) {
    const auto text = [](std::string_view body) { return Request({.media_type = "text/plain", .body = body}).print(); };
    EXPECT_NE(text("{\"a\":1}"), text("{\"a\": 1}"));
    EXPECT_EQ(text("\xff"), text("\xff"));
    EXPECT_NE(text("\xff"), text("\xfe"));
}

TEST(Fingerprint, TakesAnEmptyBodyForNone) {
    EXPECT_EQ(Request({.media_type = "", .body = ""}).print(),
              Request({.media_type = "application/json", .body = ""}).print());
    EXPECT_NE(Request({.media_type = "", .body = ""}).print(), Request({.media_type = "", .body = " "}).print());
}

TEST(Fingerprint, DoesNotDependOnTheBoundaryOfAMultipartBody) {
    const auto form = [](std::string_view media_type, std::string_view body) {
        return Request({.media_type = media_type, .body = body}).print();
    };
    const std::string one =
        form("multipart/form-data; boundary=one", "--one\r\nA: 1\r\n\r\nx\r\n--one\r\n\r\ny\r\n--one--\r\n");
    EXPECT_EQ(form("multipart/form-data; boundary=\"t w o\"",
                   "--t w o\r\nA: 1\r\n\r\nx\r\n--t w o\r\n\r\ny\r\n--t w o--\r\n"),
              one);
    EXPECT_NE(form("multipart/form-data; boundary=one", "--one\r\nA: 1\r\n\r\nx\r\n--one\r\n\r\nz\r\n--one--\r\n"),
              one);
    EXPECT_NE(form("multipart/form-data; boundary=one", "--one\r\nA: 1\r\n\r\nx\r\n--one--\r\n"), one);
    EXPECT_THAT(form("multipart/form-data", "--one--"), HasSubstr("names no valid boundary"));
    EXPECT_THAT(form("multipart/form-data; boundary=one", "--one\r\nA: 1"), HasSubstr("closing delimiter is missing"));
}

TEST(Fingerprint, RefusesABodyWithoutACanonicalFormAndSaysWhere) {
    const auto refused = Request({.body = "{\"hunter2\":1,\n\"hunter2\":2}"}).result();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
    EXPECT_EQ(refused.error().message, "fingerprint: a duplicate name at line 2, column 1 (byte 14)");
    // The next one is none the worse for it.
    EXPECT_THAT(Request().print(), Not(HasSubstr("refused")));
}

TEST(FingerprintDeathTest, DoesNotTakeTwoPathVariablesOfOneName) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(static_cast<void>(Request({.path = {{"a", "1"}, {"a", "2"}}}).result()),
                 "two path variables of one name");
}

}  // namespace
}  // namespace semel
