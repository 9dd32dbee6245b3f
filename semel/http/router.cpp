#include "semel/http/router.hpp"

#include "semel/base/assert.hpp"
#include "semel/http/target.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace semel::http {
namespace {

/// One segment of a pattern.
struct Segment {
    std::string text;  ///< The literal, or the variable's name.
    bool variable = false;

    friend bool operator==(const Segment&, const Segment&) = default;
};

std::vector<Segment> parse_pattern(std::string_view pattern) {
    SEMEL_ASSERT(pattern.starts_with('/'));
    const auto parts = decode_path(pattern);
    SEMEL_ASSERT(parts.has_value());
    std::vector<Segment> segments;
    for (const std::string& part : *parts) {
        const bool variable = part.size() > 2 && part.starts_with('{') && part.ends_with('}');
        SEMEL_ASSERT(variable || part.find_first_of("{}%") == std::string::npos);
        segments.push_back({variable ? part.substr(1, part.size() - 2) : part, variable});
    }
    return segments;
}

/// The methods of one path.
struct Path {
    std::vector<Segment> segments;
    std::map<std::string, Route, std::less<>> routes;

    [[nodiscard]] bool fits(const std::vector<std::string>& given) const noexcept {
        return std::ranges::equal(segments, given, [](const Segment& segment, const std::string& text) {
            return segment.variable ? !text.empty() : segment.text == text;
        });
    }
    [[nodiscard]] const Route* find(std::string_view method) const noexcept {
        const auto found = routes.find(method);
        return found == routes.end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::string allowed() const {
        std::string list = "OPTIONS";
        if (find("GET") != nullptr && find("HEAD") == nullptr) list += ", HEAD";
        for (const auto& [method, route] : routes) {
            if (method != "OPTIONS") list += ", " + method;
        }
        return list;
    }
};

/// Literal before variable, from the left.
bool is_preferred(const Path& a, const Path& b) noexcept {
    const auto is_variable = [](const Segment& segment) { return segment.variable; };
    return std::ranges::lexicographical_compare(a.segments, b.segments, {}, is_variable, is_variable);
}

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

}  // namespace

struct Router::Table {
    std::map<std::size_t, std::vector<std::unique_ptr<Path>>> by_length;
    std::unordered_map<std::string, const Path*, Hash, std::equal_to<>> literal;
};

Router::Router() : table_(std::make_unique<Table>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(std::string_view method, std::string_view pattern, Route route) {
    SEMEL_ASSERT(is_field_name(method));
    SEMEL_ASSERT(route.handle || route.at_once);
    auto segments = parse_pattern(pattern);
    auto& paths = table_->by_length[segments.size()];
    auto found = std::ranges::find_if(paths, [&](const auto& path) { return path->segments == segments; });
    if (found == paths.end()) {
        auto path = std::make_unique<Path>(Path{std::move(segments), {}});
        const auto place = std::ranges::find_if(paths, [&](const auto& other) { return is_preferred(*path, *other); });
        found = paths.insert(place, std::move(path));
    }
    const bool is_literal = std::ranges::none_of((*found)->segments, &Segment::variable);
    if (is_literal) table_->literal.insert_or_assign(std::string(pattern), found->get());
    const bool added = (*found)->routes.emplace(method, std::move(route)).second;
    SEMEL_ASSERT(added);
}

Router::Match Router::match(std::string_view method, const std::vector<std::string>& segments, Request& request) const {
    Match match;
    request.variables.clear();
    const auto paths = table_->by_length.find(segments.size());
    if (paths == table_->by_length.end()) return match;
    for (const auto& path : paths->second) {
        if (!path->fits(segments)) continue;
        match.route = path->find(method);
        if (match.route == nullptr && method == "HEAD") match.route = path->find("GET");
        if (match.route == nullptr) {
            // A more general path may still have the method.
            if (match.allowed.empty()) match.allowed = path->allowed();
            continue;
        }
        match.allowed.clear();
        for (std::size_t i = 0; i < segments.size(); ++i) {
            if (path->segments[i].variable) request.variables.emplace_back(path->segments[i].text, segments[i]);
        }
        return match;
    }
    return match;
}

const Route* Router::find_literal(std::string_view method, std::string_view path) const noexcept {
    const auto found = table_->literal.find(path);
    return found == table_->literal.end() ? nullptr : found->second->find(method);
}

}  // namespace semel::http
