#include "semel/db/value.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace semel {
namespace {

using namespace std::chrono;

/// Reads digits off the front of a text.
class Scanner {
public:
    explicit Scanner(std::string_view text) noexcept : rest_(text) {}

    [[nodiscard]] bool number(std::size_t digits, int& value) noexcept {
        if (rest_.size() < digits) return false;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + digits, value);
        if (error != std::errc() || end != rest_.data() + digits || rest_.front() == '-') return false;
        rest_.remove_prefix(digits);
        return true;
    }
    [[nodiscard]] bool one_of(std::string_view characters) noexcept {
        if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] char peek() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

private:
    std::string_view rest_;
};

/// Digits after the point as microseconds; more than six are refused rather than rounded.
bool fraction(Scanner& scan, microseconds& out) noexcept {
    constexpr int digits_max = 6;
    int value = 0;
    int digits = 0;
    while (scan.peek() >= '0' && scan.peek() <= '9') {
        if (digits == digits_max) return false;
        int digit = 0;
        if (!scan.number(1, digit)) return false;
        value = value * 10 + digit;
        ++digits;
    }
    if (digits == 0) return false;
    for (; digits < digits_max; ++digits) value *= 10;
    out = microseconds(value);
    return true;
}

/// Z, +hh, +hhmm or +hh:mm; nothing at all means UTC, as this library writes it.
bool offset(Scanner& scan, minutes& out) noexcept {
    out = minutes(0);
    if (scan.at_end()) return true;
    if (scan.one_of("Zz")) return scan.at_end();
    const bool west = scan.peek() == '-';
    if (!scan.one_of("+-")) return false;
    int hour = 0;
    int minute = 0;
    if (!scan.number(2, hour)) return false;
    if (!scan.at_end()) {
        (void)scan.one_of(":");
        if (!scan.number(2, minute)) return false;
    }
    if (!scan.at_end() || hour > 15 || minute > 59) return false;
    out = hours(hour) + minutes(minute);
    if (west) out = -out;
    return true;
}

}  // namespace

std::string timestamp_text(Timestamp when) {
    const auto day = floor<days>(when);
    const year_month_day date(day);
    const hh_mm_ss time(when - day);
    std::array<char, 40> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                      static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(length)};
}

Result<Timestamp> parse_timestamp(std::string_view text) {
    const auto refuse = [] { return fail(Fault::rejected, "not a timestamp like 2026-01-31T23:59:59.123456Z"); };
    Scanner scan(text);
    int year_number = 0, month_number = 0, day_number = 0, hour = 0, minute = 0, second = 0;
    if (!scan.number(4, year_number) || !scan.one_of("-") || !scan.number(2, month_number) || !scan.one_of("-") ||
        !scan.number(2, day_number) || !scan.one_of("Tt ") || !scan.number(2, hour) || !scan.one_of(":") ||
        !scan.number(2, minute) || !scan.one_of(":") || !scan.number(2, second))
        return refuse();
    microseconds below_second(0);
    if (scan.one_of(".") && !fraction(scan, below_second)) return refuse();
    minutes east(0);
    if (!offset(scan, east)) return refuse();
    const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                              day(static_cast<unsigned>(day_number)));
    if (!date.ok() || hour > 23 || minute > 59 || second > 59) return refuse();
    return Timestamp(sys_days(date).time_since_epoch() + hours(hour) + minutes(minute) + seconds(second) +
                     below_second - east);
}

}  // namespace semel
