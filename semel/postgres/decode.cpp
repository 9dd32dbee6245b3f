#include "semel/postgres/decode.hpp"

#include "semel/base/assert.hpp"
#include "semel/base/id.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

namespace semel::postgres {
namespace {

// Types by their numbers in pg_type.dat, which have never changed.
constexpr Oid bool_oid = 16;
constexpr Oid bytea_oid = 17;
constexpr Oid int8_oid = 20;
constexpr Oid int2_oid = 21;
constexpr Oid int4_oid = 23;
constexpr Oid text_oid = 25;
constexpr Oid json_oid = 114;
constexpr Oid varchar_oid = 1043;
constexpr Oid uuid_oid = 2950;

/// What a hexadecimal digit stands for. Without a branch or a table, so that the compiler takes many at a time: the low
/// bits of '0' to '9' are the value, those of 'a' to 'f' begin with one, and only letters have the seventh bit.
constexpr unsigned char nibble(unsigned char digit) noexcept {
    return static_cast<unsigned char>((digit & 0x0fU) + 9U * (digit >> 6U));
}
static_assert(nibble('0') == 0 && nibble('9') == 9 && nibble('a') == 10 && nibble('f') == 15);

/// A bytea in its text form: "\x" and digits, or, where bytea_output says so, the older escapes,
/// which never start with "\x" because they double each backslash.
void add_bytea(Rows& rows, std::string_view text) {
    if (text.starts_with("\\x")) {
        text.remove_prefix(2);
        const std::span<std::byte> bytes = rows.add_blob_to_fill(text.size() / 2);
        const auto* digits = reinterpret_cast<const unsigned char*>(text.data());
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(nibble(digits[2 * i]) << 4U | nibble(digits[2 * i + 1]));
        return;
    }
    std::size_t size = 0;
    unsigned char* bytes = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text.data()), &size);
    SEMEL_ASSERT(bytes != nullptr);
    rows.add_blob(std::as_bytes(std::span(bytes, size)));
    PQfreemem(bytes);
}

/// A whole number as the server keeps it: its first byte is the highest.
template <class Number>
std::int64_t number_from(std::string_view bytes) {
    SEMEL_ASSERT(bytes.size() == sizeof(Number));
    std::uint64_t number = 0;
    for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
    return static_cast<Number>(number);
}

Uuid uuid_from(std::string_view bytes) {
    Uuid uuid;
    SEMEL_ASSERT(bytes.size() == uuid.bytes.size());
    std::ranges::copy(std::as_bytes(std::span(bytes)), uuid.bytes.begin());
    return uuid;
}

void add_binary(Rows& rows, Oid type, std::string_view bytes) {
    switch (type) {
        case bool_oid: return rows.add_integer(number_from<std::int8_t>(bytes));
        case int2_oid: return rows.add_integer(number_from<std::int16_t>(bytes));
        case int4_oid: return rows.add_integer(number_from<std::int32_t>(bytes));
        case int8_oid: return rows.add_integer(number_from<std::int64_t>(bytes));
        case text_oid:
        case json_oid:
        case varchar_oid: return rows.add_text(bytes);
        case uuid_oid: return rows.add_text(uuid_from(bytes).text());
        default: SEMEL_ASSERT(type == bytea_oid); return rows.add_blob(std::as_bytes(std::span(bytes)));
    }
}

void add_text(Rows& rows, Oid type, std::string_view text) {
    switch (type) {
        case bool_oid: return rows.add_integer(text == "t" ? 1 : 0);
        case int2_oid:
        case int4_oid:
        case int8_oid: {
            std::int64_t number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            return rows.add_integer(number);
        }
        case bytea_oid: return add_bytea(rows, text);
        default: return rows.add_text(text);
    }
}

/// About how much names and fields take once they are read.
std::size_t bytes_in(const PGresult* result, int columns, int count) noexcept {
    constexpr std::size_t name_bytes = 24;  // Of most.
    std::size_t total = static_cast<std::size_t>(columns) * name_bytes;
    for (int row = 0; row < count; ++row)
        for (int column = 0; column < columns; ++column)
            total += static_cast<std::size_t>(PQgetlength(result, row, column));
    return total;
}

}  // namespace

Rows rows_from(const PGresult* result) {
    Rows rows;
    const int columns = PQnfields(result);
    const int count = PQntuples(result);
    // PQcmdTuples takes a pointer to non-const for no reason of its own.
    const std::string_view affected = PQcmdTuples(const_cast<PGresult*>(result));
    std::int64_t number = 0;
    std::from_chars(affected.data(), affected.data() + affected.size(), number);
    rows.set_affected(number);
    if (columns == 0) return rows;

    rows.reserve(static_cast<std::size_t>(columns), static_cast<std::size_t>(count), bytes_in(result, columns, count));
    for (int column = 0; column < columns; ++column) rows.add_column(PQfname(result, column));
    // One form holds for all fields of an answer.
    const auto add = PQbinaryTuples(result) == 1 ? &add_binary : &add_text;
    for (int row = 0; row < count; ++row) {
        for (int column = 0; column < columns; ++column) {
            const std::string_view field(PQgetvalue(result, row, column),
                                         static_cast<std::size_t>(PQgetlength(result, row, column)));
            if (field.empty() && PQgetisnull(result, row, column) == 1)
                rows.add_null();
            else
                add(rows, PQftype(result, column), field);
        }
    }
    return rows;
}

bool readable_in_binary(const PGresult* result) noexcept {
    for (int column = 0; column < PQnfields(result); ++column) {
        switch (PQftype(result, column)) {
            case bool_oid:
            case bytea_oid:
            case int2_oid:
            case int4_oid:
            case int8_oid:
            case text_oid:
            case json_oid:
            case varchar_oid:
            case uuid_oid: break;
            default: return false;
        }
    }
    return true;
}

std::string_view field_of(const PGresult* result, int column, int row) noexcept {
    if (row >= PQntuples(result) || column >= PQnfields(result)) return {};
    return {PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column))};
}

bool succeeded(const PGresult* result) noexcept {
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

}  // namespace semel::postgres
