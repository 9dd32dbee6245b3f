#include "apps/orders/http/fields.hpp"

#include "apps/orders/domain/money.hpp"
#include "apps/orders/domain/text.hpp"
#include "semel/db/value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace orders {
namespace {

namespace problems = semel::http::problems;
using nlohmann::json;

/// A client that is told of five mistakes has enough to do.
constexpr std::size_t mistakes_max = 5;
/// What a client called its field is repeated to it, but not at any length.
constexpr std::size_t name_shown_max = 64;

std::optional<std::int64_t> whole_number(const json& value) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    if (value.is_number_integer()) return value.get<std::int64_t>();
    // 3 and 3.0 are one number, and one fingerprint.
    constexpr double exact_max = 9007199254740992.0;
    const double number = value.is_number_float() ? value.get<double>() : NAN;
    if (!(std::abs(number) <= exact_max) || std::floor(number) != number) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

}  // namespace

struct Fields::State {
    json body;
    bool is_object = false;
    std::set<std::string, std::less<>> asked;
    std::vector<std::pair<std::string, std::string>> mistakes;

    [[nodiscard]] const json* find(std::string_view name) {
        asked.emplace(name);
        if (!is_object) return nullptr;
        const auto found = body.find(name);
        return found == body.end() ? nullptr : &*found;
    }
};

Fields::Fields(std::string_view body) : state_(std::make_unique<State>()) {
    // Without exceptions: what cannot be parsed is "discarded", and no object.
    state_->body = body.empty() ? json::object() : json::parse(body, nullptr, false);
    state_->is_object = state_->body.is_object();
}

Fields::~Fields() = default;

void Fields::wrong(std::string_view name, std::string_view what) { state_->mistakes.emplace_back(name, what); }

std::string Fields::text(std::string_view name, bool (*is_fine)(std::string_view), std::string_view rule) {
    const json* value = state_->find(name);
    if (value == nullptr) {
        wrong(name, fmt::format("is missing; it is {}", rule));
    } else if (!value->is_string()) {
        wrong(name, fmt::format("is no string; it is {}", rule));
    } else if (!is_fine(value->get_ref<const std::string&>())) {
        wrong(name, fmt::format("is {}", rule));
    } else {
        return value->get<std::string>();
    }
    return {};
}

std::string Fields::code(std::string_view name) {
    return text(
        name, [](std::string_view text) { return is_code(text); },
        "a string of 1 to 64 letters, digits, dots, underscores, colons or hyphens");
}

std::string Fields::currency(std::string_view name) {
    return text(
        name, [](std::string_view text) { return is_currency(text); },
        "a string of three capital letters, as in \"EUR\"");
}

std::string Fields::subject(std::string_view name) {
    return text(
        name, [](std::string_view text) { return is_subject(text); },
        "a string of 1 to 200 characters without control characters");
}

std::int64_t Fields::integer(std::string_view name, std::int64_t least, std::int64_t most) {
    const json* value = state_->find(name);
    const auto number = value == nullptr ? std::nullopt : whole_number(*value);
    if (number && *number >= least && *number <= most) return *number;
    wrong(name,
          fmt::format("{} a whole number from {} to {}", value == nullptr ? "is missing; it is" : "is", least, most));
    return least;
}

semel::Decimal Fields::price(std::string_view name) {
    const std::string written = text(
        name, [](std::string_view text) { return parse_money(text).has_value(); },
        "a string with a sum of money, as in \"12.50\": up to 15 digits, and up to 4 behind the point");
    return written.empty() ? semel::Decimal() : parse_money(written).value_or(semel::Decimal());
}

semel::Decimal Fields::amount(std::string_view name) {
    const std::size_t before = state_->mistakes.size();
    const semel::Decimal sum = price(name);
    if (state_->mistakes.size() == before && sum == semel::Decimal()) wrong(name, "is more than zero");
    return sum;
}

semel::Uuid Fields::id(std::string_view name) {
    const std::string written = text(
        name, [](std::string_view text) { return semel::Uuid::parse(text).has_value(); },
        "a string with a UUID, as in \"0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12\"");
    return written.empty() ? semel::Uuid() : semel::Uuid::parse(written).value_or(semel::Uuid());
}

std::string Fields::choice(std::string_view name, std::span<const std::string_view> choices) {
    const json* value = state_->find(name);
    if (value != nullptr && value->is_string()) {
        const auto& written = value->get_ref<const std::string&>();
        if (std::ranges::find(choices, written) != choices.end()) return written;
    }
    wrong(name,
          fmt::format("{} one of \"{}\"", value == nullptr ? "is missing; it is" : "is", fmt::join(choices, "\", \"")));
    return {};
}

bool Fields::has(std::string_view name) { return state_->find(name) != nullptr; }

std::string Fields::code_or_none(std::string_view name) { return has(name) ? code(name) : std::string(); }
std::string Fields::subject_or_none(std::string_view name) { return has(name) ? subject(name) : std::string(); }

std::string Fields::date_or_none(std::string_view name) {
    if (!has(name)) return {};
    return text(name, [](std::string_view text) { return is_date(text); }, "a string with a day, as in \"2026-12-01\"");
}

std::optional<std::int64_t> Fields::integer_or_none(std::string_view name, std::int64_t least, std::int64_t most) {
    if (!has(name)) return std::nullopt;
    return integer(name, least, most);
}

std::optional<semel::Decimal> Fields::price_or_none(std::string_view name) {
    if (!has(name)) return std::nullopt;
    return price(name);
}

std::optional<semel::Timestamp> Fields::time_or_none(std::string_view name) {
    if (!has(name)) return std::nullopt;
    const std::string written = text(
        name, [](std::string_view text) { return semel::parse_timestamp(text).has_value(); },
        "a string with a time, as in \"2026-12-01T12:00:00Z\"");
    if (written.empty()) return std::nullopt;
    return semel::parse_timestamp(written).value_or(semel::Timestamp());
}

std::optional<semel::http::Problem> Fields::problem() const {
    if (!state_->is_object)
        return semel::http::Problem(problems::malformed_body, "The body is not a JSON object. Nothing was done.");
    auto mistakes = state_->mistakes;
    for (const auto& [name, value] : state_->body.items()) {
        if (mistakes.size() >= mistakes_max) break;
        if (!state_->asked.contains(name))
            mistakes.emplace_back(name.substr(0, name_shown_max), "is no field of this request");
    }
    if (mistakes.empty()) return std::nullopt;
    std::string detail;
    for (const auto& [name, what] : mistakes) detail += fmt::format("`{}` {}. ", name, what);
    return semel::http::Problem(problems::validation_failed, detail + "Nothing was done.")
        .with("field", mistakes.front().first);
}

}  // namespace orders
