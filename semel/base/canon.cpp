#include "semel/base/canon.hpp"

#include "semel/base/canon_walk.hpp"

#include <algorithm>

namespace semel {
namespace {

/// Where a byte stands, for people.
std::string place_text(std::string_view document, std::size_t byte) {
    const std::string_view before = document.substr(0, byte);
    const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::size_t newline = before.rfind('\n');
    const std::string_view row = newline == std::string_view::npos ? before : before.substr(newline + 1);
    const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; };
    const std::size_t column = 1 + static_cast<std::size_t>(std::ranges::count_if(row, begins_character));
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + " (byte " + std::to_string(byte) +
           ")";
}

}  // namespace

struct JsonCanonicaliser::State {
    std::string input;    ///< The document and its padding.
    std::string text;     ///< What the walk wrote, between slack on both sides.
    std::string ordered;  ///< The same with objects in order, slack before it.
    std::vector<canon::Member> members;
    canon::Order order;

    [[nodiscard]] std::size_t retained() const noexcept {
        return input.capacity() + text.capacity() + ordered.capacity() + members.capacity() * sizeof(canon::Member) +
               order.retained();
    }
    Result<std::string_view> canonical(std::string_view document);
};

Result<std::string_view> JsonCanonicaliser::State::canonical(std::string_view document) {
    if (document.size() > canonical_json_bytes_max)
        return fail(Fault::rejected,
                    "the document is larger than " + std::to_string(canonical_json_bytes_max) + " bytes");
    // No string is ever shrunk, so that only growth pays for filling the new bytes.
    const std::size_t padded = document.size() + canon::input_padding;
    if (input.size() < padded) input.resize(padded);
    std::ranges::copy(document, input.begin());
    std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(document.size()), canon::input_padding, '\0');
    members.clear();
    order.clear();

    canon::Walk walk(std::string_view(input).substr(0, document.size()), text, members, order);
    const std::uint32_t size = walk.run();
    if (size == 0)
        return fail(Fault::rejected, std::string(walk.reason()) + " at " + place_text(document, walk.place()));
    const char* const written = text.data() + canon::output_slack;
    if (order.untouched()) return std::string_view(written, size);
    const std::size_t room = canon::output_slack + size;
    if (ordered.size() < room) ordered.resize(room);
    order.write(ordered.data() + room, written, size);
    return std::string_view(ordered.data() + canon::output_slack, size);
}

JsonCanonicaliser::JsonCanonicaliser() : state_(std::make_unique<State>()) {}
JsonCanonicaliser::~JsonCanonicaliser() = default;
JsonCanonicaliser::JsonCanonicaliser(JsonCanonicaliser&&) noexcept = default;
JsonCanonicaliser& JsonCanonicaliser::operator=(JsonCanonicaliser&&) noexcept = default;

Result<std::string_view> JsonCanonicaliser::canonical(std::string_view text) { return state_->canonical(text); }

void JsonCanonicaliser::trim() noexcept {
    if (state_->retained() <= retained_max) return;
    // Swapped, not assigned: an assigned string keeps its buffer.
    State fresh;
    std::swap(*state_, fresh);
}

std::size_t JsonCanonicaliser::retained() const noexcept { return state_->retained(); }

JsonCanonicaliser& JsonCanonicaliser::of_this_thread() {
    thread_local JsonCanonicaliser own;
    return own;
}

Result<std::string> canonical_json(std::string_view text) {
    JsonCanonicaliser& canonicaliser = JsonCanonicaliser::of_this_thread();
    auto canonical = canonicaliser.canonical(text).map([](std::string_view view) { return std::string(view); });
    canonicaliser.trim();
    return canonical;
}

}  // namespace semel
