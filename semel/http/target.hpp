#pragma once

#include "semel/base/result.hpp"
#include "semel/http/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace semel::http {

/// More is not a request but a probe.
inline constexpr std::size_t query_parameters_max = 100;

/// A request target taken apart, still encoded. The views are of the text it was taken from.
struct Target {
    std::string_view authority;  ///< Of the absolute form; empty otherwise.
    std::string_view path;       ///< Begins with a slash, or is `*`.
    std::string_view query;      ///< Behind the question mark.
};

/// Takes the origin form (`/path?query`), the absolute form of http and https, and `*`. Anything
/// but visible ASCII, a fragment, user information or another form is an Error (`rejected`).
[[nodiscard]] Result<Target> parse_target(std::string_view text);

/// The segments of a path, each decoded once. Refused (`rejected`), since servers and proxies read
/// them differently: malformed escapes, encoded slashes, backslashes and control characters, `.` and
/// `..` in any form, and what is not UTF-8.
[[nodiscard]] Result<std::vector<std::string>> decode_path(std::string_view path);

/// The parameters of a query, decoded; a plus is a space. Refused: malformed escapes, encoded zero
/// bytes, what is not UTF-8, and more than `query_parameters_max`.
[[nodiscard]] Result<std::vector<Parameter>> decode_query(std::string_view query);

/// Well-formed UTF-8: no overlong forms, no surrogates.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace semel::http
