#include "semel/rabbitmq/routing_key.hpp"
#include "semel/rabbitmq/sink.hpp"
#include "semel/rabbitmq/source.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <utility>

namespace semel::rabbitmq {
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

Status read_settings(const Url& url, const std::map<std::string, Setting>& known) {
    for (const auto& [key, value] : url.settings) {
        const auto setting = known.find(key);
        if (setting == known.end()) {
            Error error;
            error.fault = Fault::rejected;
            error.message = "the AMQP URL sets " + key + ", which means nothing here";
            error.cause.hint = "known are ca";
            for (const auto& [name, read] : known) error.cause.hint += ", " + name;
            return fail(std::move(error));
        }
        if (!setting->second(value))
            return fail(Fault::rejected, "the AMQP URL sets " + key + " to something it cannot be");
    }
    return {};
}

Status check_connection(const ConnectionOptions& connection) {
    if (connection.servers.empty()) return fail(Fault::rejected, "an AMQP connection needs a server");
    if (connection.connect_limit <= Duration::zero())
        return fail(Fault::rejected, "the time limits of an AMQP connection are longer than nothing");
    return {};
}

/// Names of exchanges and queues are short strings of AMQP.
bool is_name(const std::string& name) { return name.size() <= 255; }

}  // namespace

Result<RabbitmqSinkOptions> sink_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    RabbitmqSinkOptions options;
    const std::map<std::string, Setting> known{
        {"exchange", [&](const std::string& value) { return !(options.exchange = value).empty(); }},
        {"exchange_type", [&](const std::string& value) { return !(options.exchange_type = value).empty(); }},
        {"routing_key", [&](const std::string& value) { return !(options.routing_key = value).empty(); }},
        {"queue", [&](const std::string& value) { return !(options.queue = value).empty(); }},
        {"binding", [&](const std::string& value) { return !(options.binding = value).empty(); }},
        {"single_active_consumer",
         [&](const std::string& value) { return read_bool(value, options.single_active_consumer); }},
        {"declare", [&](const std::string& value) { return read_bool(value, options.declare); }},
        {"source", [&](const std::string& value) { return !(options.event.source = value).empty(); }},
        {"mode",
         [&](const std::string& value) {
             options.mode = value == "structured" ? Mode::structured : Mode::binary;
             return value == "structured" || value == "binary";
         }},
        {"max_in_flight", [&](const std::string& value) { return read_number(value, options.max_in_flight); }},
        {"deadline",
         [&](const std::string& value) {
             int seconds = 0;
             const bool fine = read_number(value, seconds);
             options.deadline = std::chrono::seconds(seconds);
             return fine;
         }},
    };
    SEMEL_TRY(read_settings(url, known));
    options.connection = std::move(url.connection);
    SEMEL_TRY(check(options));
    return options;
}

Result<RabbitmqSourceOptions> source_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    RabbitmqSourceOptions options;
    const std::map<std::string, Setting> known{
        {"queue", [&](const std::string& value) { return !(options.queue = value).empty(); }},
        {"declare", [&](const std::string& value) { return read_bool(value, options.declare); }},
        {"exchange", [&](const std::string& value) { return !(options.exchange = value).empty(); }},
        {"exchange_type", [&](const std::string& value) { return !(options.exchange_type = value).empty(); }},
        {"binding", [&](const std::string& value) { return !(options.binding = value).empty(); }},
        {"single_active_consumer",
         [&](const std::string& value) { return read_bool(value, options.single_active_consumer); }},
        {"prefetch", [&](const std::string& value) { return read_number(value, options.prefetch); }},
        {"heartbeat",
         [&](const std::string& value) {
             int seconds = 0;
             const bool fine = read_number(value, seconds);
             options.heartbeat = std::chrono::seconds(seconds);
             return fine;
         }},
    };
    SEMEL_TRY(read_settings(url, known));
    options.connection = std::move(url.connection);
    SEMEL_TRY(check(options));
    return options;
}

Status check(const RabbitmqSinkOptions& options) {
    /// More would be a mistake in the configuration rather than a fast broker.
    constexpr std::size_t in_flight_max = 10'000;
    SEMEL_TRY(check_connection(options.connection));
    SEMEL_TRY(RoutingKeyTemplate::parse(options.routing_key));
    if (!is_name(options.exchange) || !is_name(options.queue))
        return fail(Fault::rejected, "names of exchanges and queues have 255 bytes at most");
    if (options.declare && options.exchange.empty() && options.queue.empty())
        return fail(Fault::rejected, "there is nothing to declare without an exchange or a queue");
    if (options.max_in_flight == 0 || options.max_in_flight > in_flight_max)
        return fail(Fault::rejected, "max_in_flight is 1 to " + std::to_string(in_flight_max));
    if (options.deadline <= Duration::zero()) return fail(Fault::rejected, "the deadline is longer than nothing");
    if (options.event.source.empty())
        return fail(Fault::rejected, "a CloudEvent says who tells it: the source must not be empty");
    return {};
}

Status check(const RabbitmqSourceOptions& options) {
    SEMEL_TRY(check_connection(options.connection));
    if (options.queue.empty() || !is_name(options.queue) || !is_name(options.exchange))
        return fail(Fault::rejected, "a source consumes a queue, whose name has 255 bytes at most");
    if (options.prefetch == 0) return fail(Fault::rejected, "prefetch is 1 to 65535");
    if (options.heartbeat < std::chrono::seconds(1))
        return fail(Fault::rejected, "heartbeats are a second apart or more");
    return {};
}

}  // namespace semel::rabbitmq
