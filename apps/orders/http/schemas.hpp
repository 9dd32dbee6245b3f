#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace orders {

/// The representations of the API: name and JSON Schema of each, by ascending name. Embedded from http/schemas/.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> schemas() noexcept;

}  // namespace orders
