#include "semel/kafka/encode.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace semel::kafka {
namespace {

/// Kafka's own limit.
constexpr std::size_t topic_size_max = 249;

bool in_a_topic(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

bool is_topic(std::string_view name) noexcept {
    return !name.empty() && name.size() <= topic_size_max && name != "." && name != ".." &&
           std::ranges::all_of(name, in_a_topic);
}

/// What stands for a placeholder; nothing: there is no such.
using Fill = std::optional<std::string_view> (*)(const Message&, std::string_view);

std::optional<std::string_view> fill_from(const Message& message, std::string_view name) {
    if (name == "tenant") return message.tenant;
    if (name == "aggregate") return message.aggregate.type;
    if (name == "type") return message.type;
    return std::nullopt;
}

Result<std::string> filled(std::string_view form, const Message& message, Fill fill) {
    std::string name;
    while (!form.empty()) {
        const auto open = form.find('{');
        name += form.substr(0, open);
        if (open == std::string_view::npos) break;
        const auto close = form.find('}', open);
        const std::string_view what =
            close == std::string_view::npos ? std::string_view() : form.substr(open + 1, close - open - 1);
        const auto value = fill(message, what);
        if (!value)
            return fail(Fault::rejected, "kafka: a topic is made of text, {tenant}, {aggregate} and {type} only");
        name += *value;
        form.remove_prefix(close + 1);
    }
    return name;
}

}  // namespace

std::string aggregate_key(const Message& message) {
    std::string key;
    for (const std::string* part : {&message.tenant, &message.aggregate.type, &message.aggregate.id}) {
        key += std::to_string(part->size());
        key += ':';
        key += *part;
    }
    return key;
}

Result<std::string> topic_of(const Message& message, std::string_view form) {
    std::string name = SEMEL_TRY(filled(form, message, fill_from));
    if (!is_topic(name))
        return fail(Fault::rejected, "kafka: the event's topic would have a name that Kafka does not allow");
    return name;
}

Status check_topic(std::string_view form) {
    const auto one_letter = [](const Message& message, std::string_view name) -> std::optional<std::string_view> {
        return fill_from(message, name) ? std::optional<std::string_view>("a") : std::nullopt;
    };
    if (!is_topic(SEMEL_TRY(filled(form, {}, one_letter))))
        return fail(Fault::rejected,
                    "kafka: a topic has 1 to 249 letters, digits, dots, dashes and underscores: " + std::string(form));
    return {};
}

Result<Record> record_of(const Message& message, const CloudEventOptions& options, Mode mode,
                         std::string_view topic_form) {
    Record record{.topic = SEMEL_TRY(topic_of(message, topic_form)), .key = aggregate_key(message)};
    if (mode == Mode::structured) {
        record.value = SEMEL_TRY(structured_cloud_event(message, options));
        record.headers.push_back({"content-type", "application/cloudevents+json; charset=UTF-8"});
        return record;
    }
    BinaryCloudEvent event = SEMEL_TRY(binary_cloud_event(message, options, "ce_", HeaderEncoding::utf8));
    record.value = std::string(event.body);
    record.headers = std::move(event.headers);
    return record;
}

}  // namespace semel::kafka
