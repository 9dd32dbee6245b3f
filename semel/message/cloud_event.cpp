#include "semel/message/cloud_event.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace semel {
namespace {

using nlohmann::json;

/// RFC 3339, UTC, microseconds.
std::string time_text(Timestamp time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

/// The specification allows no control characters in strings, and no header could carry them.
bool printable(std::string_view value) {
    for (const char c : value)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    return true;
}

std::string percent_encoded(std::string_view value) {
    std::string encoded;
    encoded.reserve(value.size());
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > 0x20 && byte < 0x7f && c != '"' && c != '%')
            encoded += c;
        else
            fmt::format_to(std::back_inserter(encoded), "%{:02X}", byte);
    }
    return encoded;
}

/// A JSON string; what is not UTF-8 shows as U+FFFD instead of making the document unreadable.
std::string quoted(const std::string& value) {
    return json(value).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Result<std::vector<CloudEventAttribute>> cloud_event_attributes(const Message& message,
                                                                const CloudEventOptions& options) {
    const json headers = json::parse(message.headers, nullptr, false);
    if (!headers.is_object()) return fail(Fault::rejected, "the headers of the event are not a JSON object");
    std::vector<CloudEventAttribute> all{{"specversion", "1.0"},
                                         {"id", message.id.text()},
                                         {"source", options.source},
                                         {"type", message.type},
                                         {"subject", message.aggregate.type + "/" + message.aggregate.id},
                                         {"time", time_text(message.created_at)},
                                         {"datacontenttype", "application/json"}};
    if (!message.tenant.empty()) all.push_back({"tenant", message.tenant});
    if (message.aggregate.version) all.push_back({"aggregateversion", std::to_string(*message.aggregate.version)});
    // By the name in our headers, and by the one that the specification allows.
    constexpr std::pair<const char*, const char*> carried[] = {
        {"traceparent", "traceparent"}, {"tracestate", "tracestate"}, {"correlationId", "correlationid"}};
    for (const auto& [header, attribute] : carried)
        if (const auto found = headers.find(header);
            found != headers.end() && found->is_string() && !found->get_ref<const std::string&>().empty())
            all.push_back({attribute, found->get<std::string>()});
    for (const CloudEventAttribute& one : all) {
        if (one.value.empty()) return fail(Fault::rejected, fmt::format("the attribute {} is empty", one.name));
        if (!printable(one.value))
            return fail(Fault::rejected, fmt::format("the attribute {} holds a control character", one.name));
    }
    return all;
}

Result<BinaryCloudEvent> binary_cloud_event(const Message& message, const CloudEventOptions& options,
                                            std::string_view prefix, HeaderEncoding encoding) {
    BinaryCloudEvent event{.headers = SEMEL_TRY(cloud_event_attributes(message, options)), .body = message.payload};
    for (CloudEventAttribute& one : event.headers) {
        if (one.name == "datacontenttype") {
            one.name = "content-type";
            continue;
        }
        one.name.insert(0, prefix);
        if (encoding == HeaderEncoding::percent) one.value = percent_encoded(one.value);
    }
    return event;
}

Result<std::string> structured_cloud_event(const Message& message, const CloudEventOptions& options) {
    const auto attributes = SEMEL_TRY(cloud_event_attributes(message, options));
    if (!json::accept(message.payload)) return fail(Fault::rejected, "the payload of the event is not JSON");
    std::string text = "{";
    // Integers of the specification have 32 bits; a version may have more, so it stays a string like all others.
    for (const CloudEventAttribute& one : attributes) text += quoted(one.name) + ":" + quoted(one.value) + ",";
    text += "\"data\":";
    text += message.payload;
    text += "}";
    return text;
}

}  // namespace semel
