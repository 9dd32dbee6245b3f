#include "semel/base/canon_order.hpp"

#include <algorithm>
#include <numeric>

namespace semel::canon {
namespace {

/// One step through a name in canonical form: the next byte of its UTF-8, as UTF-16 ranks it; 0 at the end stands
/// before them all. The first bytes that differ decide, and they decide as UTF-16 does, except that the lead bytes of
/// U+E000…U+FFFF (0xee, 0xef) must come behind those of the characters that UTF-16 writes with surrogates (0xf0…0xf4).
struct Steps {
    std::string_view rest;

    unsigned next() noexcept {
        if (rest.empty()) return 0;
        const auto byte = static_cast<unsigned char>(rest.front());
        if (byte == '\\') return 1U + escaped();
        rest.remove_prefix(1);
        return 1U + (byte == 0xee || byte == 0xef ? byte + 0x10U : byte);
    }

private:
    unsigned escaped() noexcept {
        const char letter = rest[1];
        if (letter == 'u') {
            // Canonical form escapes nothing above 0x1f this way, in small letters.
            const char low = rest[5];
            const unsigned value =
                (rest[4] == '1' ? 16U : 0U) + static_cast<unsigned>(is_digit(low) ? low - '0' : low - 'a' + 10);
            rest.remove_prefix(6);
            return value;
        }
        rest.remove_prefix(2);
        switch (letter) {
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            default: return static_cast<unsigned char>(letter);
        }
    }
};

/// Copies text[from, to) so that it ends at `out`, in steps of a fixed size; what it writes too much lies before the
/// place that is written next.
char* copy_back(char* out, const char* text, std::uint32_t from, std::uint32_t to) noexcept {
    constexpr std::ptrdiff_t step = 16;
    static_assert(step <= output_slack);
    const char* in = text + to;
    char* at = out;
    for (std::ptrdiff_t left = to - from; left > 0; left -= step) {
        in -= step;
        at -= step;
        std::memcpy(at, in, step);
    }
    return out - (to - from);
}

}  // namespace

std::strong_ordering compare_escaped(std::string_view a, std::string_view b) noexcept {
    Steps left{a};
    Steps right{b};
    for (;;) {
        const unsigned x = left.next();
        const unsigned y = right.next();
        if (x != y || x == 0) return x <=> y;
    }
}

Order::Order() noexcept {
    for (auto& guess : guesses_) std::iota(guess.begin(), guess.end(), 0U);
}

void Order::clear() noexcept {
    objects_.clear();
    count_ = 0;
    pieces_.clear();
}

/// The places of the members, by name. Those of one name are neighbours.
std::span<const std::uint32_t> Order::sorted(std::span<const Member> members, const char* text) {
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        return compare_names(members[a], members[b], text) < 0;
    };
    if (members.size() > guessed_max) {
        large_.resize(members.size());
        std::iota(large_.begin(), large_.end(), 0U);
        std::ranges::sort(large_, before);
        return large_;
    }
    const auto guess = std::span(guesses_[members.size()]).first(members.size());
    for (std::size_t i = 1; i < guess.size(); ++i) {
        if (before(guess[i - 1], guess[i])) continue;
        std::ranges::sort(guess, before);
        break;
    }
    return guess;
}

const Member* Order::add(std::span<const Member> members, std::uint32_t end, const char* text) {
    const Object object{.begin = members.front().begin,
                        .end = end,
                        .first = static_cast<std::uint32_t>(pieces_.size()),
                        .count = static_cast<std::uint32_t>(members.size()),
                        .moved_from = members.front().moved_from};
    const Member* previous = nullptr;
    for (const std::uint32_t place : sorted(members, text)) {
        const Member& member = members[place];
        if (previous != nullptr && compare_names(*previous, member, text) == 0)
            return previous->source < member.source ? &member : previous;
        previous = &member;
        const bool last = place + 1 == members.size();
        pieces_.push_back({.begin = member.begin,
                           .end = last ? end : members[place + 1].begin - 1,
                           .moved_from = member.moved_from,
                           .moved_to = last ? count() : members[place + 1].moved_from});
    }
    objects_.push_back(object);
    ++count_;
    return nullptr;
}

void Order::write(char* out, const char* text, std::uint32_t size) const noexcept {
    write_piece(out, text, {.begin = 0, .end = size, .moved_from = 0, .moved_to = count()});
}

char* Order::write_piece(char* out, const char* text, const Piece& piece) const noexcept {
    std::uint32_t written = piece.end;
    for (std::uint32_t next = piece.moved_to; next > piece.moved_from;) {
        const Object& object = objects_[next - 1];
        out = copy_back(out, text, object.end, written);
        for (std::uint32_t i = object.count; i-- > 0;) {
            out = write_piece(out, text, pieces_[object.first + i]);
            if (i > 0) *--out = ',';
        }
        written = object.begin;
        next = object.moved_from;
    }
    return copy_back(out, text, piece.begin, written);
}

std::size_t Order::retained() const noexcept {
    return objects_.capacity() * sizeof(Object) + pieces_.capacity() * sizeof(Piece) +
           large_.capacity() * sizeof(std::uint32_t);
}

}  // namespace semel::canon
