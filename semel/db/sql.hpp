#pragma once

#include <cstddef>
#include <string_view>

namespace semel {

/// The text of a statement. Made only from a string literal, so a value cannot be pasted into it:
/// values travel as parameters, written $1, $2, … on every driver.
class Sql {
public:
    template <std::size_t N>
    consteval Sql(const char (&literal)[N]) noexcept : text_(literal, N - 1) {}

    /// For text that is not a literal of the caller's but is part of the program all the same:
    /// an embedded .sql file, or a wrapper that a driver puts around a literal. It must outlive
    /// every use and hold nothing that came from outside.
    [[nodiscard]] static constexpr Sql from_program_text(std::string_view text) noexcept { return Sql(text); }

    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

private:
    constexpr explicit Sql(std::string_view text) noexcept : text_(text) {}
    std::string_view text_;
};

}  // namespace semel
