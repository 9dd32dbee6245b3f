#include "apps/orders/domain/quote.hpp"
#include "apps/orders/handlers/assets.hpp"
#include "apps/orders/http/guarded_command.hpp"
#include "apps/orders/http/order_json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/http/tagged.hpp"
#include "apps/orders/storage/assets.hpp"

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;

std::string etag(const Asset& asset) { return etag_of("asset", asset.version); }

ModifyAsset change_in(Fields& fields, const Target& target) {
    return {.asset_id = target.id,
            .expected_version = target.version,
            .change = fields.choice("change", asset_change::all),
            .quantity = fields.integer_or_none("quantity", 1, quantity_max),
            .reason = fields.subject_or_none("reason")};
}

semel::Reply reply_with(const Asset& asset) { return done(json_of(asset), etag(asset)); }

Response get_asset(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto asset = find_asset(database, request.retry.deadline, request.who.tenant, *id);
    if (!asset) return unreadable(asset.error(), request);
    if (!*asset) return no_such("asset", request);
    return found_tagged(json_of(**asset), etag(**asset), request);
}

Response get_assets(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::assets, {"state", "customerId", "orderId"});
    if (!slice) return problem_response(slice.error(), request);
    const auto state = filter_choice(request, "state", asset_state::all);
    if (!state) return problem_response(state.error(), request);
    const auto customer_id = filter_code(request, "customerId");
    if (!customer_id) return problem_response(customer_id.error(), request);
    const auto order_id = filter_id(request, "orderId");
    if (!order_id) return problem_response(order_id.error(), request);
    auto assets = list_assets(database, request.retry.deadline, request.who.tenant,
                              {.state = *state, .customer_id = *customer_id, .order_id = *order_id}, *slice);
    if (!assets) return unreadable(assets.error(), request);
    const auto next = next_cursor(*assets, *slice, Collection::assets);
    return found(json_of(*assets, next));
}

}  // namespace

void add_asset_routes(Api& api, const RouteContext& context) {
    api.states("AssetState", "SUSPENDED: still the customer's, and not in service. ENDED is final.", asset_state::all);
    api.command({.path = "/api/v1/assets/{id}/modify",
                 .operation = "asset.modify",
                 .summary = "Suspend, resume or end what a customer has, or change how much of it.",
                 .request = "ModifyAsset",
                 .reply = "Asset",
                 .guarded = "asset",
                 .refusals = {unacceptable},
                 .handle = guarded_command("asset", change_in, modify_asset, reply_with)});
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/assets",
              .summary = "What customers have and had.",
              .reply = "Asset",
              .is_collection = true,
              .filters = {{"state", "Only assets in this state."},
                          {"customerId", "Only assets of this customer."},
                          {"orderId", "Only assets that this order brought."}},
              .handle = [&database](const Request& request) { return get_assets(database, request); }});
    api.read({.path = "/api/v1/assets/{id}",
              .summary = "One asset.",
              .reply = "Asset",
              .etag = "asset",
              .handle = [&database](const Request& request) { return get_asset(database, request); }});
}

}  // namespace orders
