#include "apps/orders/http/routes.hpp"

namespace orders {

semel::Status add_operations(semel::Operations& all, const RetentionOf& retention) {
    return add_payment_operation(all, retention);
}

void add_routes(Api& api, const RouteContext& context) {
    add_quote_routes(api, context);
    add_quote_life_routes(api, context);
    add_product_routes(api, context);
    add_order_routes(api, context);
    add_task_routes(api, context);
    add_asset_routes(api, context);
    add_callback_routes(api, context);
    add_event_routes(api, context);
    add_invoice_routes(api, context);
    add_payment_routes(api, context);
    add_case_routes(api, context);
    add_audit_routes(api, context);
    api.add(context.commands.status_route(), ReadEntry{.path = "/api/v1/commands/{id}",
                                                       .summary = "Where a command of one's own stands",
                                                       .reply = "CommandStatus",
                                                       .variables = "^cmd_[0-9a-f]{32}$"});
}

}  // namespace orders
