#include "apps/orders/handlers/callbacks.hpp"
#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/fields.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/assets.hpp"
#include "apps/orders/storage/callbacks.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace orders {
namespace {

using semel::CommandDecision;
using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;
using semel::Result;
using semel::Work;

constexpr std::int64_t attempt_max = 1'000'000;
constexpr std::array types{callback_type::task_completed, callback_type::task_failed};

std::string_view word_of(Received what) {
    switch (what) {
        case Received::applied: return "APPLIED";
        case Received::already_done: return "ALREADY_DONE";
        case Received::superseded: return "SUPERSEDED";
    }
    SEMEL_ASSERT(false && "an outcome that there is not");
}

semel::Reply received(const semel::Uuid& task_id, Received what) {
    const nlohmann::ordered_json body{{"taskId", task_id.text()}, {"outcome", word_of(what)}};
    return {.status = 200, .body = body.dump(), .headers = {{"Content-Type", "application/json"}}};
}

tl::expected<ReceiveCallback, Problem> callback_in(const Request& request) {
    Fields fields(request.body);
    ReceiveCallback asked{.integration = request.variable("integration"),
                          .type = fields.choice("type", types),
                          .task_id = fields.id("taskId"),
                          .attempt = fields.integer("attempt", 1, attempt_max),
                          .reason = fields.subject_or_none("reason")};
    if (auto problem = fields.problem()) return tl::unexpected(*std::move(problem));
    if (asked.type == callback_type::task_failed && asked.reason.empty())
        return tl::unexpected(Problem(semel::http::problems::validation_failed,
                                      "`reason` is missing: a failure has one. Nothing was done.")
                                  .with("field", "reason"));
    return asked;
}

using CallbackHandler = Result<Handled<Received>> (*)(const ReceiveCallback&, Work&);

semel::http::CommandHandler callback_handler(CallbackHandler handler) {
    return [handler](const Request& request, Work& work) -> Result<CommandDecision> {
        const auto asked = callback_in(request);
        if (!asked) return reject(asked.error(), request);
        const auto handled = SEMEL_TRY(handler(*asked, work));
        if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
        return received(asked->task_id, std::get<Received>(handled));
    };
}

/// The sender's id is on record though the reply to it is no longer kept: what it told was done then.
Result<CommandDecision> post_known_callback(const Request& request, Work& /*work*/) {
    const auto asked = callback_in(request);
    if (!asked) return reject(asked.error(), request);
    return received(asked->task_id, Received::already_done);
}

/// The same, where even that the id was used is only known by its tombstone.
Response answer_expired(const Request& request) {
    const auto asked = callback_in(request);
    if (!asked) return problem_response(asked.error(), request);
    return semel::http::response_of(received(asked->task_id, Received::already_done), true);
}

}  // namespace

void add_callback_routes(Api& api, const RouteContext& context) {
    api.command(
        {.path = "/api/v1/callbacks/{integration}",
         .operation = "callback.receive",
         .summary = "What another system tells of a task: signed by it, and done once for each of its ids",
         .request = "Callback",
         .reply = "CallbackReceipt",
         .refusals = {unacceptable, semel::http::problems::not_found, semel::http::problems::invalid_state_transition,
                      semel::http::problems::duplicate_business_command},
         .handle = callback_handler(receive_callback),
         .natural_keys = {{.constraint = std::string(callback_key), .decide = post_known_callback},
                          {.constraint = std::string(active_instance_key),
                           .decide = callback_handler(refuse_callback_of_taken_instance)}},
         .identify = by_signature(context.integrations, context.database.clock()),
         .when_expired = answer_expired,
         .keyed = false,
         .variables = "^[A-Za-z0-9._:-]{1,64}$",
         .headers = {{semel::webhook::id_header, "The sender's id of the message, the same at every delivery"},
                     {semel::webhook::timestamp_header, "Seconds since 1970, of this delivery"},
                     {semel::webhook::signature_header,
                      "v1, and base64 of HMAC-SHA256 over id.timestamp.body; several are separated by spaces"}}});
}

}  // namespace orders
