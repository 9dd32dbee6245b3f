#include "semel/base/media_type.hpp"

#include <algorithm>

namespace semel {
namespace {

char small(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool same_name(std::string_view a, std::string_view b) noexcept { return std::ranges::equal(a, b, {}, small, small); }

/// Takes a quoted string, whose opening quote is gone already, off the front; none if it never ends.
std::optional<std::string> take_quoted(std::string_view& rest) {
    std::string value;
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return value;
        }
        if (rest[i] == '\\' && ++i == rest.size()) break;
        value.push_back(rest[i]);
    }
    return std::nullopt;
}

}  // namespace

std::string media_type_essence(std::string_view content_type) {
    std::string essence(trimmed(content_type.substr(0, content_type.find(';'))));
    std::ranges::transform(essence, essence.begin(), small);
    return essence;
}

bool is_json(std::string_view essence) noexcept {
    return essence == "application/json" || (essence.ends_with("+json") && essence.contains('/'));
}

bool is_multipart(std::string_view essence) noexcept { return essence.starts_with("multipart/"); }

std::optional<std::string> media_type_parameter(std::string_view content_type, std::string_view name) {
    std::size_t semicolon = content_type.find(';');
    std::string_view rest = content_type;
    while (semicolon != std::string_view::npos) {
        rest.remove_prefix(semicolon + 1);
        const std::size_t sign = rest.find_first_of("=;");
        if (sign == std::string_view::npos) return std::nullopt;
        if (rest[sign] == ';') {  // An empty parameter, as in `text/plain; ; charset=utf-8`.
            semicolon = sign;
            continue;
        }
        const std::string_view found = trimmed(rest.substr(0, sign));
        rest.remove_prefix(sign + 1);
        std::string value;
        if (rest.starts_with('"')) {
            rest.remove_prefix(1);
            auto quoted = take_quoted(rest);
            if (!quoted) return std::nullopt;
            value = *std::move(quoted);
        } else {
            value = trimmed(rest.substr(0, rest.find(';')));
        }
        if (same_name(found, name)) return value;
        semicolon = rest.find(';');
    }
    return std::nullopt;
}

}  // namespace semel
