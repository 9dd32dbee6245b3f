#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// The type and subtype of a Content-Type, in small letters, without parameters and white space around them:
/// `Application/JSON; charset=utf-8` is `application/json`.
[[nodiscard]] std::string media_type_essence(std::string_view content_type);

/// Whether bodies of this type (as `media_type_essence` gives it) are JSON: `application/json` and `…+json`.
[[nodiscard]] bool is_json(std::string_view essence) noexcept;
[[nodiscard]] bool is_multipart(std::string_view essence) noexcept;

/// The value of a parameter, without its quotes; none if it is missing, or where the text stops being a list of
/// parameters. `name` in small letters.
[[nodiscard]] std::optional<std::string> media_type_parameter(std::string_view content_type, std::string_view name);

}  // namespace semel
