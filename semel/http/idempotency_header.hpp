#pragma once

#include "semel/base/result.hpp"
#include "semel/http/message.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace semel::http {

inline constexpr std::string_view idempotency_key_header = "Idempotency-Key";
/// As long as others allow; a UUID has 36.
inline constexpr std::size_t idempotency_key_size_max = 255;

/// The key in a field value: a structured-field string (`"8e03…"`, with `\"` and `\\`) or the same
/// characters bare. Both forms name one key. Refused (`rejected`, with a message for the client): an
/// empty or too long key, anything but visible ASCII, a comma or quotation mark in a bare key, and
/// anything after a quoted one.
[[nodiscard]] Result<std::string> parse_idempotency_key(std::string_view value,
                                                        std::size_t size_max = idempotency_key_size_max);

/// The key of a request; none if the field is absent. Two fields are refused: nobody can say which
/// of them is meant.
[[nodiscard]] Result<std::optional<std::string>> idempotency_key(const Headers& headers,
                                                                 std::size_t size_max = idempotency_key_size_max);

}  // namespace semel::http
