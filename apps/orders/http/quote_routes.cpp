#include "apps/orders/http/quote_command.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/approvals.hpp"
#include "apps/orders/storage/quotes.hpp"

#include <algorithm>

namespace orders {
namespace {

using semel::CommandDecision;
using semel::http::Request;
using semel::http::Response;
using semel::Result;
using semel::Work;
namespace problems = semel::http::problems;

Result<CommandDecision> post_quote(const QuotePolicy& policy, const Request& request, Work& work) {
    Fields fields(request.body);
    const CreateQuote asked{.customer_id = fields.code("customerId"),
                            .currency = fields.currency("currency"),
                            .valid_until = fields.time_or_none("validUntil")};
    if (const auto problem = fields.problem()) return reject(*problem, request);
    const auto handled = create_quote(asked, policy, work);
    if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
    const auto& quote = std::get<Quote>(handled);
    return created(json_of(quote), location_of_quote(quote.id), etag_of("quote", quote.version));
}

AddQuoteItem item_in(Fields& fields, const SeenQuote& quote) {
    return {.quote = quote,
            .sku = fields.code("sku"),
            .quantity = fields.integer("quantity", 1, quantity_max),
            .unit_price = fields.price_or_none("unitPrice"),
            .instance_key = fields.code_or_none("instanceKey")};
}

semel::Reply reply_with_item(const Quote& quote) {
    const QuoteItem& item = quote.items.back();
    return created(json_of(quote.id, item), location_of_quote(quote.id) + "/items/" + item.id.text(),
                   etag_of("quote", quote.version));
}

RepriceQuote run_in(Fields& fields, const SeenQuote& quote) {
    return {.quote = quote, .price_run_id = fields.code_or_none("priceRunId")};
}

Response get_quote(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto stored = find_quote(database, request.retry.deadline, request.who.tenant, *id);
    if (!stored) return unreadable(stored.error(), request);
    if (!*stored) return no_such("quote", request);
    const Quote quote = (*stored)->as_of(database.clock().wall());
    const std::string etag = etag_of("quote", quote.version);
    // A quote whose time has just passed looks otherwise before it has its next version.
    const bool unchanged = quote.state == (*stored)->state && is_unchanged(request, etag);
    Response response = unchanged ? Response{.status = 304} : found(json_of(quote));
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
    const auto slice = slice_of(request, Collection::quotes, {"state", "customerId"});
    if (!slice) return problem_response(slice.error(), request);
    auto state = filter_choice(request, "state", quote_state::all);
    if (!state) return problem_response(state.error(), request);
    auto customer = filter_code(request, "customerId");
    if (!customer) return problem_response(customer.error(), request);
    auto quotes = list_quotes(database, request.retry.deadline, request.who.tenant,
                              {.state = *std::move(state), .customer_id = *std::move(customer)}, *slice);
    if (!quotes) return unreadable(quotes.error(), request);
    const auto next = next_cursor(*quotes, *slice, Collection::quotes);
    for (Quote& quote : *quotes) quote = quote.as_of(database.clock().wall());
    return found(json_of(*quotes, next));
}

Response get_approvals(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto slice = slice_of(request, Collection::approvals);
    if (!slice) return problem_response(slice.error(), request);
    auto approvals = list_approvals(database, request.retry.deadline, request.who.tenant, *id, *slice);
    if (!approvals) return unreadable(approvals.error(), request);
    // None is an answer only if there is a quote to have some.
    if (approvals->empty()) {
        const auto quote = find_quote(database, request.retry.deadline, request.who.tenant, *id);
        if (!quote) return unreadable(quote.error(), request);
        if (!*quote) return no_such("quote", request);
    }
    const auto next = next_cursor(*approvals, *slice, Collection::approvals);
    return found(json_of(*approvals, next));
}

void add_reads(Api& api, semel::Database& database) {
    api.read({.path = "/api/v1/quotes",
              .summary = "All quotes, without their items",
              .reply = "QuoteHead",
              .is_collection = true,
              .filters = {{"state", "Only those in this state."}, {"customerId", "Only those of this customer."}},
              .handle = [&database](const Request& request) { return get_quotes(database, request); }});
    api.read({.path = "/api/v1/quotes/{id}",
              .summary = "One quote",
              .reply = "Quote",
              .etag = "quote",
              .handle = [&database](const Request& request) { return get_quote(database, request); }});
    api.read({.path = "/api/v1/quotes/{id}/items/{item}",
              .summary = "One item of a quote",
              .reply = "QuoteItem",
              .handle = [&database](const Request& request) { return get_item(database, request); }});
    api.read({.path = "/api/v1/quotes/{id}/approvals",
              .summary = "What was asked of approvers, and what they decided",
              .reply = "Approval",
              .is_collection = true,
              .handle = [&database](const Request& request) { return get_approvals(database, request); }});
}

}  // namespace

void add_quote_routes(Api& api, const RouteContext& context) {
    api.states("QuoteState", "As it counts now: a quote whose time has passed is EXPIRED.", quote_state::all);
    const QuotePolicy policy = context.quotes;
    api.command({.path = "/api/v1/quotes",
                 .operation = "quote.create",
                 .summary = "Begins a quote",
                 .request = "NewQuote",
                 .status = 201,
                 .reply = "Quote",
                 .etag = "quote",
                 .refusals = {unacceptable},
                 .handle = [policy](const Request& request, Work& work) { return post_quote(policy, request, work); }});
    const auto add_item = quote_command(item_in, add_quote_item, reply_with_item);
    api.command({.path = "/api/v1/quotes/{id}/items",
                 .operation = "quote.add_item",
                 .summary = "Adds an item to a draft and prices it",
                 .request = "NewQuoteItem",
                 .status = 201,
                 .reply = "QuoteItem",
                 .guarded = "quote",
                 .refusals = {unacceptable, problems::duplicate_business_command},
                 .handle = add_item,
                 .natural_keys = {{.constraint = std::string(quote_item_version_key), .decide = add_item}}});
    api.command({.path = "/api/v1/quotes/{id}/reprice",
                 .operation = "quote.reprice",
                 .summary = "Prices all items of a draft by the catalogue of today; once for each run",
                 .request = "NewPriceRun",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {unacceptable, problems::duplicate_business_command},
                 .handle = quote_command(run_in, reprice_quote),
                 .natural_keys = {
                     {.constraint = std::string(price_run_key), .decide = quote_command(run_in, refuse_second_run)}}});
    add_reads(api, context.database);
}

}  // namespace orders
