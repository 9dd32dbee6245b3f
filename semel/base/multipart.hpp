#pragma once

#include "semel/base/result.hpp"

#include <string_view>
#include <vector>

namespace semel {

/// More parts are refused.
inline constexpr std::size_t multipart_parts_max = 10'000;

/// The parts of a multipart body (RFC 2046), headers included, as views into it. What stands before the first delimiter
/// and behind the last has no meaning and is left out, so that the parts are the same whichever boundary the sender
/// drew.
///
/// Lines end with CRLF. Refused (`rejected`): a body without a first or a closing delimiter, and a line inside a part
/// that begins like a delimiter but goes on otherwise; RFC 2046 lets readers differ on such a line.
[[nodiscard]] Result<std::vector<std::string_view>> multipart_parts(std::string_view body, std::string_view boundary);

}  // namespace semel
