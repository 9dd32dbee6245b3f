#include "semel/db/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace semel {
namespace {

Rows with_columns(std::initializer_list<std::string_view> names) {
    Rows rows;
    for (const std::string_view name : names) rows.add_column(name);
    return rows;
}

/// One row with the given text fields, as PostgreSQL sends them.
Rows text_row(std::initializer_list<std::string_view> names, const std::vector<std::string>& fields) {
    Rows rows = with_columns(names);
    for (const auto& field : fields) rows.add_text(field);
    return rows;
}

TEST(Rows, AreEmptyUntilFilled) {
    const Rows rows;
    EXPECT_TRUE(rows.empty());
    EXPECT_EQ(rows.size(), 0U);
    EXPECT_FALSE(rows.scalar<std::int64_t>());
    const Rows named = with_columns({"a", "b"});
    EXPECT_TRUE(named.empty());
    EXPECT_EQ(named.size(), 0U);
    Rows from = text_row({"a"}, {"1"});
    const Rows into = std::move(from);
    EXPECT_EQ(into.size(), 1U);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(from.size(), 0U);
}

TEST(Rows, ReadEveryTypeFromText) {
    const Rows rows = text_row({"a", "b", "c", "d", "e", "f", "g", "h"},
                               {"-42", "t", "1.5", "12.50", "text", "0190163d-8694-739b-aea5-966c26f8ad91",
                                "2026-01-31 23:59:59.5+00", "{\"x\": 1}"});
    const Row row = rows.front();
    EXPECT_EQ(row.get<std::int64_t>("a").value(), -42);
    EXPECT_EQ(row.get<std::int32_t>("a").value(), -42);
    EXPECT_EQ(row.get<bool>("b").value(), true);
    EXPECT_EQ(row.get<double>("c").value(), 1.5);
    EXPECT_EQ(row.get<Decimal>("d").value().text(), "12.50");
    EXPECT_EQ(row.get<std::string>("e").value(), "text");
    EXPECT_EQ(row.get<Uuid>("f").value().text(), "0190163d-8694-739b-aea5-966c26f8ad91");
    EXPECT_EQ(timestamp_text(row.get<Timestamp>("g").value()), "2026-01-31T23:59:59.500000Z");
    EXPECT_EQ(row.get<Json>("h").value().text, "{\"x\": 1}");
}

TEST(Rows, ReadEveryTypeFromStorageClasses) {
    Rows rows = with_columns({"i", "r", "b", "n"});
    rows.add_integer(1);
    rows.add_real(0.25);
    rows.add_blob(bytes_of(std::string_view("\0x", 2)));
    rows.add_null();
    const Row row = rows.front();
    EXPECT_EQ(row.get<std::int64_t>(0).value(), 1);
    EXPECT_EQ(row.get<bool>(0).value(), true);
    EXPECT_EQ(row.get<Decimal>(0).value(), Decimal(1));
    EXPECT_EQ(row.get<double>(1).value(), 0.25);
    EXPECT_EQ(row.get<Bytes>(2).value().size(), 2U);
    EXPECT_EQ(row.get<std::optional<std::int64_t>>(3).value(), std::nullopt);
    EXPECT_EQ(row.get<std::optional<std::int64_t>>(0).value(), 1);
}

TEST(Rows, ReadBytesInPlaceAndTellEmptyFromNull) {
    Rows rows = with_columns({"copied", "filled", "empty", "null", "text"});
    rows.add_blob(bytes_of(std::string_view("\0x", 2)));
    std::ranges::fill(rows.add_blob_to_fill(3), std::byte{7});
    EXPECT_TRUE(rows.add_blob_to_fill(0).empty());
    rows.add_null();
    rows.add_text("text");
    const Row row = rows.front();
    EXPECT_EQ(hex(row.get<BytesView>("copied").value()), "0078");
    EXPECT_EQ(hex(row.get<BytesView>("filled").value()), "070707");
    EXPECT_EQ(row.get<Bytes>("filled").value().size(), 3U);
    EXPECT_TRUE(row.get<BytesView>("empty").value().empty());
    EXPECT_FALSE(row.get<BytesView>("null"));
    EXPECT_FALSE(row.get<std::optional<BytesView>>("null").value());
    const auto text = row.get<BytesView>("text");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().message, "column text: is not bytes");
}

TEST(Rows, NameTheColumnThatCouldNotBeRead) {
    Rows rows = text_row({"amount", "missing"}, {"many"});
    rows.add_null();
    const auto amount = rows.front().get<std::int64_t>("amount");
    ASSERT_FALSE(amount);
    EXPECT_EQ(amount.error().fault, Fault::broken);
    EXPECT_EQ(amount.error().message, "column amount: is not a whole number");
    const auto missing = rows.front().get<std::string>("missing");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "column missing: is NULL; read it as std::optional where NULL may occur");
}

TEST(Rows, RefuseNumbersThatDoNotFit) {
    const Rows rows = text_row({"n"}, {"2147483648"});
    EXPECT_TRUE(rows.front().get<std::int64_t>(0));
    EXPECT_FALSE(rows.front().get<std::int32_t>(0));
    EXPECT_FALSE(text_row({"n"}, {"9223372036854775808"}).front().get<std::int64_t>(0));
    EXPECT_FALSE(text_row({"n"}, {"1 "}).front().get<std::int64_t>(0));
}

TEST(Rows, OfManyColumnsKeepTheirPlaces) {
    Rows rows = with_columns({"id", "name"});
    for (int i = 0; i < 3; ++i) {
        rows.add_integer(i);
        rows.add_text(std::string(static_cast<std::size_t>(i), 'x'));
    }
    std::int64_t expected = 0;
    for (const Row row : rows) {
        EXPECT_EQ(row.get<std::int64_t>("id").value(), expected);
        EXPECT_EQ(row.get<std::string_view>("name").value().size(), static_cast<std::size_t>(expected));
        ++expected;
    }
    EXPECT_EQ(expected, 3);
}

TEST(RowsDeathTest, AskedForAColumnTheyDoNotHaveStopTheProgram) {
    const Rows rows = text_row({"a"}, {"1"});
    EXPECT_DEATH((void)rows.front().get<std::int64_t>("b"), "no column of that name");
}

}  // namespace
}  // namespace semel
