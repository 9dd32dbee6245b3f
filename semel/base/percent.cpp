#include "semel/base/percent.hpp"

#include "semel/base/hex.hpp"

namespace semel {
namespace {

/// The byte that `%XX` at the start of the text stands for; less than zero: there is none.
int escaped_byte(std::string_view text) noexcept {
    if (text.size() < 3 || text[0] != '%') return -1;
    const int high = hex_value(text[1]);
    const int low = hex_value(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, Plus plus) {
    std::string decoded;
    decoded.reserve(text.size());
    while (!text.empty()) {
        const int byte = escaped_byte(text);
        if (byte < 0 && text[0] == '%') return std::nullopt;
        if (byte >= 0)
            decoded += static_cast<char>(byte);
        else
            decoded += plus == Plus::space && text[0] == '+' ? ' ' : text[0];
        text.remove_prefix(byte >= 0 ? 3 : 1);
    }
    return decoded;
}

std::string percent_decoded_where_it_is(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    while (!text.empty()) {
        const int byte = escaped_byte(text);
        decoded += byte >= 0 ? static_cast<char>(byte) : text[0];
        text.remove_prefix(byte >= 0 ? 3 : 1);
    }
    return decoded;
}

}  // namespace semel
