#include "semel/testing/postgres_wire.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace semel::testing {
namespace {

constexpr std::uint32_t cancel_code = 80877102;
constexpr std::uint32_t ssl_code = 80877103;
constexpr std::uint32_t gss_code = 80877104;

std::uint32_t big_endian(std::string_view bytes) noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// Takes the text up to the next zero byte.
std::string_view take_text(std::string_view& body) {
    const std::string_view text = body.substr(0, body.find('\0'));
    body.remove_prefix(std::min(body.size(), text.size() + 1));
    return text;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view around = " \t\r\n;";
    const auto first = text.find_first_not_of(around);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(around) - first + 1);
}

/// COMMIT or END, alone or as the last of several statements.
bool ends_with_commit(std::string_view text) {
    text = trimmed(text);
    if (const auto semicolon = text.rfind(';'); semicolon != std::string_view::npos)
        text = trimmed(text.substr(semicolon + 1));
    std::string upper(text);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    constexpr std::array<std::string_view, 4> forms{"COMMIT", "COMMIT WORK", "COMMIT TRANSACTION", "END"};
    return std::find(forms.begin(), forms.end(), upper) != forms.end();
}

void remember(std::set<std::string, std::less<>>& names, std::string_view name, bool belongs) {
    if (belongs) {
        names.emplace(name);
    } else if (const auto found = names.find(name); found != names.end()) {
        names.erase(found);
    }
}

}  // namespace

std::optional<MessageScanner::Header> MessageScanner::header(std::string_view bytes) const {
    const std::size_t type_size = starting_ ? 0 : 1;
    if (bytes.size() < 8 && (starting_ || bytes.size() < 5)) return std::nullopt;
    Header header{.type = wire::startup, .size = big_endian(bytes.substr(type_size)) + std::uint64_t{type_size}};
    if (starting_) {
        const std::uint32_t code = big_endian(bytes.substr(4));
        if (code == cancel_code) header.type = wire::cancel_request;
        if (code == ssl_code) header.type = wire::ssl_request;
        if (code == gss_code) header.type = wire::gss_request;
    } else {
        header.type = bytes.front();
    }
    if (header.size < type_size + 4) header.size = std::numeric_limits<std::uint64_t>::max();
    return header;
}

std::optional<MessageScanner::Piece> MessageScanner::look(std::string_view bytes) const {
    if (bytes.empty()) return std::nullopt;
    if (left_ > 0) {
        const std::size_t size = std::min<std::uint64_t>(left_, bytes.size());
        return Piece{.type = type_, .first = false, .last = size == left_, .bytes = bytes.substr(0, size)};
    }
    const auto found = header(bytes);
    if (!found) return std::nullopt;
    if (found->size <= whole_max && bytes.size() < found->size) return std::nullopt;
    const std::size_t size = std::min<std::uint64_t>(found->size, bytes.size());
    return Piece{.type = found->type, .first = true, .last = size == found->size, .bytes = bytes.substr(0, size)};
}

void MessageScanner::consume(const Piece& piece) {
    if (piece.first) {
        left_ = header(piece.bytes)->size;
        type_ = piece.type;
    }
    left_ -= piece.bytes.size();
    // After the answer to a request for encryption the start-up message follows.
    if (left_ == 0 && (type_ == wire::startup || type_ == wire::cancel_request)) starting_ = false;
}

bool CommitDetector::is_commit(const MessageScanner::Piece& message) {
    std::string_view body = message.body();
    switch (message.type) {
        case 'Q': return ends_with_commit(take_text(body));
        case 'P': {
            const std::string_view name = take_text(body);
            remember(statements_, name, ends_with_commit(take_text(body)));
            return false;
        }
        case 'B': {
            const std::string_view portal = take_text(body);
            remember(portals_, portal, statements_.contains(take_text(body)));
            return false;
        }
        case 'E': return portals_.contains(take_text(body));
        case 'C': {
            auto& names = body.starts_with('S') ? statements_ : portals_;
            body.remove_prefix(std::min<std::size_t>(1, body.size()));
            remember(names, take_text(body), false);
            return false;
        }
        default: return false;
    }
}

}  // namespace semel::testing
