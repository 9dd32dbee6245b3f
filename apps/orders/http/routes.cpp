#include "apps/orders/http/routes.hpp"

namespace orders {

semel::Status add_operations(semel::Operations& all, const RetentionOf& retention) {
    return add_payment_operation(all, retention);
}

semel::http::Router make_router(const RouteContext& context) {
    semel::http::Router router;
    add_quote_routes(router, context);
    add_payment_routes(router, context);
    add_case_routes(router, context);
    router.add("GET", "/api/v1/commands/{id}", context.commands.status_route());
    return router;
}

}  // namespace orders
