#include "semel/idempotency/reply.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace semel {
namespace {

constexpr std::array<std::string_view, 6> allowed{"content-type", "location",      "content-location",
                                                  "etag",         "last-modified", "link"};
constexpr std::string_view separator = ": ";
constexpr std::string_view line_breaks("\r\n\0", 3);

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
        if (value.find_first_of(line_breaks) != std::string::npos)
            return fail(Fault::broken, "the header " + name + " of a reply holds a line break");
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
        const auto at = line.find(separator);
        if (at == std::string_view::npos || at == 0 || line.find_first_of(line_breaks) != std::string_view::npos)
            return fail(Fault::broken, "the stored headers of a reply are damaged");
        headers.push_back(
            {.name = std::string(line.substr(0, at)), .value = std::string(line.substr(at + separator.size()))});
    }
    return headers;
}

}  // namespace semel
