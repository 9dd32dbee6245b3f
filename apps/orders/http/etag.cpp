#include "apps/orders/http/etag.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace orders {
namespace {

using semel::http::Problem;
namespace problems = semel::http::problems;

std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// One entity tag: `"…"`, or `W/"…"`.
bool is_entity_tag(std::string_view text) noexcept {
    if (text.starts_with("W/")) text.remove_prefix(2);
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' &&
           text.substr(1, text.size() - 2).find('"') == std::string_view::npos;
}

tl::unexpected<Problem> required(std::string_view why) {
    return tl::unexpected(Problem(
        problems::precondition_required,
        std::string(why) + " Send `If-Match` with the ETag of the version that you have seen. Nothing was done."));
}

}  // namespace

std::string etag_of(std::string_view kind, std::int64_t version) {
    return "\"" + std::string(kind) + "-version-" + std::to_string(version) + "\"";
}

tl::expected<std::int64_t, Problem> required_version(const semel::http::Request& request, std::string_view kind) {
    const auto field = request.headers.find("If-Match");
    if (!field) return required("Without a version this could undo what somebody else did.");
    const std::string_view tag = trimmed(*field);
    if (tag == "*") return required("Any version at all would do for `*`, and that could undo what somebody else did.");
    if (request.headers.count("If-Match") > 1 || !is_entity_tag(tag))
        return tl::unexpected(Problem(problems::malformed_request,
                                      "If-Match holds one entity tag in quotation marks. Nothing was done."));
    std::int64_t version = 0;
    const std::string_view digits = tag.substr(std::min(tag.size(), tag.rfind('-') + 1));
    std::from_chars(digits.data(), digits.data() + digits.size(), version);
    // Compared as a whole, so that "quote-version-007" is not version 7.
    return version > 0 && etag_of(kind, version) == tag ? version : 0;
}

bool is_unchanged(const semel::http::Request& request, std::string_view etag) {
    for (const std::string_view field : request.headers.all("If-None-Match")) {
        for (std::string_view rest = field; !rest.empty();) {
            std::string_view tag = trimmed(rest.substr(0, rest.find(',')));
            rest.remove_prefix(
                std::min(rest.size(), rest.find(',') == std::string_view::npos ? rest.size() : rest.find(',') + 1));
            if (tag == "*") return true;
            if (tag.starts_with("W/")) tag.remove_prefix(2);
            if (tag == etag) return true;
        }
    }
    return false;
}

}  // namespace orders
