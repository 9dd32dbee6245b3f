#include "semel/base/url_settings.hpp"
#include "semel/rabbitmq/routing_key.hpp"
#include "semel/rabbitmq/sink.hpp"
#include "semel/rabbitmq/source.hpp"

#include <utility>

namespace semel::rabbitmq {
namespace {

/// The one that `parse_url` takes.
constexpr std::string_view setting_of_connection = "ca";

/// What sinks and sources say alike of the queue and its exchange.
template <class Options>
void add_topology(UrlSettings& known, Options& options) {
    known.text("exchange", options.exchange).text("exchange_type", options.exchange_type);
    known.text("queue", options.queue).text("binding", options.binding);
    known.flag("declare", options.declare).flag("single_active_consumer", options.single_active_consumer);
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
    UrlSettings known;
    add_topology(known, options);
    known.text("routing_key", options.routing_key).text("source", options.event.source);
    known.choice<Mode>("mode", {{"binary", Mode::binary}, {"structured", Mode::structured}}, options.mode);
    known.number("max_in_flight", options.max_in_flight).seconds("deadline", options.deadline);
    SEMEL_TRY(known.read(url.settings, url_name, setting_of_connection));
    options.connection = std::move(url.connection);
    SEMEL_TRY(check(options));
    return options;
}

Result<RabbitmqSourceOptions> source_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    RabbitmqSourceOptions options;
    Duration heartbeat = options.heartbeat;
    UrlSettings known;
    add_topology(known, options);
    known.number("prefetch", options.prefetch).seconds("heartbeat", heartbeat);
    SEMEL_TRY(known.read(url.settings, url_name, setting_of_connection));
    options.heartbeat = std::chrono::duration_cast<std::chrono::seconds>(heartbeat);
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
