#include "apps/orders/handlers/quotes.hpp"
#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/etag.hpp"
#include "apps/orders/http/fields.hpp"
#include "apps/orders/http/json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/quotes.hpp"

#include <algorithm>

namespace orders {
namespace {

using semel::CommandDecision;
using semel::http::Request;
using semel::http::Response;
using semel::Result;
using semel::Work;

std::string location_of(const semel::Uuid& quote_id) { return "/api/v1/quotes/" + quote_id.text(); }

Result<CommandDecision> post_quote(const Request& request, Work& work) {
    Fields fields(request.body);
    const CreateQuote asked{.customer_id = fields.code("customerId"), .currency = fields.currency("currency")};
    if (const auto problem = fields.problem()) return reject(*problem, request);
    const Quote quote = create_quote(asked, work);
    return created(json_of(quote), location_of(quote.id), quote_etag(quote.version));
}

Result<CommandDecision> post_item(const Request& request, Work& work) {
    const auto id = id_in(request, "id");
    if (!id) return reject(id.error(), request);
    // Only now: a repeat of what was done has been answered already, whatever version its If-Match names.
    const auto version = required_version(request);
    if (!version) return reject(version.error(), request);
    Fields fields(request.body);
    const AddQuoteItem asked{.quote_id = *id,
                             .expected_version = *version,
                             .sku = fields.code("sku"),
                             .quantity = fields.integer("quantity", 1, quantity_max),
                             .unit_price = fields.price("unitPrice")};
    if (const auto problem = fields.problem()) return reject(*problem, request);
    const auto handled = SEMEL_TRY(add_quote_item(asked, work));
    if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
    const auto& item = std::get<QuoteItem>(handled);
    return created(json_of(*id, item), location_of(*id) + "/items/" + item.id.text(), quote_etag(item.since_version));
}

Response get_quote(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto quote = find_quote(database, request.retry.deadline, request.who.tenant, *id);
    if (!quote) return unreadable(quote.error(), request);
    if (!*quote) return no_such("quote", request);
    const std::string etag = quote_etag((*quote)->version);
    Response response = is_unchanged(request, etag) ? Response{.status = 304} : found(json_of(**quote));
    response.headers.set("ETag", etag);
    return response;
}

Response get_item(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto item_id = id_in(request, "item");
    if (!item_id) return problem_response(item_id.error(), request);
    const auto quote = find_quote(database, request.retry.deadline, request.who.tenant, *id);
    if (!quote) return unreadable(quote.error(), request);
    if (!*quote) return no_such("quote", request);
    const auto& items = (*quote)->items;
    const auto item = std::ranges::find(items, *item_id, &QuoteItem::id);
    if (item == items.end()) return no_such("item", request);
    return found(json_of(*id, *item));
}

Response get_quotes(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::quotes);
    if (!slice) return problem_response(slice.error(), request);
    auto quotes = list_quotes(database, request.retry.deadline, request.who.tenant, *slice);
    if (!quotes) return unreadable(quotes.error(), request);
    const auto next = next_cursor(*quotes, *slice, Collection::quotes);
    return found(json_of(*quotes, next));
}

}  // namespace

void add_quote_routes(semel::http::Router& router, const RouteContext& context) {
    router.add("POST", "/api/v1/quotes",
               context.commands.route({.operation = std::string(create_quote_operation),
                                       .handle = post_quote,
                                       .options = {.retention = context.retention(create_quote_operation)}}));
    router.add("POST", "/api/v1/quotes/{id}/items",
               context.commands.route({.operation = std::string(add_quote_item_operation),
                                       .handle = post_item,
                                       .options = {.retention = context.retention(add_quote_item_operation)}}));
    semel::Database& database = context.database;
    router.add("GET", "/api/v1/quotes",
               {.handle = [&database](Request& request) { return get_quotes(database, request); }});
    router.add("GET", "/api/v1/quotes/{id}",
               {.handle = [&database](Request& request) { return get_quote(database, request); }});
    router.add("GET", "/api/v1/quotes/{id}/items/{item}",
               {.handle = [&database](Request& request) { return get_item(database, request); }});
}

}  // namespace orders
