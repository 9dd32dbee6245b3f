#include "semel/db/value.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::chrono;

TEST(Timestamps, AreWrittenInUtcWithMicroseconds) {
    const Timestamp when =
        Timestamp(sys_days(year(2026) / 1 / 31)) + hours(23) + minutes(59) + seconds(59) + microseconds(1);
    EXPECT_EQ(timestamp_text(when), "2026-01-31T23:59:59.000001Z");
}

TEST(Timestamps, BeforeTheEpochKeepTheirDay) {
    EXPECT_EQ(timestamp_text(Timestamp(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(Timestamps, ReadBackWhatWasWritten) {
    for (const std::int64_t micros : {0L, 1L, -1L, 1'800'000'000'123'456L, -62'135'596'800'000'000L}) {
        const Timestamp when{microseconds(micros)};
        const auto read = parse_timestamp(timestamp_text(when));
        ASSERT_TRUE(read) << timestamp_text(when);
        EXPECT_EQ(*read, when);
    }
}

TEST(Timestamps, InPostgresFormAndAnyOffsetMeanTheSameInstant) {
    const auto expected = parse_timestamp("2026-06-01T12:00:00.500000Z");
    ASSERT_TRUE(expected);
    for (const char* text : {"2026-06-01 12:00:00.5+00", "2026-06-01 14:00:00.5+02", "2026-06-01 17:30:00.5+05:30",
                             "2026-06-01 08:30:00.50-0330", "2026-06-01t12:00:00.5z", "2026-06-01 12:00:00.5"}) {
        const auto read = parse_timestamp(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(*read, *expected) << text;
    }
}

TEST(Timestamps, ThatDoNotExistAreRefused) {
    for (const char* text :
         {"", "2026", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
          "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567Z", "2026-01-01T00:00:00+1",
          "2026-01-01T00:00:00Zx", "infinity", "-026-01-01T00:00:00Z", "2026-01-01X00:00:00Z", "2026--1-01T00:00:00Z"})
        EXPECT_FALSE(parse_timestamp(text)) << text;
}

TEST(Parameters, KeepTheTypeOfTheirValue) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(parameter(nullptr)));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(parameter(std::optional<int>())));
    EXPECT_EQ(std::get<std::int64_t>(parameter(std::optional<int>(7))), 7);
    EXPECT_EQ(std::get<bool>(parameter(true)), true);
    EXPECT_EQ(std::get<std::int64_t>(parameter(static_cast<unsigned char>(200))), 200);
    EXPECT_EQ(std::get<double>(parameter(1.5F)), 1.5);
    EXPECT_EQ(std::get<std::string_view>(parameter("text")), "text");
    EXPECT_EQ(std::get<JsonView>(parameter(Json{"{}"})).text, "{}");
    EXPECT_EQ(std::get<BytesView>(parameter(Bytes(3))).size(), 3U);
    EXPECT_EQ(std::get<BytesView>(parameter(Digest{})).size(), 32U);
    EXPECT_EQ(std::get<Decimal>(parameter(Decimal(3))), Decimal(3));
    EXPECT_EQ(std::get<Uuid>(parameter(Uuid{})), Uuid{});
    EXPECT_EQ(std::get<Timestamp>(parameter(sys_days(year(2026) / 1 / 1))), Timestamp(sys_days(year(2026) / 1 / 1)));
}

}  // namespace
}  // namespace semel
