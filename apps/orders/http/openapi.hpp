#pragma once

#include "apps/orders/http/api.hpp"

#include <span>
#include <string>

namespace orders {

/// Everything that a client is told of.
struct DescribedApi {
    std::span<const CommandEntry> commands;
    std::span<const ReadEntry> reads;
    std::span<const MessageEntry> messages;
    std::span<const StatesEntry> states;
};

/// The OpenAPI 3.1 document of these routes: what they take, what they answer, and what they may be refused with. A
/// schema that is not in http/schemas/ is a programmer's error.
[[nodiscard]] std::string openapi_document(const DescribedApi& described);

/// GET /openapi.json: open to everyone, and cacheable.
[[nodiscard]] semel::http::Route openapi_route(std::string document);

}  // namespace orders
