#include "semel/base/url_settings.hpp"

#include <charconv>
#include <optional>

namespace semel {
namespace {

/// Of whatever unit: minutes of it are twenty years, which no Duration overflows by.
constexpr std::int64_t time_number_max = 10'000'000;

struct LeadingNumber {
    std::int64_t number = 0;
    std::string_view rest;  ///< What follows it.
};

/// Nothing if the text does not begin with a number from 1 on.
std::optional<LeadingNumber> leading_number(std::string_view text) {
    LeadingNumber read;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), read.number);
    if (failed != std::errc() || read.number < 1) return std::nullopt;
    read.rest = text.substr(static_cast<std::size_t>(end - text.data()));
    return read;
}

std::optional<Duration> time_with_unit(std::string_view text, std::string_view usual_unit) {
    const auto read = leading_number(text);
    if (!read || read->number > time_number_max) return std::nullopt;
    const std::string_view unit = read->rest.empty() ? usual_unit : read->rest;
    if (unit == "ms") return std::chrono::milliseconds(read->number);
    if (unit == "s") return std::chrono::seconds(read->number);
    if (unit == "m") return std::chrono::minutes(read->number);
    return std::nullopt;
}

UrlSettings::Take take_time(Duration& target, std::string_view usual_unit) {
    return [&target, usual_unit](const std::string& value) {
        const auto time = time_with_unit(value, usual_unit);
        if (time) target = *time;
        return time.has_value();
    };
}

}  // namespace

UrlSettings& UrlSettings::add(std::string name, std::string rule, Take take) {
    const bool fresh =
        known_.try_emplace(std::move(name), Known{.rule = std::move(rule), .take = std::move(take)}).second;
    SEMEL_ASSERT(fresh);
    return *this;
}

UrlSettings& UrlSettings::text(std::string name, std::string& target) {
    return add(std::move(name), "a text that is not empty",
               [&target](const std::string& value) { return !(target = value).empty(); });
}

UrlSettings& UrlSettings::flag(std::string name, bool& target) {
    return choice<bool>(std::move(name), {{"true", true}, {"false", false}}, target);
}

UrlSettings& UrlSettings::time(std::string name, Duration& target) {
    return add(std::move(name), "a time such as 500ms, 10s or 2m", take_time(target, ""));
}

UrlSettings& UrlSettings::seconds(std::string name, Duration& target) {
    return add(std::move(name), "a number of seconds, or a time such as 500ms or 2m", take_time(target, "s"));
}

UrlSettings& UrlSettings::whole_number(std::string name, std::int64_t most, std::function<void(std::int64_t)> set) {
    return add(std::move(name), "a whole number from 1 to " + std::to_string(most),
               [most, set = std::move(set)](const std::string& value) {
                   const auto read = leading_number(value);
                   if (!read || !read->rest.empty() || read->number > most) return false;
                   set(read->number);
                   return true;
               });
}

Status UrlSettings::read(const std::multimap<std::string, std::string>& settings, std::string_view url,
                         std::string_view others) const {
    for (const auto& [name, value] : settings) {
        const auto known = known_.find(name);
        if (known == known_.end()) {
            Error error;
            error.fault = Fault::rejected;
            error.message.append("the ").append(url).append(" sets ").append(name);
            error.message += ", which means nothing here";
            error.cause.hint.append("known are ").append(others);
            for (const auto& [other, unused] : known_)
                error.cause.hint.append(error.cause.hint.ends_with(' ') ? "" : ", ").append(other);
            return fail(std::move(error));
        }
        if (known->second.take(value)) continue;
        std::string message;
        message.append("the ").append(url).append(" sets ").append(name);
        message += " to something it cannot be: it is " + known->second.rule;
        return fail(Fault::rejected, std::move(message));
    }
    return {};
}

}  // namespace semel
