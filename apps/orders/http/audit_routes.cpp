#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/json_page.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/storage/audit.hpp"
#include "semel/db/value.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;
using semel::http::Problem;
using semel::http::Request;
using semel::http::Response;

constexpr std::string_view api_prefix = "/api/v1/";
/// The collections of the API, and what one of each is called.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kinds{
    {{"quotes", "quote"},
     {"orders", "order"},
     {"fulfillment-tasks", "task"},
     {"assets", "asset"},
     {"invoices", "invoice"},
     {"payments", "payment"},
     {"cases", "case"},
     {"enforcement-actions", "enforcement_action"}}};

/// What somebody wants to know about.
struct Resource {
    std::string_view kind{};  ///< Empty: whatever has the id.
    semel::Uuid id;
};

/// "quotes/ID", the whole path of a resource, or its id alone.
tl::expected<Resource, Problem> resource_of(const Request& request) {
    const auto refuse = [] {
        return tl::unexpected(
            Problem(semel::http::problems::validation_failed,
                    "`resource` names one resource, as in quotes/0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12; its whole path "
                    "and its id alone will do too.")
                .with("field", "resource"));
    };
    std::string_view text = request.parameter("resource").value_or("");
    if (text.starts_with(api_prefix)) text.remove_prefix(api_prefix.size());
    Resource resource;
    if (const auto slash = text.rfind('/'); slash != std::string_view::npos) {
        std::string_view collection = text.substr(0, slash);
        // An enforcement action stands under its case.
        if (collection.starts_with("cases/")) collection.remove_prefix(collection.rfind('/') + 1);
        const auto known = std::ranges::find(kinds, collection, &std::pair<std::string_view, std::string_view>::first);
        if (known == kinds.end()) return refuse();
        resource.kind = known->second;
        text.remove_prefix(slash + 1);
    }
    const auto id = semel::Uuid::parse(text);
    if (!id) return refuse();
    resource.id = *id;
    return resource;
}

// A cursor holds an id; that of a line is its position, in the last bytes.

semel::Uuid id_of(std::int64_t position) {
    semel::Uuid id;
    for (std::size_t i = 0; i < 8; ++i)
        id.bytes[15 - i] = static_cast<std::byte>(static_cast<std::uint64_t>(position) >> (8 * i));
    return id;
}

std::int64_t position_of(const semel::Uuid& id) {
    std::uint64_t position = 0;
    for (std::size_t i = 8; i < 16; ++i) position = position << 8U | std::to_integer<std::uint64_t>(id.bytes[i]);
    return static_cast<std::int64_t>(position);
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
    auto entries = list_audit(database, request.retry.deadline, request.who.tenant, resource->id,
                              position_of(slice->after), slice->limit);
    if (!entries) return unreadable(entries.error(), request);
    // Whatever exists was created, and that is its first line.
    const bool first_page = slice->after == semel::Uuid();
    if (first_page && std::ranges::none_of(*entries, [&](const AuditEntry& entry) {
            return entry.resource_id == resource->id && (resource->kind.empty() || entry.kind == resource->kind);
        }))
        return no_such("resource", request);
    std::optional<std::string> next;
    if (entries->size() == static_cast<std::size_t>(slice->limit)) {
        entries->pop_back();
        next = cursor_behind(Collection::audit, id_of(entries->back().position));
    }
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
