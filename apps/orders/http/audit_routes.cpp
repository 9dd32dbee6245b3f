#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/json_page.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/audit.hpp"
#include "semel/db/value.hpp"

#include <array>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;
using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;

constexpr std::string_view api_prefix = "/api/v1/";
constexpr std::array<std::string_view, 7> collections{"quotes", "orders",   "fulfillment-tasks",  "assets",
                                                      "cases",  "payments", "enforcement-actions"};

/// "quotes/ID", the whole path of a resource, or its id alone.
tl::expected<semel::Uuid, Problem> resource_of(const Request& request) {
    const auto refuse = [] {
        return tl::unexpected(
            Problem(semel::http::problems::validation_failed,
                    "`resource` names one resource, as in quotes/0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12; "
                    "its whole path and its id alone will do too.")
                .with("field", "resource"));
    };
    std::string_view text = request.parameter("resource").value_or("");
    if (text.starts_with(api_prefix)) text.remove_prefix(api_prefix.size());
    if (text.starts_with('/')) return refuse();
    if (const auto slash = text.rfind('/'); slash != std::string_view::npos) {
        const std::string_view before = text.substr(0, slash);
        const std::string_view collection = before.substr(before.rfind('/') + 1);
        if (std::ranges::find(collections, collection) == collections.end()) return refuse();
        text.remove_prefix(slash + 1);
    }
    const auto id = semel::Uuid::parse(text);
    if (!id) return refuse();
    return *id;
}

Json object_of(const AuditEntry& entry) {
    Json object{{"auditId", entry.id.text()},
                {"at", semel::timestamp_text(entry.at)},
                {"caller", entry.caller},
                {"operation", entry.operation},
                {"commandId", entry.command_id},
                {"correlationId", entry.correlation_id},
                {"kind", entry.kind},
                {"resourceId", entry.resource_id.text()},
                {"toState", entry.to_state},
                {"toVersion", entry.version},
                {"callerAttempt", entry.attempt},
                {"runs", entry.runs},
                {"replays", entry.replays}};
    if (entry.parent_id) object["parentId"] = entry.parent_id->text();
    // What did not exist had neither.
    if (!entry.from_state.empty()) {
        object["fromState"] = entry.from_state;
        object["fromVersion"] = entry.version - 1;
    }
    if (!entry.reason.empty()) object["reason"] = entry.reason;
    if (entry.last_replay) object["lastReplayAt"] = semel::timestamp_text(*entry.last_replay);
    return object;
}

Response get_audit(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::audit, {"resource"});
    if (!slice) return problem_response(slice.error(), request);
    const auto resource = resource_of(request);
    if (!resource) return problem_response(resource.error(), request);
    auto entries = list_audit(database, request.retry.deadline, request.who.tenant, *resource, *slice);
    if (!entries) return unreadable(entries.error(), request);
    // Whatever exists was created, and that is its first line.
    if (entries->empty() && slice->after == semel::Uuid()) return no_such("resource", request);
    const auto next = next_cursor(*entries, *slice, Collection::audit);
    return found(page_of(*entries, next, object_of));
}

}  // namespace

void add_audit_routes(Api& api, const RouteContext& context) {
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/audit",
              .summary = "Who changed a resource and what belongs to it, when, by which command, from what to what",
              .reply = "AuditEntry",
              .is_collection = true,
              .filters = {{"resource", "The resource, as in quotes/{id}.", true}},
              .handle = [&database](const Request& request) { return get_audit(database, request); }});
}

}  // namespace orders
