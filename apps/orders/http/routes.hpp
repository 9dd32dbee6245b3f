#pragma once

#include "apps/orders/domain/quote.hpp"
#include "apps/orders/http/api.hpp"
#include "apps/orders/http/async.hpp"
#include "apps/orders/http/integration.hpp"
#include "semel/command/operations.hpp"
#include "semel/source/received.hpp"

#include <functional>
#include <optional>

namespace orders {

/// Who takes the messages that come in by POST /api/v1/events.
struct EventInlet {
    std::vector<semel::webhook::Secret> secrets;  ///< Of those who may send any.
    /// Returns when the message is done with; as Consumers::take.
    std::function<semel::Status(const semel::ReceivedMessage&, semel::Deadline)> take;
};

/// What the routes are made of. The database must outlive them.
struct RouteContext {
    semel::Database& database;
    semel::http::CommandRoutes commands;
    AsyncContext async;
    QuotePolicy quotes{};
    std::vector<Integration> integrations{};
    std::optional<EventInlet> inlet{};  ///< None: no messages are taken here.
};

// One function for one file of routes.
void add_quote_routes(Api& api, const RouteContext& context);
void add_quote_life_routes(Api& api, const RouteContext& context);
void add_product_routes(Api& api, const RouteContext& context);
void add_order_routes(Api& api, const RouteContext& context);
void add_task_routes(Api& api, const RouteContext& context);
void add_asset_routes(Api& api, const RouteContext& context);
void add_audit_routes(Api& api, const RouteContext& context);
void add_callback_routes(Api& api, const RouteContext& context);
void add_event_routes(Api& api, const RouteContext& context);
void add_invoice_routes(Api& api, const RouteContext& context);
void add_payment_routes(Api& api, const RouteContext& context);
void add_case_routes(Api& api, const RouteContext& context);

/// Everything under /api/v1.
void add_routes(Api& api, const RouteContext& context);

/// What workers execute for clients who do not wait.
[[nodiscard]] semel::Status add_operations(semel::Operations& all, const RetentionOf& retention);
[[nodiscard]] semel::Status add_payment_operation(semel::Operations& all, const RetentionOf& retention);

}  // namespace orders
