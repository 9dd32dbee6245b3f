#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace semel::canon {

/// Where the reader is in the document and the writer in its output. Passed by value, so that both stay in registers;
/// without `in` the document was refused.
struct Cursor {
    const char* in;
    char* out;
};

/// Zero bytes behind the document. Zero is no part of any token, so nothing runs past the end, and words may be
/// loaded from every position.
inline constexpr std::size_t input_padding = 64;
/// Room that is kept behind the output: words may be stored at every position.
inline constexpr std::size_t output_slack = 64;

[[nodiscard]] inline std::uint64_t load_word(const char* from) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
}

[[nodiscard]] inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The next character that is no white space.
[[nodiscard]] inline const char* skip_space(const char* in) noexcept {
    constexpr std::uint64_t spaces = 0x2020202020202020;
    while (*in == ' ' || *in == '\n' || *in == '\r' || *in == '\t') {
        ++in;
        while (load_word(in) == spaces) in += sizeof spaces;
    }
    return in;
}

}  // namespace semel::canon
