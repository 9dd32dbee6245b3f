#include "semel/sqlite/constraint_name.hpp"

#include "semel/sqlite/handle.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace semel::sqlite {
namespace {

constexpr std::string_view index_of_columns =
    "SELECT list.name, list.origin FROM pragma_index_list($1) AS list"
    " WHERE list.\"unique\" AND (SELECT group_concat(name, ', ')"
    "   FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) = $2"
    " ORDER BY list.seq";

/// "t.a, t.b" taken apart.
struct Columns {
    std::string table;
    std::vector<std::string> names;
};

Columns columns_of(std::string_view list) {
    Columns columns;
    while (!list.empty()) {
        const std::string_view item = list.substr(0, list.find(", "));
        list.remove_prefix(std::min(list.size(), item.size() + 2));
        const auto dot = item.find('.');
        if (dot == std::string_view::npos) return {};
        columns.table = item.substr(0, dot);
        columns.names.emplace_back(item.substr(dot + 1));
    }
    return columns;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text.append(between);
        text.append(part);
    }
    return text;
}

/// The name of an index that was made by CREATE UNIQUE INDEX, or empty.
std::string created_index(sqlite3* database, const Columns& columns) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database, index_of_columns.data(), static_cast<int>(index_of_columns.size()), &raw,
                           nullptr) != SQLITE_OK)
        return {};
    const StatementHandle query(raw);
    const std::string names = joined(columns.names, ", ");
    sqlite3_bind_text(raw, 1, columns.table.c_str(), -1, SQLITE_STATIC);
    sqlite3_bind_text(raw, 2, names.c_str(), -1, SQLITE_STATIC);
    while (sqlite3_step(raw) == SQLITE_ROW) {
        const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
        const auto* origin = reinterpret_cast<const char*>(sqlite3_column_text(raw, 1));
        if (name != nullptr && origin != nullptr && std::string_view(origin) == "c") return name;
    }
    return {};
}

bool is_identifier(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

}  // namespace

std::string constraint_name(sqlite3* database, int extended_code, std::string_view said) {
    const auto colon = said.find(": ");
    if (colon == std::string_view::npos) return {};
    const std::string_view subject = said.substr(colon + 2);
    switch (extended_code) {
        case SQLITE_CONSTRAINT_PRIMARYKEY:
        case SQLITE_CONSTRAINT_ROWID: {
            const Columns columns = columns_of(subject);
            return columns.table.empty() ? std::string() : columns.table + "_pkey";
        }
        case SQLITE_CONSTRAINT_UNIQUE: {
            // An index over expressions is named outright: index 'name'.
            constexpr std::string_view by_name = "index '";
            if (subject.starts_with(by_name) && subject.ends_with('\''))
                return std::string(subject.substr(by_name.size(), subject.size() - by_name.size() - 1));
            const Columns columns = columns_of(subject);
            if (columns.table.empty()) return {};
            std::string created = created_index(database, columns);
            return created.empty() ? columns.table + "_" + joined(columns.names, "_") + "_key" : created;
        }
        case SQLITE_CONSTRAINT_CHECK:
            // Without a name SQLite tells the expression instead.
            return is_identifier(subject) ? std::string(subject) : std::string();
        default: return {};
    }
}

}  // namespace semel::sqlite
