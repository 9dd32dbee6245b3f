#pragma once

#include "semel/base/result.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

struct ReplyHeader {
    std::string name;
    std::string value;
    friend bool operator==(const ReplyHeader&, const ReplyHeader&) = default;
};

/// What a command answers, and what a repeat of it gets byte for byte.
struct Reply {
    int status = 200;
    std::string body{};
    /// Only what may be replayed: see `replayable_header`.
    std::vector<ReplyHeader> headers{};
    friend bool operator==(const Reply&, const Reply&) = default;
};

/// Whether a header is stored with a reply: Content-Type, Location, Content-Location, ETag, Last-Modified, Link.
/// Never Set-Cookie, Date or anything that was meant for one connection or one moment.
[[nodiscard]] bool replayable_header(std::string_view name) noexcept;

/// As stored: one `Name: value` per line. Headers that may not be replayed are left out; a value
/// that no HTTP field can carry (a line break would make two of it) is an Error (`broken`).
[[nodiscard]] Result<std::string> encode_headers(const std::vector<ReplyHeader>& headers);
/// Reads what `encode_headers` wrote, or another program through the SQL functions: lines may end as HTTP's do.
[[nodiscard]] Result<std::vector<ReplyHeader>> decode_headers(std::string_view text);

}  // namespace semel
