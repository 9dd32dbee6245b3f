#include "semel/sqlite/encode.hpp"

#include "semel/sqlite/statement_cache.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace semel::sqlite {
namespace {

/// Binds one value to one place.
struct Binder {
    sqlite3_stmt* statement;
    int slot;

    int operator()(std::monostate) const { return sqlite3_bind_null(statement, slot); }
    int operator()(bool value) const { return sqlite3_bind_int64(statement, slot, value ? 1 : 0); }
    int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, slot, value); }
    int operator()(double value) const { return sqlite3_bind_double(statement, slot, value); }
    int operator()(std::string_view text) const { return borrow(text); }
    int operator()(JsonView json) const { return borrow(json.text); }
    int operator()(const Decimal& value) const { return copy(value.text()); }
    int operator()(const Uuid& value) const { return copy(value.text()); }
    int operator()(Timestamp value) const { return copy(timestamp_text(value)); }
    int operator()(BytesView bytes) const {
        // A null pointer would mean NULL, and an empty span may have one.
        if (bytes.empty()) return sqlite3_bind_zeroblob(statement, slot, 0);
        return sqlite3_bind_blob64(statement, slot, bytes.data(), bytes.size(), SQLITE_STATIC);
    }

    int borrow(std::string_view text) const {
        const char* data = text.empty() ? "" : text.data();
        return sqlite3_bind_text64(statement, slot, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int copy(const std::string& text) const {
        return sqlite3_bind_text64(statement, slot, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
};

Status acceptable(const Parameter& value, int number) {
    std::string_view text;
    if (const auto* plain = std::get_if<std::string_view>(&value)) text = *plain;
    if (const auto* json = std::get_if<JsonView>(&value)) text = json->text;
    if (text.find('\0') != std::string_view::npos)
        return fail(Fault::rejected, fmt::format("value ${} holds a NUL character; pass it as bytes", number));
    if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isnan(*real))
        return fail(Fault::rejected, fmt::format("value ${} is not a number, which SQLite cannot store", number));
    return {};
}

}  // namespace

Status bind_values(const Prepared& prepared, std::span<const Parameter> values) {
    if (std::cmp_not_equal(prepared.number_max, values.size()))
        return fail(Fault::rejected,
                    fmt::format("the statement takes {} values and got {}", prepared.number_max, values.size()));
    for (std::size_t place = 0; place < prepared.numbers.size(); ++place) {
        const int number = prepared.numbers[place];
        const Parameter& value = values[static_cast<std::size_t>(number) - 1];
        SEMEL_TRY(acceptable(value, number));
        const int code = std::visit(Binder{prepared.handle.get(), static_cast<int>(place) + 1}, value);
        if (code == SQLITE_TOOBIG)
            return fail(Fault::rejected, fmt::format("value ${} is larger than SQLite can store", number));
        SEMEL_ASSERT(code == SQLITE_OK && "a value could not be bound");
    }
    return {};
}

void add_columns(sqlite3_stmt* statement, Rows& rows) {
    const int count = sqlite3_column_count(statement);
    for (int column = 0; column < count; ++column) rows.add_column(sqlite3_column_name(statement, column));
}

void add_row(sqlite3_stmt* statement, Rows& rows) {
    const int count = sqlite3_column_count(statement);
    for (int column = 0; column < count; ++column) {
        switch (sqlite3_column_type(statement, column)) {
            case SQLITE_INTEGER: rows.add_integer(sqlite3_column_int64(statement, column)); break;
            case SQLITE_FLOAT: rows.add_real(sqlite3_column_double(statement, column)); break;
            case SQLITE_TEXT: {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
                rows.add_text({text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
                break;
            }
            case SQLITE_BLOB: {
                const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement, column));
                rows.add_blob({bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
                break;
            }
            default: rows.add_null(); break;
        }
    }
}

}  // namespace semel::sqlite
