#include "semel/base/url_settings.hpp"
#include "semel/nats/sink.hpp"
#include "semel/nats/source.hpp"
#include "semel/nats/subject.hpp"

#include <utility>

namespace semel::nats {
namespace {

/// Those that `parse_url` takes.
constexpr std::string_view settings_of_connection = "tls, ca, credentials";

}  // namespace

Result<NatsSinkOptions> sink_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    NatsSinkOptions options;
    StreamOptions& stream = options.stream_options;
    UrlSettings known;
    known.text("subject", options.subject).text("source", options.event.source);
    known.choice<Mode>("mode", {{"binary", Mode::binary}, {"structured", Mode::structured}}, options.mode);
    known.flag("create", stream.create).number("replicas", stream.replicas);
    known.seconds("duplicate_window", stream.duplicate_window).seconds("deadline", options.deadline);
    known.number("max_in_flight", options.max_in_flight);
    SEMEL_TRY(known.read(url.settings, url_name, settings_of_connection));
    options.connection = std::move(url.connection);
    options.stream = std::move(url.stream);
    SEMEL_TRY(check(options));
    return options;
}

Result<NatsSourceOptions> source_options(std::string_view text) {
    Url url = SEMEL_TRY(parse_url(text));
    NatsSourceOptions options;
    UrlSettings known;
    known.text("consumer", options.consumer).text("filter", options.filter).flag("create", options.create);
    known.number("prefetch", options.prefetch).seconds("ack_wait", options.ack_wait);
    SEMEL_TRY(known.read(url.settings, url_name, settings_of_connection));
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
