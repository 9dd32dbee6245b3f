#include "apps/orders/handlers/payments.hpp"
#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/fields.hpp"
#include "apps/orders/http/json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/payments.hpp"
#include "semel/base/log.hpp"

namespace orders {
namespace {

using semel::CommandDecision;
using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;
using semel::Result;
using semel::Work;

constexpr std::string_view create_payment_operation = "payment.create";

std::string location_of(const Payment& payment) { return "/api/v1/payments/" + payment.id.text(); }

tl::expected<CreatePayment, Problem> payment_in(std::string_view body) {
    Fields fields(body);
    CreatePayment asked{.reference = fields.code("reference"),
                        .amount = fields.amount("amount"),
                        .currency = fields.currency("currency")};
    if (auto problem = fields.problem()) return tl::unexpected(*std::move(problem));
    return asked;
}

Result<CommandDecision> post_payment(const Request& request, Work& work) {
    const auto asked = payment_in(request.body);
    if (!asked) return reject(asked.error(), request);
    const Payment payment = create_payment(*asked, work);
    return created(json_of(payment), location_of(payment));
}

/// The reference is taken: the same payment told twice, or two that cannot both be right.
Result<CommandDecision> post_known_payment(const Request& request, Work& work) {
    const auto asked = payment_in(request.body);
    if (!asked) return reject(asked.error(), request);
    const auto handled = SEMEL_TRY(settle_payment(*asked, work));
    if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
    const auto& payment = std::get<Payment>(handled);
    return existing(json_of(payment), location_of(payment));
}

/// A payment is one short transaction: a worker that is silent for this long is gone, and another takes over.
constexpr semel::Duration payment_lease = std::chrono::seconds(5);

/// For a worker, who has nothing but the body: the same answers, decided by reading first.
Result<semel::Finish> execute_payment(semel::LeasedWork& leased) {
    const auto asked = payment_in(leased.payload_text());
    if (!asked)
        return semel::Finish(
            semel::Rejection{.reply = semel::http::reply_of(asked.error(), leased.command().correlation_id),
                             .replay = semel::Replay::yes});
    const std::string correlation_id = leased.command().correlation_id;
    return semel::Finish([asked = *asked, correlation_id](Work& work) -> Result<CommandDecision> {
        const auto settled = SEMEL_TRY(settle_or_create_payment(asked, work));
        if (const auto* refusal = std::get_if<Refusal>(&settled.handled))
            return semel::Rejection{.reply = semel::http::reply_of(problem_of(*refusal), correlation_id),
                                    .replay = semel::Replay::yes};
        const auto& payment = std::get<Payment>(settled.handled);
        return settled.is_new ? created(json_of(payment), location_of(payment))
                              : existing(json_of(payment), location_of(payment));
    });
}

/// For a worker whose command failed for good: what the store said goes to the log, not to a client.
semel::Reply refuse_payment(const semel::Error& error, const semel::Command& command) {
    semel::log(semel::LogLevel::warning, command.identity.command_id() + " " + command.correlation_id +
                                             ": the payment was not made: " + error.describe());
    const Problem problem =
        error.fault == semel::Fault::rejected
            ? Problem(semel::http::problems::validation_failed, "The payment was refused; nothing of it was kept.")
                  .with_status(422)
            : Problem(semel::http::problems::transient_persistence_failure,
                      "The payment was tried several times and not made; nothing of it was kept. Send it again under "
                      "another key.");
    return semel::http::reply_of(problem, command.correlation_id);
}

std::optional<Problem> check_payment(const Request& request) {
    const auto asked = payment_in(request.body);
    if (asked) return std::nullopt;
    return asked.error();
}

Response get_payment(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto payment = find_payment(database, request.retry.deadline, request.who.tenant, *id);
    if (!payment) return unreadable(payment.error(), request);
    return *payment ? found(json_of(**payment)) : no_such("payment", request);
}

Response get_payments(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::payments);
    if (!slice) return problem_response(slice.error(), request);
    auto payments = list_payments(database, request.retry.deadline, request.who.tenant, *slice);
    if (!payments) return unreadable(payments.error(), request);
    const auto next = next_cursor(*payments, *slice, Collection::payments);
    return found(json_of(*payments, next));
}

}  // namespace

semel::Status add_payment_operation(semel::Operations& all, const RetentionOf& retention) {
    return all.add(
        create_payment_operation, execute_payment,
        {.retention = retention(create_payment_operation), .lease = payment_lease, .refuse = refuse_payment});
}

void add_payment_routes(Api& api, const RouteContext& context) {
    const CommandEntry entry{
        .path = "/api/v1/payments",
        .operation = create_payment_operation,
        .summary = "Records a payment; one for each reference",
        .request = "NewPayment",
        .status = 201,
        .reply = "Payment",
        .refusals = {semel::http::problems::duplicate_business_command},
        .handle = post_payment,
        .natural_keys = {{.constraint = std::string(payment_reference_key), .decide = post_known_payment}},
        .may_exist = true,
        .may_be_async = true};
    api.add(with_async(api.route_of(entry), create_payment_operation, check_payment, context.async, context.commands),
            entry);
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/payments",
              .summary = "All payments",
              .reply = "Payment",
              .is_collection = true,
              .handle = [&database](const Request& request) { return get_payments(database, request); }});
    api.read({.path = "/api/v1/payments/{id}",
              .summary = "One payment",
              .reply = "Payment",
              .handle = [&database](const Request& request) { return get_payment(database, request); }});
}

}  // namespace orders
