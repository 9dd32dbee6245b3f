#include "semel/source/cloud_event.hpp"

#include "semel/base/base64.hpp"
#include "semel/base/id.hpp"
#include "semel/base/percent.hpp"

#include <simdjson.h>
#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <utility>

namespace semel {
namespace {

using nlohmann::json;
using Attributes = std::map<std::string, std::string, std::less<>>;

std::string lower_case(std::string_view text) {
    std::string low(text);
    for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return low;
}

/// The member `data` as it was written: a parser would write numbers in its own way. The document is known to be JSON.
std::optional<std::string> text_of_data(std::string_view document) {
    const simdjson::padded_string padded(document);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document parsed;
    simdjson::ondemand::value data;
    if (parser.iterate(padded).get(parsed) != simdjson::SUCCESS) return std::nullopt;
    if (parsed.find_field_unordered("data").get(data) != simdjson::SUCCESS) return std::nullopt;
    std::string_view text;
    if (simdjson::to_json_string(data).get(text) != simdjson::SUCCESS) return std::nullopt;
    // Of a number the token goes on to what follows it.
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    return std::string(text.substr(0, end == std::string_view::npos ? 0 : end + 1));
}

std::optional<std::string> bytes_of_base64(const json& text) {
    if (!text.is_string()) return std::nullopt;
    const auto decoded = parse_base64(text.get_ref<const std::string&>());
    if (!decoded) return std::nullopt;
    std::string bytes;
    bytes.reserve(decoded->size());
    for (const std::byte one : *decoded) bytes += static_cast<char>(one);
    return bytes;
}

struct StructuredEvent {
    Attributes attributes;
    std::string payload;
};

std::optional<StructuredEvent> read_structured_event(std::string_view body) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (body.starts_with(byte_order_mark)) body.remove_prefix(byte_order_mark.size());
    const json document = json::parse(body, nullptr, false);
    if (!document.is_object() || !document.contains("specversion")) return std::nullopt;
    if (const auto id = document.find("id"); id == document.end() || !id->is_string()) return std::nullopt;
    StructuredEvent event;
    for (const auto& [name, value] : document.items()) {
        if (name == "data" || name == "data_base64" || value.is_null()) continue;
        // No attribute has parts, by the specification; and writing deep ones down would need as deep a stack.
        if (value.is_structured()) return std::nullopt;
        event.attributes[lower_case(name)] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    if (const auto coded = document.find("data_base64"); coded != document.end()) {
        auto bytes = bytes_of_base64(*coded);
        if (!bytes) return std::nullopt;
        event.payload = *std::move(bytes);
        return event;
    }
    const auto data = document.find("data");
    if (data == document.end()) return event;
    const auto type = event.attributes.find("datacontenttype");
    const bool is_json = type == event.attributes.end() || lower_case(type->second).contains("json");
    if (data->is_string() && !is_json) {
        event.payload = data->get<std::string>();
        return event;
    }
    auto text = text_of_data(body);
    if (!text) return std::nullopt;
    event.payload = *std::move(text);
    return event;
}

std::string take(Attributes& attributes, std::string_view name) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::string value = std::move(found->second);
    attributes.erase(found);
    return value;
}

/// What no other event has: by CloudEvents that is the id together with its source. One that is a UUID needs no source, and
/// is the same whoever passes it on under a name of his own.
std::string unique_id(std::string id, const Attributes& attributes) {
    const auto source = attributes.find("source");
    if (id.empty() || source == attributes.end() || source->second.empty() || Uuid::parse(id)) return id;
    // The length keeps ("a", "b c") and ("a b", "c") apart.
    return std::to_string(source->second.size()) + ":" + source->second + " " + id;
}

}  // namespace

ReceivedMessage received_cloud_event(std::span<const CloudEventAttribute> headers, std::string_view prefix,
                                     std::string_view body, HeaderEncoding encoding) {
    const std::string start = lower_case(prefix);
    Attributes attributes;
    Attributes others;
    for (const CloudEventAttribute& one : headers) {
        const std::string name = lower_case(one.name);
        if (name == "content-type")
            attributes["datacontenttype"] = one.value;
        else if (name.starts_with(start))
            attributes[name.substr(start.size())] =
                encoding == HeaderEncoding::percent ? percent_decoded_where_it_is(one.value) : one.value;
        else
            others[name] = one.value;
    }
    ReceivedMessage message;
    message.payload = body;
    if (const auto type = attributes.find("datacontenttype");
        type != attributes.end() && lower_case(type->second).starts_with("application/cloudevents+json"))
        if (auto event = read_structured_event(body)) {
            attributes = std::move(event->attributes);
            message.payload = std::move(event->payload);
        }
    message.id = unique_id(take(attributes, "id"), attributes);
    message.type = take(attributes, "type");
    message.tenant = take(attributes, "tenant");
    message.version = take(attributes, "dataschema");
    if (const auto subject = attributes.find("subject"); subject != attributes.end())
        // The length keeps ("a", "bc") and ("ab", "c") apart.
        message.key = std::to_string(message.tenant.size()) + ":" + message.tenant + subject->second;
    attributes.erase("specversion");
    attributes.merge(others);
    message.headers = json(attributes).dump(-1, ' ', false, json::error_handler_t::replace);
    return message;
}

}  // namespace semel
