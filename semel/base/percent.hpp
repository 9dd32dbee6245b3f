#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// What a plus sign stands for: in the queries of HTML forms it is a space.
enum class Plus : unsigned char { itself, space };

/// Undoes percent-encoding, once. Nothing if a percent sign is not followed by two hexadecimal digits. The result may be
/// any bytes, zero among them.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, Plus plus = Plus::itself);

/// The same of what others have written: a percent sign that begins nothing stays as it is.
[[nodiscard]] std::string percent_decoded_where_it_is(std::string_view text);

}  // namespace semel
