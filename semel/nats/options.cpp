#include "semel/nats/sink.hpp"
#include "semel/nats/source.hpp"
#include "semel/nats/subject.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <utility>

namespace semel::nats {
namespace {

using Setting = std::function<bool(const std::string&)>;

bool read_bool(const std::string& text, bool& value) {
    value = text == "true";
    return value || text == "false";
}

template <class Number>
bool read_number(const std::string& text, Number& value) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() && value > Number(0);
}

bool read_seconds(const std::string& text, Duration& value) {
    int seconds = 0;
    const bool fine = read_number(text, seconds);
    value = std::chrono::seconds(seconds);
    return fine;
}

Status read_settings(const Url& url, const std::map<std::string, Setting>& known) {
    for (const auto& [key, value] : url.settings) {
        const auto setting = known.find(key);
        if (setting == known.end()) {
            Error error;
            error.fault = Fault::rejected;
            error.message = "the NATS URL sets " + key + ", which means nothing here";
            error.cause.hint = "known are tls, ca, credentials";
            for (const auto& [name, read] : known) error.cause.hint += ", " + name;
            return fail(std::move(error));
        }
        if (!setting->second(value))
            return fail(Fault::rejected, "the NATS URL sets " + key + " to something it cannot be");
    }
    return {};
}

}  // namespace

Result<NatsSinkOptions> sink_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    NatsSinkOptions options;
    const std::map<std::string, Setting> known{
        {"subject", [&](const std::string& value) { return !(options.subject = value).empty(); }},
        {"source", [&](const std::string& value) { return !(options.event.source = value).empty(); }},
        {"mode",
         [&](const std::string& value) {
             options.mode = value == "structured" ? Mode::structured : Mode::binary;
             return value == "structured" || value == "binary";
         }},
        {"create", [&](const std::string& value) { return read_bool(value, options.stream_options.create); }},
        {"replicas", [&](const std::string& value) { return read_number(value, options.stream_options.replicas); }},
        {"duplicate_window",
         [&](const std::string& value) { return read_seconds(value, options.stream_options.duplicate_window); }},
        {"max_in_flight", [&](const std::string& value) { return read_number(value, options.max_in_flight); }},
        {"deadline", [&](const std::string& value) { return read_seconds(value, options.deadline); }},
    };
    SEMEL_TRY(read_settings(url, known));
    options.connection = std::move(url.connection);
    options.stream = std::move(url.stream);
    SEMEL_TRY(check(options));
    return options;
}

Result<NatsSourceOptions> source_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    NatsSourceOptions options;
    const std::map<std::string, Setting> known{
        {"consumer", [&](const std::string& value) { return !(options.consumer = value).empty(); }},
        {"filter", [&](const std::string& value) { return !(options.filter = value).empty(); }},
        {"create", [&](const std::string& value) { return read_bool(value, options.create); }},
        {"prefetch", [&](const std::string& value) { return read_number(value, options.prefetch); }},
        {"ack_wait", [&](const std::string& value) { return read_seconds(value, options.ack_wait); }},
    };
    SEMEL_TRY(read_settings(url, known));
    options.connection = std::move(url.connection);
    options.stream = std::move(url.stream);
    SEMEL_TRY(check(options));
    return options;
}

namespace {

Status check_connection(const ConnectionOptions& connection, const std::string& stream) {
    if (connection.servers.empty()) return fail(Fault::rejected, "a NATS connection needs a server");
    if (connection.connect_limit <= Duration::zero() || connection.write_limit <= Duration::zero())
        return fail(Fault::rejected, "the time limits of a NATS connection are longer than nothing");
    if (!is_plain_name(stream))
        return fail(Fault::rejected, "the name of a stream is made of letters, digits, - and _");
    return {};
}

}  // namespace

Status check(const NatsSinkOptions& options) {
    /// More than the server's own queue of a stream takes without complaint.
    constexpr std::size_t in_flight_max = 10'000;
    SEMEL_TRY(check_connection(options.connection, options.stream));
    SEMEL_TRY(SubjectTemplate::parse(options.subject, options.stream));
    if (options.max_in_flight == 0 || options.max_in_flight > in_flight_max)
        return fail(Fault::rejected, "max_in_flight is 1 to " + std::to_string(in_flight_max));
    if (options.deadline <= Duration::zero()) return fail(Fault::rejected, "the deadline is longer than nothing");
    if (options.event.source.empty())
        return fail(Fault::rejected, "a CloudEvent says who tells it: the source must not be empty");
    return {};
}

Status check(const NatsSourceOptions& options) {
    /// As many as a server takes by default to be unacknowledged in one consumer, and more.
    constexpr std::size_t prefetch_max = 65'000;
    SEMEL_TRY(check_connection(options.connection, options.stream));
    if (!is_plain_name(options.consumer))
        return fail(Fault::rejected, "the name of a consumer is made of letters, digits, - and _");
    if (options.prefetch == 0 || options.prefetch > prefetch_max)
        return fail(Fault::rejected, "prefetch is 1 to " + std::to_string(prefetch_max));
    if (options.ack_wait < std::chrono::milliseconds(100))
        return fail(Fault::rejected, "ack_wait is a tenth of a second or more");
    return {};
}

}  // namespace semel::nats
