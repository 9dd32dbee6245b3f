#include "apps/orders/handlers/quote_life.hpp"
#include "apps/orders/http/quote_command.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/approvals.hpp"

namespace orders {
namespace {

using semel::Work;
namespace problems = semel::http::problems;

SeenQuote nothing_in(const Fields&, const SeenQuote& quote) { return quote; }

AskedStep step_in(Fields& fields, const SeenQuote& quote) {
    return {.quote = quote, .reason = fields.subject_or_none("reason")};
}

/// Whoever says no says why.
AskedStep rejection_in(Fields& fields, const SeenQuote& quote) {
    return {.quote = quote, .reason = fields.subject("reason")};
}

ReviseQuote revision_in(Fields& fields, const SeenQuote& quote) {
    return {.quote = quote, .valid_until = fields.time_or_none("validUntil")};
}

}  // namespace

void add_quote_life_routes(Api& api, const RouteContext& context) {
    const QuotePolicy policy = context.quotes;
    // On a violation of its key each of them runs again, and then sees what was there first.
    const auto submit = quote_command(
        nothing_in, [policy](const SeenQuote& asked, Work& work) { return submit_quote(asked, policy, work); });
    api.command({.path = "/api/v1/quotes/{id}/submit",
                 .operation = "quote.submit",
                 .summary = "Asks for the approvals that the sum of the quote needs",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {problems::duplicate_business_command},
                 .handle = submit,
                 .natural_keys = {{.constraint = std::string(pending_approval_key), .decide = submit}}});
    const auto approve = quote_command(step_in, approve_quote);
    api.command({.path = "/api/v1/quotes/{id}/approve",
                 .operation = "quote.approve",
                 .summary = "Approves a submitted quote; one decision for each approver and revision",
                 .request = "OptionalReason",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {problems::duplicate_business_command},
                 .handle = approve,
                 .natural_keys = {{.constraint = std::string(quote_decision_key), .decide = approve}}});
    const auto refuse = quote_command(rejection_in, reject_quote);
    api.command({.path = "/api/v1/quotes/{id}/reject",
                 .operation = "quote.reject",
                 .summary = "Rejects a submitted quote; one decision for each approver and revision",
                 .request = "QuoteRejection",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {problems::duplicate_business_command},
                 .handle = refuse,
                 .natural_keys = {{.constraint = std::string(quote_decision_key), .decide = refuse}}});
    const auto accept = quote_command(nothing_in, accept_quote);
    api.command({.path = "/api/v1/quotes/{id}/accept",
                 .operation = "quote.accept",
                 .summary = "Notes that the customer accepts an approved quote; once for each revision",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {problems::duplicate_business_command},
                 .handle = accept,
                 .natural_keys = {{.constraint = std::string(quote_acceptance_key), .decide = accept}}});
    api.command({.path = "/api/v1/quotes/{id}/revise",
                 .operation = "quote.revise",
                 .summary = "Makes a draft of the next revision, with the same items",
                 .request = "NewRevision",
                 .reply = "Quote",
                 .guarded = "quote",
                 .refusals = {unacceptable},
                 .handle = quote_command(revision_in, [policy](const ReviseQuote& asked, Work& work) {
                     return revise_quote(asked, policy, work);
                 })});
}

}  // namespace orders
