#include "semel/http/idempotency_header.hpp"

#include <algorithm>

namespace semel::http {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

constexpr bool is_visible(char c) noexcept { return c > ' ' && c < '\x7f'; }

tl::unexpected<Error> refuse(std::string_view what) {
    return fail(Fault::rejected, std::string(idempotency_key_header) + " " + std::string(what));
}

/// What stands between the quotation marks of a structured-field string.
Result<std::string> unquote(std::string_view text) {
    std::string key;
    for (std::size_t i = 1; i < text.size(); ++i) {
        char c = text[i];
        if (c == '"') {
            if (i + 1 == text.size()) return key;
            return refuse(text[i + 1] == ';' ? "must not carry parameters after the quoted key"
                                             : "must be one quoted key and nothing after it");
        }
        if (c == '\\') {
            if (++i == text.size()) break;
            c = text[i];
            if (c != '"' && c != '\\') return refuse("may escape only quotation marks and backslashes");
        }
        key.push_back(c);
    }
    return refuse("lacks its closing quotation mark");
}

}  // namespace

Result<std::string> parse_idempotency_key(std::string_view value, std::size_t size_max) {
    value = trimmed(value);
    const bool quoted = value.starts_with('"');
    std::string key = quoted ? SEMEL_TRY(unquote(value)) : std::string(value);
    if (key.empty()) return refuse("must not be empty");
    if (key.size() > size_max) return refuse("must not be longer than " + std::to_string(size_max) + " characters");
    if (!std::ranges::all_of(key, is_visible))
        return refuse("must consist of visible ASCII characters, without spaces");
    if (!quoted && key.find_first_of(",\"") != std::string::npos) {
        return refuse("must be quoted if it holds commas or quotation marks");
    }
    if (!quoted && key.find(';') != std::string::npos) return refuse("must be quoted if it holds semicolons");
    return key;
}

Result<std::optional<std::string>> idempotency_key(const Headers& headers, std::size_t size_max) {
    const auto value = headers.find(idempotency_key_header);
    if (!value) return std::optional<std::string>();
    if (headers.count(idempotency_key_header) > 1) return refuse("must be given once");
    return std::optional(SEMEL_TRY(parse_idempotency_key(*value, size_max)));
}

}  // namespace semel::http
