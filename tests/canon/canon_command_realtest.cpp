// `semel canon` as the shell sees it.

#include "semel/idempotency/fingerprint.hpp"
#include "semel/testing/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace semel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

testing::Finished canon(const std::string& input, const std::vector<std::string>& arguments = {}) {
    testing::Command command;
    command.argv = {SEMEL_BINARY, "canon"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.input = input;
    const auto finished = testing::run(command, 60s);
    EXPECT_TRUE(finished) << finished.error().describe();
    return finished ? *finished : testing::Finished();
}

TEST(CanonCommand, WritesTheCanonicalBytesAndNothingElse) {
    const auto done = canon("{ \"b\": 1.0,\n \"a\": \"\\u00e9\" }\n");
    EXPECT_EQ(done.exit.code, 0);
    EXPECT_EQ(done.output, "{\"a\":\"\xc3\xa9\",\"b\":1}");
    EXPECT_EQ(done.error_output, "");
}

TEST(CanonCommand, WritesTheDigestOfTheCanonicalBytes) {
    const auto done = canon("{ \"b\": 1.0, \"a\": 2 }", {"--fingerprint"});
    EXPECT_EQ(done.exit.code, 0);
    EXPECT_EQ(done.output, hex(sha256(bytes_of(R"({"a":2,"b":1})"))) + "\n");
}

TEST(CanonCommand, WritesTheFingerprintOfAWholeRequest) {
    const std::vector<NamedValue> path{{"order", "17"}, {"tenant", "a=b"}};
    const std::vector<NamedValue> query{{"tag", "b"}, {"tag", ""}};
    const std::vector<std::string> arguments{"--fingerprint", "--operation", "orders.place", "--var",
                                             "order=17",      "--var",       "tenant=a=b",   "--query",
                                             "tag=b",         "--query",     "tag="};
    const auto expected = fingerprint(
        {.operation = "orders.place", .path = path, .query = query, .media_type = "application/json", .body = "{}"});
    ASSERT_TRUE(expected);
    const auto done = canon(" {} ", arguments);
    EXPECT_EQ(done.exit.code, 0) << done.error_output;
    EXPECT_EQ(done.output, hex(expected->digest) + "\n");

    const auto text = fingerprint(
        {.operation = "orders.place", .path = {}, .query = {}, .media_type = "text/plain", .body = "not { json"});
    ASSERT_TRUE(text);
    EXPECT_EQ(
        canon("not { json", {"--fingerprint", "--operation", "orders.place", "--media-type", "text/plain"}).output,
        hex(text->digest) + "\n");
}

TEST(CanonCommand, AnswersInJsonWhenAsked) {
    const auto document = nlohmann::json::parse(canon(R"({"b":1,"a":2})", {"--json"}).output);
    EXPECT_EQ(document["canonical"], R"({"a":2,"b":1})");
    EXPECT_EQ(document["sha256"], hex(sha256(bytes_of(R"({"a":2,"b":1})"))));
    const auto whole = nlohmann::json::parse(canon("{}", {"--fingerprint", "--operation", "x", "--json"}).output);
    EXPECT_EQ(whole["version"], 1);
    EXPECT_EQ(whole["fingerprint"].get<std::string>().size(), 64U);
    const auto refused = canon(R"({"a":1,"a":2})", {"--json"});
    EXPECT_EQ(refused.exit.code, 1);
    EXPECT_EQ(refused.error_output, "");
    const auto answer = nlohmann::json::parse(refused.output);
    EXPECT_EQ(answer["exitCode"], 1);
    EXPECT_EQ(answer["error"]["fault"], "rejected");
    EXPECT_EQ(answer["error"]["message"], "a duplicate name at line 1, column 8 (byte 7)");
}

TEST(CanonCommand, RefusesADocumentWithReasonAndPlace) {
    const auto refused = canon("{\"hunter2\": 1,\n  \"b\": \"\\ud800\"}");
    EXPECT_EQ(refused.exit.code, 1);
    EXPECT_EQ(refused.output, "");
    EXPECT_THAT(refused.error_output,
                AllOf(HasSubstr("semel canon: a lone surrogate at line 2, column 9"), Not(HasSubstr("hunter2"))));
    EXPECT_EQ(canon("").exit.code, 1);
    EXPECT_EQ(canon("[1", {"--fingerprint"}).exit.code, 1);
    EXPECT_EQ(canon("[1", {"--fingerprint", "--operation", "x"}).exit.code, 1);
}

TEST(CanonCommand, RefusesADocumentThatIsTooLarge) {
    const auto refused = canon(std::string(17 * 1024 * 1024, ' '));
    EXPECT_EQ(refused.exit.code, 1);
    EXPECT_THAT(refused.error_output, HasSubstr("larger than"));
}

TEST(CanonCommand, CallsAWrongCommandLineUsage) {
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"--operation", "x"},
                                               {"--fingerprint", "--var", "a=b"},
                                               {"--fingerprint", "--operation", "x", "--var", "a"},
                                               {"--fingerprint", "--operation", "x", "--query", "=a"},
                                               {"--fingerprint", "--operation", "x", "--var", "a=1", "--var", "a=2"},
                                               {"--fingerprint", "--operation", ""},
                                               {"--fingerprint", "--media-type", "text/plain"},
                                               {"file.json"},
                                               {"--nonsense"}})
        EXPECT_EQ(canon("{}", arguments).exit.code, 2) << ::testing::PrintToString(arguments);
    EXPECT_THAT(canon("", {"--help"}).output, AllOf(HasSubstr("--fingerprint"), HasSubstr("--media-type")));
}

}  // namespace
}  // namespace semel
