#include "semel/http/head.hpp"

#include <algorithm>

namespace semel::http {
namespace {

/// More empty lines before a request are no mistake of a client any more.
constexpr std::size_t leading_lines_max = 4;

}  // namespace

HeadScan::Verdict HeadScan::scan(std::string_view buffer, const Limits& limits) noexcept {
    for (;;) {
        // What does not begin like a message will not become one: a TLS handshake, say, has no line to wait for.
        if (lines_ == 0 && line_ < buffer.size() && buffer[line_] != '\r' && !is_field_name(buffer.substr(line_, 1))) {
            return Verdict::malformed;
        }
        const std::size_t feed = buffer.find('\n', looked_);
        const std::size_t seen = (feed == std::string_view::npos ? buffer.size() : feed + 1) - begin_;
        if (lines_ == 0 && seen > limits.first_line) return Verdict::line_too_long;
        if (seen > limits.head) return Verdict::too_large;
        if (feed == std::string_view::npos) {
            looked_ = buffer.size();
            return Verdict::more;
        }
        if (feed == line_ || buffer[feed - 1] != '\r') return Verdict::malformed;
        const std::string_view line = buffer.substr(line_, feed - 1 - line_);
        line_ = looked_ = feed + 1;
        if (line.empty()) {
            if (lines_ > 0) return Verdict::complete;
            begin_ = line_;
            if (begin_ > 2 * leading_lines_max) return Verdict::malformed;
            continue;
        }
        if (!is_field_value(line)) return Verdict::malformed;
        if (lines_ > 0 && (line.front() == ' ' || line.front() == '\t')) return Verdict::malformed;
        if (lines_++ > limits.fields) return Verdict::too_large;
    }
}

}  // namespace semel::http
