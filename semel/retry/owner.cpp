#include "semel/retry/owner.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace semel {
namespace {

/// Digits only: no sign, no blanks, nothing after them; at most `limit`.
Result<std::uint64_t> parse_number(std::string_view what, std::string_view value, std::uint64_t least,
                                   std::uint64_t limit) {
    std::uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < least || number > limit) {
        return fail(Fault::rejected, std::string(what) + " must be a whole number from " + std::to_string(least) +
                                         " to " + std::to_string(limit));
    }
    return number;
}

constexpr auto remaining_max_count =
    static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(remaining_max).count());

bool is_owner_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

}  // namespace

std::string format_remaining(Duration remaining) {
    const Duration bounded = std::clamp(remaining, Duration::zero(), remaining_max);
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(bounded).count());
}

Result<Duration> parse_remaining(std::string_view value) {
    const auto count = SEMEL_TRY(parse_number("remaining time in milliseconds", value, 0, remaining_max_count));
    return std::chrono::milliseconds(count);
}

std::string format_attempt(std::uint32_t attempt) {
    return std::to_string(std::clamp(attempt, std::uint32_t{1}, attempt_number_max));
}

Result<std::uint32_t> parse_attempt(std::string_view value) {
    return static_cast<std::uint32_t>(SEMEL_TRY(parse_number("attempt number", value, 1, attempt_number_max)));
}

Result<std::string> parse_owner(std::string_view value) {
    if (value.empty() || value.size() > owner_size_max || !std::ranges::all_of(value, is_owner_character)) {
        return fail(Fault::rejected, "retry owner must be 1 to " + std::to_string(owner_size_max) +
                                         " letters, digits, dots, hyphens or underscores");
    }
    return std::string(value);
}

}  // namespace semel
