#include "semel/postgres/decode.hpp"

#include "semel/base/assert.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace semel::postgres {
namespace {

constexpr Oid bytea_oid = 17;  // pg_type.dat; it has never changed.

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

/// About how much the fields take once they are read.
std::size_t bytes_in(const PGresult* result) noexcept {
    std::size_t total = 0;
    for (int column = 0; column < PQnfields(result); ++column) {
        std::size_t size = 0;
        for (int row = 0; row < PQntuples(result); ++row)
            size += static_cast<std::size_t>(PQgetlength(result, row, column));
        total += PQftype(result, column) == bytea_oid ? size / 2 : size;
    }
    return total;
}

}  // namespace

Rows rows_from(const PGresult* result) {
    Rows rows;
    const int columns = PQnfields(result);
    const int count = PQntuples(result);
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) names.emplace_back(PQfname(result, column));
    rows.set_columns(std::move(names));

    // PQcmdTuples takes a pointer to non-const for no reason of its own.
    const std::string_view affected = PQcmdTuples(const_cast<PGresult*>(result));
    std::int64_t number = 0;
    std::from_chars(affected.data(), affected.data() + affected.size(), number);
    rows.set_affected(number);

    if (count > 0) rows.reserve(static_cast<std::size_t>(count), bytes_in(result));
    for (int row = 0; row < count; ++row) {
        for (int column = 0; column < columns; ++column) {
            const std::string_view text(PQgetvalue(result, row, column),
                                        static_cast<std::size_t>(PQgetlength(result, row, column)));
            if (text.empty() && PQgetisnull(result, row, column) == 1) {
                rows.add_null();
                continue;
            }
            if (PQftype(result, column) == bytea_oid)
                add_bytea(rows, text);
            else
                rows.add_text(text);
        }
    }
    return rows;
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
