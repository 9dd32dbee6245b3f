#include "semel/base/canon_string.hpp"

#include <algorithm>

namespace semel::canon {
namespace {

constexpr std::uint32_t no_character = 0xffffffff;

[[nodiscard]] bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

/// The length of the UTF-8 sequence that begins here; 0 if none does. A zero byte ends every sequence, so it never
/// looks past the end.
std::size_t sequence_length(const char* in) noexcept {
    const auto lead = static_cast<unsigned char>(in[0]);
    if (lead < 0xc2) return 0;  // A continuation, or a longer form of ASCII.
    if (!is_continuation(in[1])) return 0;
    if (lead < 0xe0) return 2;
    const auto second = static_cast<unsigned char>(in[1]);
    if (!is_continuation(in[2])) return 0;
    if (lead < 0xf0) {
        const bool overlong = lead == 0xe0 && second < 0xa0;
        const bool surrogate = lead == 0xed && second >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (lead > 0xf4 || !is_continuation(in[3])) return 0;
    const bool overlong = lead == 0xf0 && second < 0x90;
    const bool past_the_end = lead == 0xf4 && second >= 0x90;
    return overlong || past_the_end ? 0 : 4;
}

/// Four hexadecimal digits.
std::uint32_t read_hex(const char* in) noexcept {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = in[i];
        const int digit = is_digit(c)              ? c - '0'
                          : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                          : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                                   : -1;
        if (digit < 0) return no_character;
        value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
}

char* put_utf8(char* out, std::uint32_t character) noexcept {
    const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(static_cast<unsigned char>(byte)); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0U | character >> 6U);
        put(0x80U | (character & 0x3fU));
    } else if (character < 0x10000) {
        put(0xe0U | character >> 12U);
        put(0x80U | (character >> 6U & 0x3fU));
        put(0x80U | (character & 0x3fU));
    } else {
        put(0xf0U | character >> 18U);
        put(0x80U | (character >> 12U & 0x3fU));
        put(0x80U | (character >> 6U & 0x3fU));
        put(0x80U | (character & 0x3fU));
    }
    return out;
}

/// The one way RFC 8785 writes a character.
char* put_character(char* out, std::uint32_t character) noexcept {
    const auto put_escape = [&out](char letter) {
        *out++ = '\\';
        *out++ = letter;
        return out;
    };
    switch (character) {
        case '"': return put_escape('"');
        case '\\': return put_escape('\\');
        case '\b': return put_escape('b');
        case '\f': return put_escape('f');
        case '\n': return put_escape('n');
        case '\r': return put_escape('r');
        case '\t': return put_escape('t');
        default: break;
    }
    if (character >= 0x20) return put_utf8(out, character);
    std::copy_n("\\u00", 4, out);
    out[4] = static_cast<char>('0' + (character >> 4U));
    out[5] = "0123456789abcdef"[character & 0xfU];
    return out + 6;
}

/// The character behind a backslash and a letter other than `u`.
std::uint32_t short_escape(char letter) noexcept {
    switch (letter) {
        case '"': return '"';
        case '\\': return '\\';
        case '/': return '/';
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return no_character;
    }
}

/// `at` is at a backslash.
StringEnd copy_escape(Cursor at) noexcept {
    if (at.in[1] != 'u') {
        const std::uint32_t character = short_escape(at.in[1]);
        if (character == no_character) return {.at = at, .reason = "an unknown escape in a string"};
        return {.at = {at.in + 2, put_character(at.out, character)}};
    }
    const std::uint32_t first = read_hex(at.in + 2);
    if (first == no_character) return {.at = at, .reason = "an escape \\u without four hexadecimal digits"};
    if (first < 0xd800 || first > 0xdfff) return {.at = {at.in + 6, put_character(at.out, first)}};
    const bool pair = first < 0xdc00 && at.in[6] == '\\' && at.in[7] == 'u';
    const std::uint32_t second = pair ? read_hex(at.in + 8) : no_character;
    if (second < 0xdc00 || second > 0xdfff) return {.at = at, .reason = "a lone surrogate"};
    const std::uint32_t character = 0x10000 + ((first - 0xd800) << 10U) + (second - 0xdc00);
    return {.at = {at.in + 12, put_utf8(at.out, character)}};
}

}  // namespace

StringEnd copy_rest(Cursor at) noexcept {
    for (;;) {
        const char c = *at.in;
        if (c == '"') return {.at = at};
        if (c == '\\') {
            const StringEnd escape = copy_escape(at);
            if (escape.reason != nullptr) return escape;
            at = escape.at;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            const std::size_t length = sequence_length(at.in);
            if (length == 0) return {.at = at, .reason = "invalid UTF-8"};
            std::memcpy(at.out, at.in, 4);
            at.in += length;
            at.out += length;
            continue;  // A character outside ASCII is often followed by another.
        } else if (static_cast<unsigned char>(c) < 0x20) {
            return {.at = at, .reason = "a control character in a string, which must be escaped"};
        }
        at = copy_plain(at);
    }
}

}  // namespace semel::canon
