#pragma once

#include "apps/orders/http/async.hpp"
#include "semel/command/operations.hpp"
#include "semel/http/command_route.hpp"
#include "semel/http/router.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace orders {

// The operations: part of every command's identity, so a name never changes, unlike a path.
inline constexpr std::string_view create_quote_operation = "quote.create";
inline constexpr std::string_view add_quote_item_operation = "quote.add_item";
inline constexpr std::string_view create_payment_operation = "payment.create";
inline constexpr std::string_view open_case_operation = "case.open";
inline constexpr std::string_view create_enforcement_action_operation = "enforcement_action.create";
inline constexpr std::array operations{create_quote_operation, add_quote_item_operation, create_payment_operation,
                                       open_case_operation, create_enforcement_action_operation};

/// How long the replies of an operation are kept.
using RetentionOf = std::function<semel::Duration(std::string_view operation)>;

/// What the routes are made of. The database must outlive them.
struct RouteContext {
    semel::Database& database;
    semel::http::CommandRoutes commands;
    AsyncContext async;
    RetentionOf retention;
};

void add_quote_routes(semel::http::Router& router, const RouteContext& context);
void add_payment_routes(semel::http::Router& router, const RouteContext& context);
void add_case_routes(semel::http::Router& router, const RouteContext& context);

/// What workers execute for clients who do not wait.
[[nodiscard]] semel::Status add_operations(semel::Operations& all, const RetentionOf& retention);
[[nodiscard]] semel::Status add_payment_operation(semel::Operations& all, const RetentionOf& retention);

/// Everything under /api/v1.
[[nodiscard]] semel::http::Router make_router(const RouteContext& context);

}  // namespace orders
