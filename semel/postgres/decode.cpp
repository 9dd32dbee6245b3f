#include "semel/postgres/decode.hpp"

#include "semel/base/assert.hpp"

#include <libpq-fe.h>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace semel::postgres {
namespace {

constexpr Oid bytea_oid = 17;  // pg_type.dat; it has never changed.

unsigned nibble(char digit) noexcept { return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/// A bytea in its text form: "\x" and digits, or, where bytea_output says so, the older escapes,
/// which never start with "\x" because they double each backslash.
void add_bytea(Rows& rows, std::string_view text, Bytes& scratch) {
    scratch.clear();
    if (text.starts_with("\\x")) {
        scratch.reserve(text.size() / 2);
        for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
            scratch.push_back(static_cast<std::byte>(nibble(text[i]) << 4U | nibble(text[i + 1])));
        }
        rows.add_blob(scratch);
        return;
    }
    std::size_t size = 0;
    unsigned char* bytes = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text.data()), &size);
    SEMEL_ASSERT(bytes != nullptr);
    rows.add_blob(std::as_bytes(std::span(bytes, size)));
    PQfreemem(bytes);
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

    if (count > 0) rows.reserve(static_cast<std::size_t>(count), 0);
    Bytes scratch;
    for (int row = 0; row < count; ++row) {
        for (int column = 0; column < columns; ++column) {
            if (PQgetisnull(result, row, column) == 1) {
                rows.add_null();
                continue;
            }
            const std::string_view text = field_of(result, column, row);
            if (PQftype(result, column) == bytea_oid)
                add_bytea(rows, text, scratch);
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
