#include "apps/orders/config_table.hpp"

#include "apps/orders/domain/money.hpp"
#include "apps/orders/domain/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ranges>

namespace orders {
namespace {

using namespace std::chrono_literals;
using semel::Duration;
using semel::Fault;
using semel::Result;
using semel::Status;

constexpr Duration one_day = 24h;

struct Unit {
    std::string_view name;
    Duration length;
};
constexpr std::array units{Unit{"ms", 1ms}, Unit{"s", 1s}, Unit{"m", 1min}, Unit{"h", 1h}, Unit{"d", one_day}};
/// Longer than any of them is meant to be, and far from where counting nanoseconds ends.
constexpr std::int64_t unit_count_max = 36'500;

std::string duration_text(Duration length) {
    // The longest unit that divides it.
    for (const Unit& unit : units | std::views::reverse) {
        if (length % unit.length == Duration::zero()) return fmt::format("{}{}", length / unit.length, unit.name);
    }
    return fmt::format("{}ns", length.count());
}

}  // namespace

const toml::node* ConfigTable::find(std::string_view key) {
    known_.emplace(key);
    return table_.get(key);
}

template <class T>
std::optional<T> ConfigTable::take(std::string_view key, std::string_view rule) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<T>();
    if (!value) wrong(key, fmt::format("is {}", rule));
    return value;
}

void ConfigTable::wrong(std::string_view key, std::string_view what) {
    if (!mistake_)
        mistake_ =
            fmt::format("{}:{}: `{}{}` {}", file_.string(), table_.get(key)->source().begin.line, prefix_, key, what);
}

void ConfigTable::text(std::string_view key, std::string& target) {
    if (const auto value = take<std::string>(key, "a string")) target = *value;
}

void ConfigTable::path(std::string_view key, std::filesystem::path& target) {
    if (const auto value = take<std::string>(key, "a string")) target = file_.parent_path() / *value;
}

void ConfigTable::count(std::string_view key, std::size_t& target, std::int64_t least, std::int64_t most) {
    const auto value = take<std::int64_t>(key, fmt::format("a whole number from {} to {}", least, most));
    if (!value) return;
    if (*value < least || *value > most) return wrong(key, fmt::format("is from {} to {}", least, most));
    target = static_cast<std::size_t>(*value);
}

void ConfigTable::time(std::string_view key, Duration& target, Duration least, Duration most) {
    const std::string rule = fmt::format("a time from \"{}\" to \"{}\"", duration_text(least), duration_text(most));
    const auto value = take<std::string>(key, rule);
    if (!value) return;
    const auto length = parse_duration(*value);
    if (!length) return wrong(key, "is " + rule + ": " + length.error().message);
    if (*length < least || *length > most) return wrong(key, "is " + rule);
    target = *length;
}

void ConfigTable::flag(std::string_view key, bool& target) {
    if (const auto value = take<bool>(key, "true or false")) target = *value;
}

void ConfigTable::money(std::string_view key, semel::Decimal& target) {
    const std::string_view rule = R"(a string with a sum of money, as in "1000.00")";
    const auto value = take<std::string>(key, rule);
    if (!value) return;
    const auto sum = parse_money(*value);
    if (!sum) return wrong(key, fmt::format("is {}", rule));
    target = *sum;
}

void ConfigTable::name(std::string_view key, std::string& target) {
    text(key, target);
    if (table_.contains(key) && !is_code(target))
        wrong(key, "is 1 to 64 letters, digits, dots, underscores, colons or hyphens");
}

void ConfigTable::secrets(std::string_view key, std::vector<semel::webhook::Secret>& target) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array one{node->value_or(std::string())};
    for (const toml::node& entry : node->is_array() ? *node->as_array() : one) {
        auto secret = semel::webhook::Secret::parse(entry.value_or(std::string()));
        if (!secret)
            return wrong(key,
                         R"(is "whsec_" and base64 of 24 to 64 bytes, or a list of such while one replaces the other)");
        target.push_back(*std::move(secret));
    }
}

void ConfigTable::profile(std::string_view key, semel::http::Profile& target) {
    const auto value = take<std::string>(key, R"("classic" or "ietf")");
    if (!value) return;
    if (*value != "classic" && *value != "ietf") return wrong(key, R"(is "classic" or "ietf")");
    target = *value == "ietf" ? semel::http::Profile::ietf : semel::http::Profile::classic;
}

void ConfigTable::require(std::string_view key, bool given) {
    if (!given && !mistake_)
        mistake_ = fmt::format("{}:{}: `{}{}` is missing", file_.string(), table_.source().begin.line, prefix_, key);
}

void ConfigTable::demand(std::string_view key, bool holds, std::string_view what) {
    if (!holds && !mistake_)
        mistake_ = fmt::format("{}:{}: `{}{}` {}", file_.string(), table_.source().begin.line, prefix_, key, what);
}

const toml::table* ConfigTable::table(std::string_view key) {
    const toml::node* node = find(key);
    if (node != nullptr && !node->is_table()) wrong(key, fmt::format("is a table, written as [{}{}]", prefix_, key));
    return node == nullptr ? nullptr : node->as_table();
}

Status ConfigTable::done() {
    for (const auto& [key, node] : table_) {
        if (mistake_ || known_.contains(key.str())) continue;
        mistake_ = fmt::format("{}:{}: nobody knows `{}{}`; allowed here: {}", file_.string(), node.source().begin.line,
                               prefix_, key.str(), fmt::join(known_, ", "));
    }
    if (!mistake_) return {};
    return semel::fail(Fault::rejected, *mistake_);
}

Result<Duration> parse_duration(std::string_view text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
    const auto unit = std::ranges::find(units, name, &Unit::name);
    if (error != std::errc() || count < 0 || unit == units.end())
        return semel::fail(Fault::rejected, "a time is a whole number and one of ms, s, m, h, d, as in \"30s\"");
    if (count > unit_count_max) return semel::fail(Fault::rejected, "a time has at most 36500 of its unit");
    return count * unit->length;
}

}  // namespace orders
