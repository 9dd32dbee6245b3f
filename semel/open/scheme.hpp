#pragma once

#include <string_view>

namespace semel {

/// What stands before "://"; empty if it does not.
[[nodiscard]] constexpr std::string_view scheme_of(std::string_view address) noexcept {
    const std::size_t end = address.find("://");
    return end == std::string_view::npos ? std::string_view() : address.substr(0, end);
}

}  // namespace semel
