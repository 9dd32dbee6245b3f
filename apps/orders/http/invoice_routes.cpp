#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/invoices.hpp"

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;

Response get_invoice(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto invoice = find_invoice(database, request.retry.deadline, request.who.tenant, *id);
    if (!invoice) return unreadable(invoice.error(), request);
    return *invoice ? found(json_of(**invoice)) : no_such("invoice", request);
}

Response get_invoices(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::invoices, {"orderId"});
    if (!slice) return problem_response(slice.error(), request);
    const auto order_id = filter_id(request, "orderId");
    if (!order_id) return problem_response(order_id.error(), request);
    auto invoices = list_invoices(database, request.retry.deadline, request.who.tenant, *order_id, *slice);
    if (!invoices) return unreadable(invoices.error(), request);
    const auto next = next_cursor(*invoices, *slice, Collection::invoices);
    return found(json_of(*invoices, next));
}

}  // namespace

void add_invoice_routes(Api& api, const RouteContext& context) {
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/invoices",
              .summary = "All invoices",
              .reply = "Invoice",
              .is_collection = true,
              .filters = {{"orderId", "Only the invoice of this order."}},
              .handle = [&database](const Request& request) { return get_invoices(database, request); }});
    api.read({.path = "/api/v1/invoices/{id}",
              .summary = "One invoice",
              .reply = "Invoice",
              .handle = [&database](const Request& request) { return get_invoice(database, request); }});
}

}  // namespace orders
