#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/quote_json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/catalogue.hpp"

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;

Response get_products(semel::Database& database, const Request& request) {
    const auto products = list_products(database, request.retry.deadline);
    if (!products) return unreadable(products.error(), request);
    return found(json_of(*products));
}

}  // namespace

void add_product_routes(Api& api, const RouteContext& context) {
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/products",
              .summary = "The catalogue: what is sold, at which list prices",
              .reply = "Catalogue",
              .handle = [&database](const Request& request) { return get_products(database, request); }});
}

}  // namespace orders
