#pragma once

#include "semel/base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace semel {

/// Larger documents are refused. Far above what an API takes as one command; keeps the memory of one call bounded.
inline constexpr std::size_t canonical_json_bytes_max = 16UZ * 1024 * 1024;
/// Objects and arrays inside each other, at most. Bounds the stack; what people write stays below 20.
inline constexpr unsigned canonical_json_depth_max = 256;

/// The canonical form of a JSON document: two documents have the same bytes exactly if they have the same value.
///
/// It is RFC 8785 (names sorted by UTF-16 code units, no white space, one way to write each string and number) with a
/// rule of our own for numbers that a double cannot tell apart. A number keeps the form of RFC 8785 (ECMAScript's) if
/// that form has exactly the value that was written: 1.0, 1 and 1e0 are `1`, -0 is `0`, 1e21 is `1e+21`. Any other
/// number keeps its exact value in scientific normal form: one digit, not zero, then the others without trailing zeros,
/// then an exponent with its sign. So 9007199254740993 is `9.007199254740993e+15`, and 1e400 is `1e+400`; neither
/// becomes its neighbour, infinity or zero. The text of a number always has the value of that number, hence two values
/// never share a text.
///
/// Refused, as an Error (`rejected`) that names reason and place (line, column in characters, byte; each column and
/// line from 1, bytes from 0) and repeats nothing of the document: what is not JSON by RFC 8259, duplicate names,
/// lone surrogates, invalid UTF-8, a byte order mark, an exponent beyond 64 bits in normal form, and what is past the
/// limits above.
[[nodiscard]] Result<std::string> canonical_json(std::string_view text);

/// The same with buffers that are used again: once they have grown, a document costs no allocation. One thread at a
/// time.
class JsonCanonicaliser {
public:
    JsonCanonicaliser();
    ~JsonCanonicaliser();
    JsonCanonicaliser(JsonCanonicaliser&&) noexcept;
    JsonCanonicaliser& operator=(JsonCanonicaliser&&) noexcept;

    /// The canonical form; valid until the next call of anything here. After an Error it is as good as new.
    [[nodiscard]] Result<std::string_view> canonical(std::string_view text);

    /// Gives memory back if a large document made the buffers grow past `retained_max`.
    void trim() noexcept;
    [[nodiscard]] std::size_t retained() const noexcept;
    /// Enough for documents of 128 KiB; with one canonicaliser per worker it stays small beside a stack.
    static constexpr std::size_t retained_max = 1024UZ * 1024;

    /// The calling thread's own one.
    [[nodiscard]] static JsonCanonicaliser& of_this_thread();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace semel
