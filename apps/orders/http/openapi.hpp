#pragma once

#include "apps/orders/http/api.hpp"

#include <span>
#include <string>

namespace orders {

/// The OpenAPI 3.1 document of these routes: what they take, what they answer, and what they may be refused with. A
/// schema that is not in http/schemas/ is a programmer's error.
[[nodiscard]] std::string openapi_document(std::span<const CommandEntry> commands, std::span<const ReadEntry> reads,
                                           std::span<const StatesEntry> states);

/// GET /openapi.json: open to everyone, and cacheable.
[[nodiscard]] semel::http::Route openapi_route(std::string document);

}  // namespace orders
