#include "semel/base/canon_walk.hpp"

#include "semel/base/canon.hpp"
#include "semel/base/canon_number.hpp"
#include "semel/base/canon_string.hpp"

#include <algorithm>

namespace semel::canon {

std::uint32_t Walk::run() {
    char* const out = make_room(text_.data() + output_slack, static_cast<std::size_t>(end_ - begin_));
    const char* const start = skip_space(begin_);
    if (start == end_) return refuse(start, "the document is empty"), 0;
    if (std::string_view(begin_, end_).starts_with("\xef\xbb\xbf")) return refuse(start, "a byte order mark"), 0;
    const Cursor at = value({start, out}, 0);
    if (at.in == nullptr) return 0;
    const char* const rest = skip_space(at.in);
    if (rest != end_) return refuse(rest, "something follows the document"), 0;
    return written(at.out);
}

Cursor Walk::value(Cursor at, unsigned depth) {
    switch (*at.in) {
        case '"': return string(at);
        case '{': return object(at, depth + 1);
        case '[': return array(at, depth + 1);
        case 't': return literal(at, "true");
        case 'f': return literal(at, "false");
        case 'n': return literal(at, "null");
        default: return number(at);
    }
}

Cursor Walk::object(Cursor at, unsigned depth) {
    if (depth > canonical_json_depth_max) return refuse(at.in, "nested too deeply");
    *at.out++ = '{';
    at.in = skip_space(at.in + 1);
    if (*at.in == '}') {
        *at.out++ = '}';
        return {at.in + 1, at.out};
    }
    const std::size_t first = members_.size();
    bool ascending = true;
    for (;;) {
        at = name(at);
        if (at.in == nullptr) return at;
        const std::size_t own = members_.size() - 1;
        if (own > first) ascending &= compare_names(members_[own - 1], members_[own], text_.data() + output_slack) < 0;
        at = value(at, depth);
        if (at.in == nullptr) return at;
        at.in = skip_space(at.in);
        if (*at.in != ',') break;
        *at.out++ = ',';
        at.in = skip_space(at.in + 1);
    }
    if (*at.in != '}') return refuse_unexpected(at.in, "expected , or } after a member of an object");
    if (!ascending) {
        const auto members = std::span(members_).subspan(first);
        if (const Member* twin = order_.add(members, written(at.out), text_.data() + output_slack))
            return refuse(begin_ + twin->source, "a duplicate name");
    }
    members_.resize(first);
    *at.out++ = '}';
    return {at.in + 1, at.out};
}

Cursor Walk::name(Cursor at) {
    if (*at.in != '"') return refuse_unexpected(at.in, "expected a name in quotes");
    Member& member = members_.emplace_back();
    member.begin = written(at.out);
    member.source = static_cast<std::uint32_t>(at.in - begin_);
    member.moved_from = order_.count();
    *at.out++ = '"';
    const char* const source = at.in + 1;
    const char* const start = at.out;
    at = copy_plain({source, at.out});
    member.plain = *at.in == '"';
    if (!member.plain) {
        const StringEnd rest = copy_rest(at);
        if (rest.reason != nullptr) return refuse_unexpected(rest.at.in, rest.reason);
        at = rest.at;
    }
    member.name_size = static_cast<std::uint32_t>(at.out - start);
    member.prefix = prefix_of(source, member.name_size);
    at.in = skip_space(at.in + 1);
    if (*at.in != ':') return refuse_unexpected(at.in, "expected : after a name");
    std::memcpy(at.out, "\":", 2);
    return {skip_space(at.in + 1), at.out + 2};
}

Cursor Walk::array(Cursor at, unsigned depth) {
    if (depth > canonical_json_depth_max) return refuse(at.in, "nested too deeply");
    *at.out++ = '[';
    at.in = skip_space(at.in + 1);
    if (*at.in != ']') {
        for (;;) {
            at = value(at, depth);
            if (at.in == nullptr) return at;
            at.in = skip_space(at.in);
            if (*at.in != ',') break;
            *at.out++ = ',';
            at.in = skip_space(at.in + 1);
        }
        if (*at.in != ']') return refuse_unexpected(at.in, "expected , or ] after a value of an array");
    }
    *at.out++ = ']';
    return {at.in + 1, at.out};
}

Cursor Walk::string(Cursor at) {
    *at.out++ = '"';
    at = copy_plain({at.in + 1, at.out});
    if (*at.in != '"') {
        const StringEnd rest = copy_rest(at);
        if (rest.reason != nullptr) return refuse_unexpected(rest.at.in, rest.reason);
        at = rest.at;
    }
    *at.out++ = '"';
    return {at.in + 1, at.out};
}

Cursor Walk::number(Cursor at) {
    const Cursor copied = copy_short_number(at);
    if (copied.in != nullptr) return copied;
    if (*at.in != '-' && !is_digit(*at.in)) return refuse_unexpected(at.in, "expected a value");
    const Number number = read_number(at.in);
    if (number.reason != nullptr) return refuse_unexpected(number.end, number.reason);
    at.out = make_room(at.out, static_cast<std::size_t>(end_ - at.in) + number_growth_max);
    return {number.end, write_number(at.out, number)};
}

Cursor Walk::literal(Cursor at, std::string_view word) {
    if (std::string_view(at.in, word.size()) != word) return refuse_unexpected(at.in, "expected a value");
    std::ranges::copy(word, at.out);
    return {at.in + word.size(), at.out + word.size()};
}

Cursor Walk::refuse(const char* at, const char* reason) noexcept {
    place_ = at;
    reason_ = reason;
    return {nullptr, nullptr};
}

Cursor Walk::refuse_unexpected(const char* at, const char* reason) noexcept {
    return refuse(at, at == end_ ? "the document ends too early" : reason);
}

char* Walk::make_room(char* out, std::size_t room) {
    const auto used = static_cast<std::size_t>(out - text_.data());
    const std::size_t needed = used + room + output_slack;
    // Growing by half keeps many growing numbers from copying the text again and again.
    if (needed > text_.size()) text_.resize(std::max(needed, text_.size() + text_.size() / 2));
    return text_.data() + used;
}

}  // namespace semel::canon
