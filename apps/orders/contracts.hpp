#pragma once

#include "semel/outbox/append.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace orders {

/// The contracts of the events: name and JSON Schema of each. Embedded from docs/events.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> contract_files() noexcept;

/// Holds every event against its contract before it is written.
[[nodiscard]] semel::Result<semel::EventCheck> contract_check();

}  // namespace orders
