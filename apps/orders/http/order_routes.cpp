#include "apps/orders/handlers/convert.hpp"
#include "apps/orders/handlers/orders.hpp"
#include "apps/orders/handlers/repair.hpp"
#include "apps/orders/http/guarded_command.hpp"
#include "apps/orders/http/order_json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/http/tagged.hpp"
#include "apps/orders/storage/assets.hpp"
#include "apps/orders/storage/orders.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;
namespace problems = semel::http::problems;

std::string etag(const Order& order) { return etag_of("order", order.version); }

ConvertQuote conversion_in(Fields& fields, const Target& target) {
    return {
        .quote_id = target.id, .expected_version = target.version, .target_date = fields.date_or_none("targetDate")};
}

CancelOrder cancellation_in(Fields& fields, const Target& target) {
    return {.order_id = target.id, .expected_version = target.version, .reason = fields.subject("reason")};
}

RepairOrder repair_in(Fields& fields, const Target& target) {
    return {.order_id = target.id,
            .expected_version = target.version,
            .action = fields.choice("action", repair_action::all),
            .task_id = fields.id("taskId"),
            .reason = fields.subject("reason")};
}

semel::Reply reply_with_new(const Order& order) {
    return created(json_of(order), "/api/v1/orders/" + order.id.text(), etag(order));
}

semel::Reply reply_with(const Order& order) { return done(json_of(order), etag(order)); }

Response get_order(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto order = find_order(database, request.retry.deadline, request.who.tenant, *id);
    if (!order) return unreadable(order.error(), request);
    if (!*order) return no_such("order", request);
    return found_tagged(json_of(**order), etag(**order), request);
}

Response get_orders(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::orders, {"state", "customerId", "quoteId"});
    if (!slice) return problem_response(slice.error(), request);
    const auto state = filter_choice(request, "state", order_state::all);
    if (!state) return problem_response(state.error(), request);
    const auto customer_id = filter_code(request, "customerId");
    if (!customer_id) return problem_response(customer_id.error(), request);
    const auto quote_id = filter_id(request, "quoteId");
    if (!quote_id) return problem_response(quote_id.error(), request);
    auto orders = list_orders(database, request.retry.deadline, request.who.tenant,
                              {.state = *state, .customer_id = *customer_id, .quote_id = *quote_id}, *slice);
    if (!orders) return unreadable(orders.error(), request);
    const auto next = next_cursor(*orders, *slice, Collection::orders);
    return found(json_of(*orders, next));
}

}  // namespace

void add_order_routes(Api& api, const RouteContext& context) {
    api.states("OrderState", "CREATED: nothing was done yet. HELD: a task failed. COMPLETED and CANCELLED are final.",
               order_state::all);
    api.command(
        {.path = "/api/v1/quotes/{id}/convert-to-order",
         .operation = "quote.convert",
         .summary = "Make the order of an accepted quote, with the tasks that it takes.",
         .request = "ConvertQuote",
         .status = 201,
         .reply = "Order",
         .guarded = "quote",
         .refusals = {problems::duplicate_business_command, unacceptable},
         .handle = guarded_command("quote", conversion_in, convert_quote, reply_with_new),
         .natural_keys = {{.constraint = std::string(order_of_quote_revision_key),
                           .decide = guarded_command("quote", conversion_in, refuse_second_order, reply_with_new)}}});
    api.command({.path = "/api/v1/orders/{id}/cancel",
                 .operation = "order.cancel",
                 .summary = "Cancel an order that is not completed, and every task of it that is still open.",
                 .request = "CancelOrder",
                 .reply = "Order",
                 .guarded = "order",
                 .refusals = {problems::duplicate_business_command},
                 .handle = guarded_command("order", cancellation_in, cancel_order, reply_with),
                 .natural_keys = {
                     {.constraint = std::string(cancellation_key),
                      .decide = guarded_command("order", cancellation_in, refuse_second_cancellation, reply_with)}}});
    const auto refuse = guarded_command("order", repair_in, refuse_repair, reply_with);
    api.command({.path = "/api/v1/orders/{id}/repair",
                 .operation = "order.repair",
                 .summary = "Set a held order going again: skip the task that failed, or begin it anew.",
                 .request = "RepairOrder",
                 .reply = "Order",
                 .guarded = "order",
                 .refusals = {problems::duplicate_business_command, unacceptable},
                 .handle = guarded_command("order", repair_in, repair_order, reply_with),
                 .natural_keys = {{.constraint = std::string(repair_key), .decide = refuse},
                                  {.constraint = std::string(task_attempt_key), .decide = refuse},
                                  {.constraint = std::string(active_instance_key), .decide = refuse},
                                  {.constraint = std::string(asset_of_item_key), .decide = refuse}}});
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/orders",
              .summary = "Orders, without their items.",
              .reply = "Order",
              .is_collection = true,
              .filters = {{"state", "Only orders in this state."},
                          {"customerId", "Only orders of this customer."},
                          {"quoteId", "Only the order of this quote."}},
              .handle = [&database](const Request& request) { return get_orders(database, request); }});
    api.read({.path = "/api/v1/orders/{id}",
              .summary = "One order with its items.",
              .reply = "Order",
              .etag = "order",
              .handle = [&database](const Request& request) { return get_order(database, request); }});
}

}  // namespace orders
