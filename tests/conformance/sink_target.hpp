#pragma once

#include "semel/base/result.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/message/message.hpp"
#include "semel/sink/sink.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace semel::conformance {

/// What every sink under test says about itself in `source`.
inline constexpr const char* event_source = "/conformance";

/// One message as it lies at the other side.
struct Arrived {
    /// Of the CloudEvent, by the names of the specification: "id", "type", "datacontenttype".
    std::map<std::string, std::string> attributes;
    std::string payload;  ///< Byte for byte.
};

struct SinkSettings {
    bool structured = false;
    std::size_t max_in_flight = 64;  ///< Messages that the sink has sent and not seen answered, at most.
};

/// A broker, or whoever else takes messages, as the suite for sinks sees it. What one cannot do it does not override; the
/// suite leaves out what needs it, and says so.
class SinkTarget {
public:
    virtual ~SinkTarget() = default;

    /// Before each test: there is nothing on the other side. An Error: it is not to be had here, and why.
    [[nodiscard]] virtual Status prepare() = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<Sink>> make_sink(const SinkSettings& settings) = 0;
    /// Everything there is, repeats included; messages of one aggregate in the order in which a reader gets them. Asked once
    /// in each test, at its end.
    [[nodiscard]] virtual Result<std::vector<Arrived>> arrived() = 0;

    /// Changes a message, though not its aggregate, so that the other side will never take it. False: it takes anything.
    virtual bool poison(Message&) { return false; }
    /// The largest payload that is taken, more or less some headers; nothing: no test could reach it.
    [[nodiscard]] virtual std::optional<std::size_t> payload_max() const { return std::nullopt; }
    /// How many copies a reader finds of a message that was published twice.
    [[nodiscard]] virtual std::size_t copies_of_a_repeat() const { return 2; }

    /// Cuts all connections and takes no new ones, or takes them again. False: cannot.
    virtual bool be_away(bool) { return false; }
    /// Connections stay, or are taken, and nothing is answered; or all is answered again. False: cannot.
    virtual bool be_mute(bool) { return false; }
    /// Killed as by a failure of the machine, and started again with what it has on disk. Nothing: cannot.
    [[nodiscard]] virtual std::optional<Status> crash_and_restart() { return std::nullopt; }
};

/// For INSTANTIATE_TEST_SUITE_P.
struct SinkCase {
    const char* name;
    std::function<std::unique_ptr<SinkTarget>()> make;
    friend std::ostream& operator<<(std::ostream& out, const SinkCase& one) { return out << one.name; }
};

/// What arrived in binary mode: headers with the transport's prefix ("ce-"), which may differ in case; others are left out,
/// except the content type.
template <class Headers>
[[nodiscard]] Arrived arrived_binary(const Headers& headers, std::string_view prefix, std::string payload) {
    const auto lower = [](std::string_view text) {
        std::string low(text);
        for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        return low;
    };
    Arrived one{.attributes = {}, .payload = std::move(payload)};
    const std::string start = lower(prefix);
    for (const auto& [name, value] : headers) {
        const std::string known = lower(name);
        if (known == "content-type") one.attributes["datacontenttype"] = value;
        if (known.starts_with(start)) one.attributes[known.substr(start.size())] = value;
    }
    return one;
}

/// What arrived in structured mode, with the bytes of its `data`, which stands last in the document.
[[nodiscard]] inline Arrived arrived_structured(const std::string& document) {
    Arrived one;
    const auto parsed = nlohmann::json::parse(document, nullptr, false);
    if (!parsed.is_object()) return {.attributes = {{"error", "no JSON object"}}, .payload = document};
    for (const auto& [name, value] : parsed.items())
        if (value.is_string() && name != "data") one.attributes[name] = value.template get<std::string>();
    constexpr std::string_view opening = ",\"data\":";
    if (const auto begin = document.find(opening); begin != std::string::npos)
        one.payload = document.substr(begin + opening.size(), document.size() - 1 - begin - opening.size());
    return one;
}

}  // namespace semel::conformance
