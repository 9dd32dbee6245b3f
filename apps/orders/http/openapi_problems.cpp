#include "apps/orders/http/openapi_problems.hpp"

#include <algorithm>

namespace orders {
namespace {

using semel::http::ProblemKind;
namespace problems = semel::http::problems;

void add(ProblemCodes& codes, const ProblemKind& kind, unsigned status) {
    auto& list = codes[status];
    if (std::ranges::find(list, kind.code) == list.end()) list.push_back(kind.code);
}

void add(ProblemCodes& codes, std::initializer_list<ProblemKind> kinds) {
    for (const ProblemKind& kind : kinds) add(codes, kind, kind.status);
}

bool has_variables(std::string_view path) noexcept { return path.find('{') != std::string_view::npos; }

}  // namespace

ProblemCodes problems_of_every_request() {
    ProblemCodes codes;
    add(codes, {problems::malformed_request, problems::unauthenticated, problems::forbidden, problems::request_timeout,
                problems::payload_too_large, problems::uri_too_long, problems::expectation_failed,
                problems::headers_too_large, problems::internal_error, problems::not_implemented, problems::overloaded,
                problems::transient_persistence_failure, problems::deadline_exceeded, problems::version_not_supported});
    // Where the work was not begun.
    add(codes, problems::deadline_exceeded, 503);
    return codes;
}

ProblemCodes problems_of(const CommandEntry& entry) {
    ProblemCodes codes = problems_of_every_request();
    add(codes, {problems::malformed_body, problems::validation_failed, problems::unsupported_media_type,
                problems::idempotency_key_conflict, problems::request_already_in_progress,
                problems::idempotency_key_expired, problems::outcome_unknown});
    // Of the profile "ietf".
    add(codes, problems::idempotency_key_conflict, 422);
    if (entry.keyed) add(codes, {problems::missing_idempotency_key, problems::invalid_idempotency_key});
    if (has_variables(entry.path)) add(codes, {problems::not_found});
    if (!entry.guarded.empty())
        add(codes, {problems::precondition_failed, problems::precondition_required, problems::invalid_state_transition,
                    problems::version_conflict});
    if (entry.may_be_async) add(codes, {problems::needs_reconciliation});
    for (const ProblemKind& kind : entry.refusals) add(codes, kind, kind.status);
    return codes;
}

ProblemCodes problems_of(const MessageEntry& entry) {
    ProblemCodes codes = problems_of_every_request();
    for (const ProblemKind& kind : entry.refusals) add(codes, kind, kind.status);
    return codes;
}

ProblemCodes problems_of(const ReadEntry& entry) {
    ProblemCodes codes = problems_of_every_request();
    if (has_variables(entry.path)) add(codes, {problems::validation_failed, problems::not_found});
    // Whatever a filter must name may not exist.
    if (std::ranges::any_of(entry.filters, &FilterEntry::required)) add(codes, {problems::not_found});
    if (entry.is_collection || !entry.filters.empty()) add(codes, {problems::validation_failed});
    return codes;
}

}  // namespace orders
