#include "semel/http/idempotency_header.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

TEST(IdempotencyHeader, ReadsTheQuotedAndTheBareFormAsOneKey) {
    EXPECT_EQ(parse_idempotency_key("\"8e03978e-40d5\"").value(), "8e03978e-40d5");
    EXPECT_EQ(parse_idempotency_key("8e03978e-40d5").value(), "8e03978e-40d5");
    EXPECT_EQ(parse_idempotency_key("  \"k\" \t").value(), "k");
    EXPECT_EQ(parse_idempotency_key(R"("a\"b\\c")").value(), R"(a"b\c)");
    EXPECT_EQ(parse_idempotency_key("\"a,b;c\"").value(), "a,b;c");
}

TEST(IdempotencyHeader, RefusesEveryOtherFormAndSaysWhy) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "empty"},
        {"   ", "empty"},
        {"\"\"", "empty"},
        {std::string(256, 'k'), "longer than 255"},
        {"a b", "spaces"},
        {"\"a b\"", "spaces"},
        {"a,b", "quoted"},
        {"a\"b", "quoted"},
        {"a;q=1", "quoted"},
        {"\"a\";q=1", "parameters"},
        {"\"a\", \"b\"", "nothing after"},
        {"\"a", "closing"},
        {"\"a\\", "closing"},
        {"\"a\\n\"", "escape"},
        {"k\x01", "visible"},
        {"k\x7f", "visible"},
        {"k\xc3\xa9", "visible"},
        {std::string("k\0z", 3), "visible"},
    };
    for (const auto& [value, reason] : cases) {
        const auto key = parse_idempotency_key(value);
        ASSERT_FALSE(key.has_value()) << value;
        EXPECT_EQ(key.error().fault, Fault::rejected) << value;
        EXPECT_NE(key.error().message.find(reason), std::string::npos) << value << ": " << key.error().message;
    }
}

TEST(IdempotencyHeader, MeasuresTheKeyAndNotItsQuotes) {
    EXPECT_TRUE(parse_idempotency_key("\"" + std::string(255, 'k') + "\"").has_value());
    EXPECT_TRUE(parse_idempotency_key("12345678", 8).has_value());
    EXPECT_FALSE(parse_idempotency_key("123456789", 8).has_value());
}

TEST(IdempotencyHeader, RefusesTwoFieldsEvenIfTheyAgree) {
    EXPECT_EQ(idempotency_key({}).value(), std::nullopt);
    EXPECT_EQ(idempotency_key({{"idempotency-key", "k"}}).value(), "k");
    const auto twice = idempotency_key({{"Idempotency-Key", "k"}, {"idempotency-key", "k"}});
    ASSERT_FALSE(twice.has_value());
    EXPECT_NE(twice.error().message.find("once"), std::string::npos);
}

}  // namespace
}  // namespace semel::http
