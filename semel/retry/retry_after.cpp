#include "semel/retry/retry_after.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace semel {
namespace {

constexpr std::array<std::string_view, 7> day_names = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                       "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> month_names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Eats a date from left to right. The first thing that does not fit makes the whole fail.
class Reader {
public:
    explicit Reader(std::string_view text) noexcept : rest_(text) {}

    [[nodiscard]] bool done() const noexcept { return good_ && rest_.empty(); }

    void literal(std::string_view expected) noexcept {
        if (rest_.starts_with(expected)) {
            rest_.remove_prefix(expected.size());
        } else {
            good_ = false;
        }
    }
    /// Exactly `digits` digits.
    int number(std::size_t digits) noexcept {
        if (rest_.size() < digits || !std::ranges::all_of(rest_.substr(0, digits), is_digit)) {
            good_ = false;
            return 0;
        }
        int value = 0;
        for (const char c : rest_.substr(0, digits)) value = value * 10 + (c - '0');
        rest_.remove_prefix(digits);
        return value;
    }
    /// Two columns, a blank in place of a leading zero.
    int padded_number() noexcept {
        if (!rest_.starts_with(' ')) return number(2);
        rest_.remove_prefix(1);
        return number(1);
    }
    void day_name(std::size_t letters) noexcept {
        for (const std::string_view name : day_names) {
            if (rest_.starts_with(name.substr(0, letters))) {
                rest_.remove_prefix(std::min(letters, name.size()));
                return;
            }
        }
        good_ = false;
    }
    unsigned month() noexcept {
        for (unsigned i = 0; i < month_names.size(); ++i) {
            if (rest_.starts_with(month_names[i])) {
                rest_.remove_prefix(month_names[i].size());
                return i + 1;
            }
        }
        good_ = false;
        return 0;
    }
    std::chrono::seconds time_of_day() noexcept {
        const int hours = number(2);
        literal(":");
        const int minutes = number(2);
        literal(":");
        const int seconds = number(2);
        // Sixty is a leap second, which the calendar here counts as the second after.
        if (hours > 23 || minutes > 59 || seconds > 60) good_ = false;
        return std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
    }

private:
    std::string_view rest_;
    bool good_ = true;
};

struct Date {
    int year = 0;
    unsigned month = 0;
    int day = 0;
    std::chrono::seconds time{};

    [[nodiscard]] std::optional<std::chrono::sys_seconds> point() const noexcept {
        const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                               std::chrono::day(static_cast<unsigned>(day))};
        if (!date.ok()) return std::nullopt;
        return std::chrono::sys_days(date) + time;
    }
};

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<Date> read_fixdate(std::string_view text) noexcept {
    Reader reader(text);
    Date date;
    reader.day_name(3);
    reader.literal(", ");
    date.day = reader.number(2);
    reader.literal(" ");
    date.month = reader.month();
    reader.literal(" ");
    date.year = reader.number(4);
    reader.literal(" ");
    date.time = reader.time_of_day();
    reader.literal(" GMT");
    return reader.done() ? std::optional(date) : std::nullopt;
}

/// "Sunday, 06-Nov-94 08:49:37 GMT", obsolete. Two digits of a year more than fifty years ahead
/// mean the century before, as RFC 9110 has it.
std::optional<Date> read_rfc850(std::string_view text, Timestamp now) noexcept {
    Reader reader(text);
    Date date;
    reader.day_name(std::string_view::npos);
    reader.literal(", ");
    date.day = reader.number(2);
    reader.literal("-");
    date.month = reader.month();
    reader.literal("-");
    date.year = reader.number(2);
    reader.literal(" ");
    date.time = reader.time_of_day();
    reader.literal(" GMT");
    if (!reader.done()) return std::nullopt;
    const int this_year =
        static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(now)).year());
    date.year += this_year - this_year % 100;
    if (date.year > this_year + 50) date.year -= 100;
    return date;
}

/// "Sun Nov  6 08:49:37 1994", obsolete.
std::optional<Date> read_asctime(std::string_view text) noexcept {
    Reader reader(text);
    Date date;
    reader.day_name(3);
    reader.literal(" ");
    date.month = reader.month();
    reader.literal(" ");
    date.day = reader.padded_number();
    reader.literal(" ");
    date.time = reader.time_of_day();
    reader.literal(" ");
    date.year = reader.number(4);
    return reader.done() ? std::optional(date) : std::nullopt;
}

std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Duration read_seconds(std::string_view digits) noexcept {
    constexpr auto most = std::chrono::duration_cast<std::chrono::seconds>(retry_after_max).count();
    std::int64_t seconds = 0;
    // Cut off at each digit, so that no number of digits overflows.
    for (const char c : digits) seconds = std::min<std::int64_t>(seconds * 10 + (c - '0'), most);
    return std::chrono::seconds(seconds);
}

}  // namespace

Result<Duration> parse_retry_after(std::string_view value, Timestamp now) {
    const std::string_view text = trimmed(value);
    if (!text.empty() && std::ranges::all_of(text, is_digit)) return read_seconds(text);

    std::optional<Date> date = read_fixdate(text);
    if (!date) date = read_rfc850(text, now);
    if (!date) date = read_asctime(text);
    const auto point = date ? date->point() : std::nullopt;
    if (!point) return fail(Fault::rejected, "Retry-After is neither a number of seconds nor an HTTP date");
    // Cut while still in microseconds: in nanoseconds the year 9999 would overflow.
    constexpr auto most = std::chrono::duration_cast<Timestamp::duration>(retry_after_max);
    return std::clamp(*point - now, Timestamp::duration::zero(), most);
}

}  // namespace semel
