#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace semel::http {

/// An absolute http or https address, taken apart for a client. What it holds stays encoded.
struct Url {
    bool tls = false;
    std::string host;  ///< A name or an address; IPv6 without its brackets.
    std::uint16_t port = 80;
    std::string target;     ///< Path and query; at least a slash.
    std::string authority;  ///< For the Host field: with brackets, and with the port unless it is the scheme's.

    /// "https://host:port/path": what may stand in errors and logs. A query may hold secrets.
    [[nodiscard]] std::string text_without_query() const;
};

/// An Error (`rejected`) for anything else: another scheme, user information, a fragment, blanks.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace semel::http
