#include "semel/http/admit.hpp"

#include "semel/http/context_headers.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/target.hpp"

#include <algorithm>

namespace semel::http {
namespace {

tl::unexpected<Dismissal> dismiss(const Request& request, const Problem& problem, bool well_formed = true) {
    return tl::unexpected(Dismissal{problem.to_response(request.correlation_id), well_formed});
}

tl::unexpected<Dismissal> dismiss_malformed(const Request& request, const Error& error) {
    return dismiss(request, Problem(problems::malformed_request, error.message + "."), false);
}

Problem problem_of(const Denied& denied) {
    switch (denied.why) {
        case Denial::malformed: return {problems::malformed_request, denied.detail};
        case Denial::forbidden: return {problems::forbidden, denied.detail};
        case Denial::unauthenticated: break;
    }
    return Problem(problems::unauthenticated, denied.detail).with_header("WWW-Authenticate", "Bearer realm=\"semel\"");
}

/// What the path has instead of a route for this method.
tl::unexpected<Dismissal> without_route(const Request& request, const std::string& allowed) {
    if (allowed.empty()) return dismiss(request, problems::not_found);
    if (request.method == "OPTIONS") {
        return tl::unexpected(Dismissal{{.status = 204, .headers = {{"Allow", allowed}}}, true});
    }
    return dismiss(request, Problem(problems::method_not_allowed).with_header("Allow", allowed));
}

tl::expected<Admission, Dismissal> find_route(const Core& core, Request& request) {
    const auto target = parse_target(request.target);
    if (!target) return dismiss_malformed(request, target.error());
    if (!target->authority.empty()) {
        const auto host = request.headers.find("Host");
        if (host && !same_name(*host, target->authority)) {
            return dismiss(request, Problem(problems::malformed_request, "Host and the target name different hosts."),
                           false);
        }
    }
    if (!target->query.empty()) {
        auto query = decode_query(target->query);
        if (!query) return dismiss_malformed(request, query.error());
        request.query = *std::move(query);
    }
    Admission admission;
    admission.route = core.router.find_literal(request.method, target->path);
    if (admission.route != nullptr) {
        request.path.assign(target->path);
        return admission;
    }
    if (target->path == "*") {
        if (request.method != "OPTIONS") return dismiss(request, Problem(problems::malformed_request), false);
        return tl::unexpected(Dismissal{{.status = 204}, true});
    }
    const auto segments = decode_path(target->path);
    if (!segments) return dismiss_malformed(request, segments.error());
    for (const std::string& segment : *segments) request.path.append("/").append(segment);
    const Router::Match match = core.router.match(request.method, *segments, request);
    if (match.route == nullptr) return without_route(request, match.allowed);
    admission.route = match.route;
    return admission;
}

}  // namespace

tl::expected<Admission, Dismissal> admit(const Core& core, const HeadFacts& facts, Instant now, Request& request) {
    request.correlation_id = correlation_id(request.headers);
    auto admission = find_route(core, request);
    if (!admission) return admission;
    const Route& route = *admission->route;
    if (!route.open) {
        auto who = authenticate(core.options.tokens, request.headers);
        if (!who) return dismiss(request, problem_of(who.error()));
        request.who = *std::move(who);
    }
    auto context = read_context(request.headers, now);
    if (!context) return dismiss(request, Problem(problems::malformed_request, context.error().message + "."));
    const bool caller_says = !context->deadline.is_never();
    const Duration limit =
        route.deadline.value_or(caller_says ? core.options.request_deadline_max : core.options.request_deadline);
    request.retry = *std::move(context);
    request.retry.deadline = request.retry.deadline.within(now, limit);
    admission->body_max = route.body_max.value_or(core.options.body_max);
    if (facts.framing == Framing::length && facts.length > admission->body_max) {
        return dismiss(request, Problem(problems::payload_too_large,
                                        "The body may have " + std::to_string(admission->body_max) + " bytes."));
    }
    return admission;
}

}  // namespace semel::http
