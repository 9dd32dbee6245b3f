#pragma once

#include "semel/base/canon_cursor.hpp"

#include <array>
#include <bit>
#include <compare>
#include <span>
#include <string_view>
#include <vector>

namespace semel::canon {

/// A name and its value, as positions in the text that was written so far. The value ends before the next member.
struct Member {
    std::uint64_t prefix = 0;  ///< The first eight bytes of a plain name, comparable as a number.
    std::uint32_t begin = 0;   ///< Of the name's opening quote.
    std::uint32_t name_size = 0;
    std::uint32_t source = 0;      ///< Where the name stands in the document.
    std::uint32_t moved_from = 0;  ///< The first of the value's objects that must be reordered, if there are any.
    bool plain = false;            ///< The name is ASCII without escapes, so its bytes sort as they are.

    [[nodiscard]] std::string_view name(const char* text) const noexcept { return {text + begin + 1, name_size}; }
};

/// The prefix of a plain name that stands at `name`, where eight bytes can be read.
[[nodiscard]] inline std::uint64_t prefix_of(const char* name, std::size_t size) noexcept {
    std::uint64_t word = load_word(name);
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    if (size >= sizeof word) return word;
    return size == 0 ? 0 : word & ~(~std::uint64_t{0} >> (8 * size));
}

/// Order by UTF-16 code units of two names in canonical form, escapes and all.
[[nodiscard]] std::strong_ordering compare_escaped(std::string_view a, std::string_view b) noexcept;

/// Order by UTF-16 code units. Bytes of UTF-8 sort otherwise: U+FB33 lies before U+1F600 there.
[[nodiscard]] inline std::strong_ordering compare_names(const Member& a, const Member& b, const char* text) noexcept {
    if (!a.plain || !b.plain) return compare_escaped(a.name(text), b.name(text));
    // A plain name holds no zero byte, so the zeros that fill up a short one sort it first, as they must.
    if (a.prefix != b.prefix) return a.prefix <=> b.prefix;
    return a.name(text) <=> b.name(text);
}

/// Remembers which objects were not in order, and writes the text with every object in order, each byte once.
class Order {
public:
    Order() noexcept;
    void clear() noexcept;
    [[nodiscard]] bool untouched() const noexcept { return objects_.empty(); }
    /// How many objects are to be reordered so far.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// Sorts an object, whose last member ends at `end`. Returns the second of two members with one name; null if all
    /// names differ.
    [[nodiscard]] const Member* add(std::span<const Member> members, std::uint32_t end, const char* text);

    /// Writes `size` bytes of text, reordered, so that they end at `out`. `output_slack` bytes before both may be
    /// touched.
    void write(char* out, const char* text, std::uint32_t size) const noexcept;

    [[nodiscard]] std::size_t retained() const noexcept;

private:
    /// A member in its new place.
    struct Piece {
        std::uint32_t begin, end;
        std::uint32_t moved_from, moved_to;
    };
    struct Object {
        std::uint32_t begin, end;    ///< Of the text between the braces.
        std::uint32_t first, count;  ///< Its members among the pieces, in order.
        std::uint32_t moved_from;    ///< The objects inside it begin here, and end before itself.
    };
    /// Objects of up to so many members have a guess.
    static constexpr std::size_t guessed_max = 16;

    std::span<const std::uint32_t> sorted(std::span<const Member> members, const char* text);
    char* write_piece(char* out, const char* text, const Piece& piece) const noexcept;

    std::vector<Object> objects_;  ///< Each behind those inside it.
    std::uint32_t count_ = 0;      ///< Of them; asked for with every name.
    std::vector<Piece> pieces_;
    /// How the last object with so many members was sorted. Lists hold objects of one shape, and so do the requests of
    /// one operation: the guess is often right, and seeing that is cheaper than sorting.
    std::array<std::array<std::uint32_t, guessed_max>, guessed_max + 1> guesses_;
    std::vector<std::uint32_t> large_;  ///< The same for larger objects, without a guess.
};

}  // namespace semel::canon
