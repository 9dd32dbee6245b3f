#include "apps/semel/duration.hpp"

#include "semel/db/value.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace semel::app {
namespace {

using namespace std::chrono_literals;

struct Unit {
    std::string_view name;
    Duration length;
};
constexpr std::array units{Unit{"d", 24h}, Unit{"h", 1h}, Unit{"m", 1min}, Unit{"s", 1s}, Unit{"ms", 1ms}};
/// A hundred years, far from where counting nanoseconds ends.
constexpr Duration longest = 24h * 36'500;

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
    std::int64_t count = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const Unit& unit : units)
        if (failure == std::errc() && unit.name == name && count >= 0 && count <= longest / unit.length)
            return unit.length * count;
    return fail(Fault::rejected, "a length of time is a number and ms, s, m, h or d, as in 90s, 12h or 7d");
}

Result<Timestamp> parse_moment(std::string_view text, Timestamp now) {
    if (const auto ago = parse_duration(text)) return now - std::chrono::duration_cast<std::chrono::microseconds>(*ago);
    if (const auto moment = parse_timestamp(text)) return *moment;
    return fail(Fault::rejected, "a moment is written as 2026-01-31T23:59:59Z, or as how long ago it was: 2h, 7d");
}

std::string duration_text(Duration length) {
    if (length < 1s) return fmt::format("{}ms", length / 1ms);
    for (std::size_t i = 0; i + 2 < units.size(); ++i) {
        if (length < units.at(i).length) continue;
        const Unit& next = units.at(i + 1);
        const auto rest = length % units.at(i).length / next.length;
        const std::string most = fmt::format("{}{}", length / units.at(i).length, units.at(i).name);
        return rest > 0 ? fmt::format("{} {}{}", most, rest, next.name) : most;
    }
    return fmt::format("{}s", length / 1s);
}

}  // namespace semel::app
