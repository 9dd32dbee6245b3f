#include "semel/postgres/encode.hpp"

#include "semel/postgres/limits.hpp"
#include "semel/postgres/statement_cache.hpp"

#include <gmock/gmock.h>

#include <array>
#include <limits>

namespace semel::postgres {
namespace {

std::string text_of(const Parameter& parameter) {
    Arena arena;
    const std::array one{parameter};
    const auto range = arena.add(one);
    EXPECT_TRUE(range);
    return arena.arguments(*range).values[0];
}

TEST(Encode, WritesEveryTypeAsTheServerReadsIt) {
    EXPECT_EQ(text_of(true), "t");
    EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(text_of(0.1), "0.1");
    EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "Infinity");
    EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "-Infinity");
    EXPECT_EQ(text_of(std::numeric_limits<double>::quiet_NaN()), "NaN");
    EXPECT_EQ(text_of(*Decimal::parse("12.50")), "12.50");
    EXPECT_EQ(text_of(*Uuid::parse("0190a8f0-0000-7000-8000-000000000001")), "0190a8f0-0000-7000-8000-000000000001");
    EXPECT_EQ(text_of(*parse_timestamp("2026-01-31T23:59:59.123456Z")), "2026-01-31T23:59:59.123456Z");
    EXPECT_EQ(text_of(JsonView{R"({"a":1})"}), R"({"a":1})");
}

TEST(Encode, SendsBytesAsTheyAreAndNullAsNothing) {
    Arena arena;
    const Bytes bytes{std::byte{0}, std::byte{255}, std::byte{0}};
    const std::array<Parameter, 2> parameters{Parameter(BytesView(bytes)), Parameter(std::monostate{})};
    const auto range = arena.add(parameters);
    ASSERT_TRUE(range);
    const Arguments arguments = arena.arguments(*range);
    EXPECT_EQ(arguments.count, 2);
    EXPECT_EQ(arguments.formats[0], 1);
    EXPECT_EQ(std::string(arguments.values[0], static_cast<std::size_t>(arguments.lengths[0])),
              std::string("\0\xff\0", 3));
    EXPECT_EQ(arguments.values[1], nullptr);
}

TEST(Encode, RefusesATextThatLibpqWouldCut) {
    Arena arena;
    const std::array<Parameter, 1> parameters{std::string_view("a\0b", 3)};
    const auto range = arena.add(parameters);
    ASSERT_FALSE(range);
    EXPECT_EQ(range.error().fault, Fault::rejected);
}

TEST(Encode, KeepsEveryStatementsParametersApart) {
    Arena arena;
    std::vector<Arena::Range> ranges;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const std::array<Parameter, 1> parameters{i};
        ranges.push_back(*arena.add(parameters, -i));
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Arguments arguments = arena.arguments(ranges[i]);
        EXPECT_EQ(arguments.values[0], std::to_string(i));
        EXPECT_EQ(arguments.values[1], i == 0 ? std::string("0") : "-" + std::to_string(i));
    }
}

TEST(StatementCache, DropsTheLeastRecentlyUsed) {
    StatementCache cache(2, "semel_a_");
    for (const char* text : {"one", "two", "one", "three"}) {
        auto& entry = cache.entry(text);
        if (entry.state != StatementCache::State::unprepared) continue;
        cache.start_preparing(entry);
        entry.state = StatementCache::State::prepared;
    }
    cache.trim();
    EXPECT_EQ(cache.size(), 2U);
    EXPECT_THAT(cache.take_dropped(), ::testing::ElementsAre("semel_a_1"));
    EXPECT_EQ(cache.entry("one").state, StatementCache::State::prepared);
    EXPECT_EQ(cache.entry("two").state, StatementCache::State::unprepared);
}

TEST(StatementCache, NeverUsesANameTwice) {
    StatementCache cache(256, "semel_a_");
    auto& entry = cache.entry("one");
    cache.start_preparing(entry);
    const std::string first = entry.name;
    entry.state = StatementCache::State::prepared;
    cache.forget_name(entry);
    EXPECT_THAT(cache.take_dropped(), ::testing::ElementsAre(first));
    cache.start_preparing(entry);
    EXPECT_NE(entry.name, first);
}

TEST(Limits, GiveAStatementNoMoreThanTheDeadlineLeaves) {
    const Instant now{std::chrono::hours(1)};
    TransactionOptions transaction;
    transaction.statement_timeout = std::chrono::seconds(30);
    const auto statement = [&](Duration left, bool coarse) {
        return limits_of(transaction, {}, Deadline::after(now, left), now, coarse).statement;
    };
    EXPECT_EQ(statement(std::chrono::seconds(60), false), 30'000);
    EXPECT_EQ(statement(std::chrono::milliseconds(1234), false), 1234);
    EXPECT_EQ(statement(Duration::zero(), false), 1);  // Zero would mean no limit at all.
    EXPECT_EQ(limits_of(transaction, {}, Deadline::never(), now, true).statement, 30'000);
}

TEST(Limits, SeldomChangeOnASession) {
    const Instant now{std::chrono::hours(1)};
    TransactionOptions transaction;
    std::int64_t before = 0;
    int changes = 0;
    for (int left = 60'000; left > 0; left -= 7) {
        const auto limits =
            limits_of(transaction, {}, Deadline::after(now, std::chrono::milliseconds(left)), now, true);
        EXPECT_GE(limits.statement, std::min(left, 30'000));
        if (limits.statement != before) ++changes;
        before = limits.statement;
    }
    EXPECT_LT(changes, 32);
}

}  // namespace
}  // namespace semel::postgres
