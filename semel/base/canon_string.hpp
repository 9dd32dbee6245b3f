#pragma once

#include "semel/base/canon_cursor.hpp"

#include <bit>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace semel::canon {

/// Marks bytes that cannot be copied as they are: quote, backslash, control, not ASCII. The lowest mark is exact; marks
/// above it may be false.
[[nodiscard]] constexpr std::uint64_t marks(std::uint64_t word) noexcept {
    constexpr std::uint64_t each = 0x0101010101010101;
    // With its top bit clear, a byte gets it by a subtraction only if it was smaller, which borrows from bytes above.
    const std::uint64_t quote = (word ^ (each * '"')) - each;
    const std::uint64_t backslash = (word ^ (each * '\\')) - each;
    const std::uint64_t control = word - each * 0x20;
    return (quote | backslash | control | word) & (each * 0x80);
}

/// So many bytes are looked at together: most names and strings end within them, so that the processor has one branch
/// to foresee.
inline constexpr int chunk = 16;

/// Copies a chunk and returns how many bytes at its start are plain. For processors without an instruction for it.
[[nodiscard]] inline int copy_chunk_by_words(Cursor at) noexcept {
    for (int offset = 0; offset < chunk; offset += 8) {
        std::uint64_t word = load_word(at.in + offset);
        std::memcpy(at.out + offset, &word, sizeof word);
        if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
        if (const std::uint64_t found = marks(word); found != 0) return offset + std::countr_zero(found) / 8;
    }
    return chunk;
}

[[nodiscard]] inline int copy_chunk(Cursor at) noexcept {
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at.in));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at.out), bytes);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    // Signed, so that bytes outside ASCII are small, too.
    const __m128i small = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    const int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), small));
    return std::countr_zero(static_cast<unsigned>(found) | 1U << chunk);
#else
    return copy_chunk_by_words(at);
#endif
}

/// Copies up to the first byte that needs a closer look.
[[nodiscard]] inline Cursor copy_plain(Cursor at) noexcept {
    for (;;) {
        const int plain = copy_chunk(at);
        at.in += plain;
        at.out += plain;
        if (plain < chunk) return at;
    }
}

/// How a string ended.
struct StringEnd {
    Cursor at;                     ///< At the closing quote, which is not written; or where it was refused.
    const char* reason = nullptr;  ///< Why it was refused.
};

/// Copies the rest of a string in its canonical form: escapes only where there must be some, and the shortest.
[[nodiscard]] StringEnd copy_rest(Cursor at) noexcept;

}  // namespace semel::canon
