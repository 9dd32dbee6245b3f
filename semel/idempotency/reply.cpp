#include "semel/idempotency/reply.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace semel {
namespace {

constexpr std::array<std::string_view, 6> allowed{"content-type", "location",      "content-location",
                                                  "etag",         "last-modified", "link"};
constexpr std::string_view separator = ": ";

/// What every field of HTTP can carry.
bool is_sendable(char c) noexcept { return (c >= ' ' && c <= '~') || c == '\t'; }

bool same(std::string_view name, std::string_view lower) noexcept {
    return std::ranges::equal(name, lower, [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

}  // namespace

bool replayable_header(std::string_view name) noexcept {
    return std::ranges::any_of(allowed, [name](std::string_view lower) { return same(name, lower); });
}

Result<std::string> encode_headers(const std::vector<ReplyHeader>& headers) {
    std::string text;
    for (const auto& [name, value] : headers) {
        if (!replayable_header(name)) continue;
        if (!std::ranges::all_of(value, is_sendable))
            return fail(Fault::broken, "the header " + name + " of a reply holds more than printable ASCII");
        text.append(name).append(separator).append(value).push_back('\n');
    }
    return text;
}

Result<std::vector<ReplyHeader>> decode_headers(std::string_view text) {
    std::vector<ReplyHeader> headers;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        // Other programs write them too, and may leave the blank out.
        const auto at = line.find(':');
        if (at == std::string_view::npos || at == 0 || !std::ranges::all_of(line, is_sendable))
            return fail(Fault::broken, "the stored headers of a reply are damaged");
        std::string_view value = line.substr(at + 1);
        if (value.starts_with(' ')) value.remove_prefix(1);
        headers.push_back({.name = std::string(line.substr(0, at)), .value = std::string(value)});
    }
    return headers;
}

}  // namespace semel
