#include "semel/http/message.hpp"

#include "semel/base/assert.hpp"

#include <algorithm>

namespace semel::http {
namespace {

constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

constexpr bool is_token_character(char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

constexpr bool is_value_character(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && std::ranges::equal(a, b, {}, lower, lower);
}

bool is_field_name(std::string_view name) noexcept {
    return !name.empty() && std::ranges::all_of(name, is_token_character);
}

bool is_field_value(std::string_view value) noexcept { return std::ranges::all_of(value, is_value_character); }

std::optional<std::string_view> Headers::find(std::string_view name) const noexcept {
    for (const Field& field : fields_) {
        if (same_name(field.name, name)) return field.value;
    }
    return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
    std::vector<std::string_view> values;
    for (const Field& field : fields_) {
        if (same_name(field.name, name)) values.emplace_back(field.value);
    }
    return values;
}

std::size_t Headers::count(std::string_view name) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(fields_, [name](const Field& field) { return same_name(field.name, name); }));
}

void Headers::set(std::string_view name, std::string value) {
    const auto same = [name](const Field& field) { return same_name(field.name, name); };
    const auto first = std::ranges::find_if(fields_, same);
    if (first == fields_.end()) return add(std::string(name), std::move(value));
    first->value = std::move(value);
    fields_.erase(std::remove_if(first + 1, fields_.end(), same), fields_.end());
}

std::size_t Headers::remove(std::string_view name) {
    return std::erase_if(fields_, [name](const Field& field) { return same_name(field.name, name); });
}

std::optional<std::string_view> Request::parameter(std::string_view name) const noexcept {
    const auto found = std::ranges::find(query, name, &Parameter::first);
    if (found == query.end()) return std::nullopt;
    return found->second;
}

const std::string& Request::variable(std::string_view name) const noexcept {
    const auto found = std::ranges::find(variables, name, &Parameter::first);
    SEMEL_ASSERT(found != variables.end());
    return found->second;
}

}  // namespace semel::http
