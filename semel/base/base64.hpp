#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/result.hpp"

#include <string>
#include <string_view>

namespace semel {

/// Base64 of RFC 4648, with padding.
[[nodiscard]] std::string base64(BytesView data);

/// The bytes that a text stands for. There is one text for each: other characters, white space, missing padding and
/// left-over bits are refused (`rejected`).
[[nodiscard]] Result<Bytes> parse_base64(std::string_view text);

}  // namespace semel
