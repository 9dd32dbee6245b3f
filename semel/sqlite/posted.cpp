#include "semel/sqlite/posted.hpp"

#include <algorithm>
#include <cstring>

namespace semel::sqlite {

std::string_view Posted::keep(std::string_view bytes) {
    if (bytes.empty()) return {};
    auto* copy = static_cast<char*>(texts_.allocate(bytes.size(), 1));
    std::memcpy(copy, bytes.data(), bytes.size());
    return {copy, bytes.size()};
}

void Posted::add(const Statement& statement) {
    entries_.push_back({.sql = statement.sql,
                        .first = values_.size(),
                        .count = statement.parameters.size(),
                        .expected_rows = statement.expected_rows});
    for (Parameter value : statement.parameters) {
        if (auto* text = std::get_if<std::string_view>(&value)) {
            *text = keep(*text);
        } else if (auto* json = std::get_if<JsonView>(&value)) {
            json->text = keep(json->text);
        } else if (auto* bytes = std::get_if<BytesView>(&value)) {
            *bytes = bytes_of(keep({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
        }
        values_.push_back(value);
    }
}

void Posted::add_ahead(const Statement& statement) {
    add(statement);
    std::rotate(entries_.begin(), entries_.end() - 1, entries_.end());
}

void Posted::clear() noexcept {
    entries_.clear();
    values_.clear();
    texts_.release();
}

Statement Posted::operator[](std::size_t index) const noexcept {
    const Entry& entry = entries_[index];
    return {.sql = entry.sql,
            .parameters = std::span(values_).subspan(entry.first, entry.count),
            .expected_rows = entry.expected_rows};
}

}  // namespace semel::sqlite
