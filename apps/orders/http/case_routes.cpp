#include "apps/orders/handlers/cases.hpp"
#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/fields.hpp"
#include "apps/orders/http/json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/cases.hpp"

namespace orders {
namespace {

using semel::CommandDecision;
using semel::http::Request;
using semel::http::Response;
using semel::Result;
using semel::Work;

/// Whoever asks for an enforcement action waits no longer than this.
constexpr semel::Duration enforcement_deadline = std::chrono::seconds(2);

std::string location_of(const semel::Uuid& case_id) { return "/api/v1/cases/" + case_id.text(); }

Result<CommandDecision> post_case(const Request& request, Work& work) {
    Fields fields(request.body);
    const OpenCase asked{.subject = fields.subject("subject")};
    if (const auto problem = fields.problem()) return reject(*problem, request);
    const Case opened = open_case(asked, work);
    return created(json_of(opened), location_of(opened.id));
}

/// Both handlers of an enforcement action read the same request and answer in the same way.
using ActionHandler = Result<Handled<EnforcementAction>> (*)(const CreateEnforcementAction&, Work&);

Result<CommandDecision> post_action(ActionHandler handler, const Request& request, Work& work) {
    const auto id = id_in(request, "id");
    if (!id) return reject(id.error(), request);
    Fields fields(request.body);
    const CreateEnforcementAction asked{.case_id = *id, .violation_code = fields.code("violationCode")};
    if (const auto problem = fields.problem()) return reject(*problem, request);
    const auto handled = SEMEL_TRY(handler(asked, work));
    if (const auto* refusal = std::get_if<Refusal>(&handled)) return reject(problem_of(*refusal), request);
    const auto& action = std::get<EnforcementAction>(handled);
    return created(json_of(action), location_of(*id) + "/enforcement-actions/" + action.id.text());
}

semel::http::CommandHandler action_handler(ActionHandler handler) {
    return [handler](const Request& request, Work& work) { return post_action(handler, request, work); };
}

Response get_case(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto opened = find_case(database, request.retry.deadline, request.who.tenant, *id);
    if (!opened) return unreadable(opened.error(), request);
    return *opened ? found(json_of(**opened)) : no_such("case", request);
}

Response get_cases(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::cases);
    if (!slice) return problem_response(slice.error(), request);
    auto cases = list_cases(database, request.retry.deadline, request.who.tenant, *slice);
    if (!cases) return unreadable(cases.error(), request);
    const auto next = next_cursor(*cases, *slice, Collection::cases);
    return found(json_of(*cases, next));
}

Response get_action(semel::Database& database, const Request& request) {
    const auto case_id = id_in(request, "id");
    if (!case_id) return problem_response(case_id.error(), request);
    const auto id = id_in(request, "action");
    if (!id) return problem_response(id.error(), request);
    const auto action = find_action(database, request.retry.deadline, request.who.tenant, *case_id, *id);
    if (!action) return unreadable(action.error(), request);
    return *action ? found(json_of(**action)) : no_such("enforcement action", request);
}

Response get_actions(semel::Database& database, const Request& request) {
    const auto case_id = id_in(request, "id");
    if (!case_id) return problem_response(case_id.error(), request);
    const auto slice = slice_of(request, Collection::enforcement_actions);
    if (!slice) return problem_response(slice.error(), request);
    auto actions = list_actions(database, request.retry.deadline, request.who.tenant, *case_id, *slice);
    if (!actions) return unreadable(actions.error(), request);
    // None is an answer only if there is a case to have some.
    if (actions->empty()) {
        const auto opened = find_case(database, request.retry.deadline, request.who.tenant, *case_id);
        if (!opened) return unreadable(opened.error(), request);
        if (!*opened) return no_such("case", request);
    }
    const auto next = next_cursor(*actions, *slice, Collection::enforcement_actions);
    return found(json_of(*actions, next));
}

}  // namespace

void add_case_routes(Api& api, const RouteContext& context) {
    api.command({.path = "/api/v1/cases",
                 .operation = "case.open",
                 .summary = "Opens a case",
                 .request = "NewCase",
                 .status = 201,
                 .reply = "Case",
                 .handle = post_case});
    api.command({.path = "/api/v1/cases/{id}/enforcement-actions",
                 .operation = "enforcement_action.create",
                 .summary = "Takes action against a violation; once for each case and violation code, within 2 s",
                 .request = "NewEnforcementAction",
                 .status = 201,
                 .reply = "EnforcementAction",
                 .refusals = {semel::http::problems::duplicate_business_command},
                 .handle = action_handler(create_enforcement_action),
                 .natural_keys = {{.constraint = std::string(enforcement_action_key),
                                   .decide = action_handler(refuse_second_action)}},
                 .deadline = enforcement_deadline});
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/cases",
              .summary = "All cases",
              .reply = "Case",
              .is_collection = true,
              .handle = [&database](const Request& request) { return get_cases(database, request); }});
    api.read({.path = "/api/v1/cases/{id}",
              .summary = "One case",
              .reply = "Case",
              .handle = [&database](const Request& request) { return get_case(database, request); }});
    api.read({.path = "/api/v1/cases/{id}/enforcement-actions",
              .summary = "What was done in a case",
              .reply = "EnforcementAction",
              .is_collection = true,
              .handle = [&database](const Request& request) { return get_actions(database, request); }});
    api.read({.path = "/api/v1/cases/{id}/enforcement-actions/{action}",
              .summary = "One enforcement action",
              .reply = "EnforcementAction",
              .handle = [&database](const Request& request) { return get_action(database, request); }});
}

}  // namespace orders
