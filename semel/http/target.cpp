#include "semel/http/target.hpp"

#include "semel/base/percent.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace semel::http {
namespace {

constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

/// How many bytes the character at the start of `text` has; 0 if it is not well-formed.
std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned least, unsigned most) {
        return i < text.size() && byte(i) >= least && byte(i) <= most;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(1, 0x80, 0xbf) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
        return second && follows(2, 0x80, 0xbf) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
        return second && follows(2, 0x80, 0xbf) && follows(3, 0x80, 0xbf) ? 4 : 0;
    }
    return 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

Result<Target> parse_target(std::string_view text) {
    const auto visible = [](char c) { return c > ' ' && c < '\x7f' && c != '#'; };
    if (!std::ranges::all_of(text, visible)) {
        return fail(Fault::rejected, "the target must be visible ASCII without a fragment");
    }
    Target target;
    if (text == "*") {
        target.path = text;
        return target;
    }
    if (!text.starts_with('/')) {
        const auto scheme_end = text.find("://");
        if (scheme_end == std::string_view::npos ||
            (!same_name(text.substr(0, scheme_end), "http") && !same_name(text.substr(0, scheme_end), "https"))) {
            return fail(Fault::rejected, "the target must begin with a slash");
        }
        text.remove_prefix(scheme_end + 3);
        target.authority = text.substr(0, text.find_first_of("/?"));
        text.remove_prefix(target.authority.size());
        if (target.authority.empty() || target.authority.find('@') != std::string_view::npos ||
            !text.starts_with('/')) {
            return fail(Fault::rejected, "the target's absolute form must be scheme, host and path");
        }
    }
    const auto mark = text.find('?');
    target.path = text.substr(0, mark);
    if (mark != std::string_view::npos) target.query = text.substr(mark + 1);
    return target;
}

Result<std::vector<std::string>> decode_path(std::string_view path) {
    std::vector<std::string> segments;
    path.remove_prefix(path.starts_with('/') ? 1 : 0);
    for (bool more = true; more;) {
        const std::string_view raw = path.substr(0, path.find('/'));
        more = raw.size() < path.size();
        path.remove_prefix(raw.size() + (more ? 1 : 0));
        auto segment = percent_decoded(raw);
        if (!segment) return fail(Fault::rejected, "the path has a malformed percent-encoding");
        if (segment->find_first_of("/\\") != std::string::npos) {
            return fail(Fault::rejected, "the path must not hold encoded slashes or backslashes");
        }
        if (std::ranges::any_of(*segment, is_control)) {
            return fail(Fault::rejected, "the path must not hold control characters");
        }
        if (*segment == "." || *segment == "..") {
            return fail(Fault::rejected, "the path must not hold dot segments");
        }
        if (!is_utf8(*segment)) return fail(Fault::rejected, "the path is not UTF-8");
        segments.push_back(*std::move(segment));
    }
    return segments;
}

Result<std::vector<Parameter>> decode_query(std::string_view query) {
    std::vector<Parameter> parameters;
    while (!query.empty()) {
        const std::string_view pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        if (pair.empty()) continue;
        if (parameters.size() == query_parameters_max) {
            return fail(Fault::rejected,
                        "the query has more than " + std::to_string(query_parameters_max) + " parameters");
        }
        const auto equals = pair.find('=');
        auto name = percent_decoded(pair.substr(0, equals), Plus::space);
        auto value = equals == std::string_view::npos ? std::optional(std::string())
                                                      : percent_decoded(pair.substr(equals + 1), Plus::space);
        if (!name || !value) return fail(Fault::rejected, "the query has a malformed percent-encoding");
        for (const std::string& part : {*name, *value}) {
            if (part.find('\0') != std::string::npos) return fail(Fault::rejected, "the query holds a zero byte");
            if (!is_utf8(part)) return fail(Fault::rejected, "the query is not UTF-8");
        }
        parameters.emplace_back(*std::move(name), *std::move(value));
    }
    return parameters;
}

}  // namespace semel::http
