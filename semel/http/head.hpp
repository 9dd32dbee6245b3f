#pragma once

#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace semel::http {

/// Finds the end of a message's head in a buffer that grows, line by line, and refuses what no
/// sender of HTTP sends: lines without CR, control characters, folded lines. Much of request
/// smuggling lives there, so nothing of it reaches the parser.
class HeadScan {
public:
    enum class Verdict : unsigned char {
        more,           ///< The end is not there yet.
        complete,       ///< `begin` and `end` frame the head, its last empty line included.
        malformed,      ///< Not HTTP.
        line_too_long,  ///< The first line is longer than allowed.
        too_large,      ///< The head is larger than allowed, or has more lines.
    };
    struct Limits {
        std::size_t first_line = 0;
        std::size_t head = 0;
        std::size_t fields = 0;
    };

    /// Looks at what came since the last call; `buffer` begins where it did then.
    [[nodiscard]] Verdict scan(std::string_view buffer, const Limits& limits) noexcept;
    [[nodiscard]] std::size_t begin() const noexcept { return begin_; }
    [[nodiscard]] std::size_t end() const noexcept { return line_; }

private:
    std::size_t begin_ = 0;   // Behind empty lines that some clients send after a body.
    std::size_t line_ = 0;    // Where the line begins that is not complete yet.
    std::size_t looked_ = 0;  // Up to here no line feed was found.
    std::size_t lines_ = 0;
};

/// How the length of a body is told.
enum class Framing : unsigned char { none, length, chunked, until_close };

/// What a head says beside its fields.
struct HeadFacts {
    bool http11 = true;
    bool keep_alive = true;
    bool expects_continue = false;
    bool to_head = false;  ///< Asks, or answers, without a body.
    Framing framing = Framing::none;
    std::uint64_t length = 0;
};

/// Parses a request's complete head into `request` (method, target, headers) and applies the rules
/// of RFC 9112 strictly: whatever two implementations might read differently is refused.
[[nodiscard]] tl::expected<HeadFacts, Problem> parse_request_head(std::string_view head, Request& request);

/// Parses a response's complete head into `response` (status, headers). `to_head`: it answers a HEAD.
[[nodiscard]] Result<HeadFacts> parse_response_head(std::string_view head, bool to_head, Response& response);

}  // namespace semel::http
