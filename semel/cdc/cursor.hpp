#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace semel::cdc {

/// Reads numbers (big-endian) and texts off the front of some bytes. Past the end everything is zero and empty, and
/// `sound` says so: a whole message is read first and judged once.
class ByteCursor {
public:
    explicit ByteCursor(std::string_view bytes) noexcept : rest_(bytes) {}

    [[nodiscard]] bool sound() const noexcept { return sound_; }
    [[nodiscard]] bool finished() const noexcept { return sound_ && rest_.empty(); }
    [[nodiscard]] std::size_t remaining() const noexcept { return rest_.size(); }

    template <class Number>
    [[nodiscard]] Number number() noexcept {
        std::uint64_t value = 0;
        for (const char one : take(sizeof(Number))) value = value << 8U | static_cast<unsigned char>(one);
        return static_cast<Number>(value);
    }
    [[nodiscard]] std::string_view take(std::size_t size) noexcept {
        if (size > rest_.size()) {
            sound_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    /// Up to the next zero byte, which is taken too.
    [[nodiscard]] std::string_view text() noexcept {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) return take(rest_.size() + 1);
        const std::string_view taken = take(end);
        rest_.remove_prefix(1);
        return taken;
    }
    [[nodiscard]] std::string_view rest() noexcept { return take(rest_.size()); }

private:
    std::string_view rest_;
    bool sound_ = true;
};

}  // namespace semel::cdc
