#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

/// The bytes of a text, without copying.
[[nodiscard]] inline BytesView bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

using Digest = std::array<std::byte, 32>;

[[nodiscard]] Digest sha256(BytesView data);
/// Lower-case hexadecimal digits.
[[nodiscard]] std::string hex(BytesView data);

/// SHA-256 over several pieces.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    Sha256& add(BytesView data);
    /// Adds the length (64 bits, big-endian) before the data, so that ("ab", "c") and ("a", "bc")
    /// differ.
    Sha256& add_part(BytesView data);
    /// Consumes the state.
    [[nodiscard]] Digest finish() &&;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace semel
