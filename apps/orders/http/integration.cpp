#include "apps/orders/http/integration.hpp"

#include <algorithm>

namespace orders {
namespace {

using semel::http::Asker;
using semel::http::Problem;
using semel::http::Request;
namespace problems = semel::http::problems;

/// The one field of that name; several could be read in several ways.
std::string_view only(const Request& request, std::string_view name) {
    return request.headers.count(name) == 1 ? *request.headers.find(name) : std::string_view();
}

tl::expected<Asker, Problem> identify(const Request& request, const std::vector<Integration>& integrations,
                                      semel::Timestamp now) {
    const auto sender = std::ranges::find(integrations, request.variable("integration"), &Integration::name);
    if (sender == integrations.end())
        return tl::unexpected(
            Problem(problems::not_found, "No integration of this name is configured. Nothing was done."));
    const semel::webhook::Signed message{.id = only(request, semel::webhook::id_header),
                                         .timestamp = only(request, semel::webhook::timestamp_header),
                                         .body = request.body};
    const auto fits =
        semel::webhook::verify(message, only(request, semel::webhook::signature_header), sender->secrets, now);
    if (!fits) {
        Problem problem(problems::unauthenticated, fits.error().message + ". Nothing was done.");
        problem.title = "A valid signature is required";
        return tl::unexpected(std::move(problem));
    }
    return Asker{.tenant = sender->tenant, .caller = "integration:" + sender->name, .key = std::string(message.id)};
}

}  // namespace

semel::http::Identify by_signature(const std::vector<Integration>& integrations, semel::Clock& clock) {
    return [integrations, &clock](const Request& request) { return identify(request, integrations, clock.wall()); };
}

}  // namespace orders
