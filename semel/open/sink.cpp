#include "semel/open/sink.hpp"

#include "semel/kafka/url.hpp"
#include "semel/nats/sink.hpp"
#include "semel/open/scheme.hpp"
#include "semel/rabbitmq/sink.hpp"
#include "semel/smtp/sink.hpp"
#include "semel/webhook/sink.hpp"

#include <utility>

namespace semel {
namespace {

Result<std::unique_ptr<Sink>> open_webhook(const std::string& address, const SinkOptions& options, Clock& clock) {
    webhook::SinkOptions how;
    how.url = address;
    how.event.source = options.source;
    how.mode = options.structured ? webhook::Mode::structured : webhook::Mode::binary;
    how.secrets = options.secrets;
    how.allow_private = options.allow_private;
    how.parallel = options.parallel;
    return SEMEL_TRY(webhook::WebhookSink::create(std::move(how), clock));
}

/// A sink of a broker, whose address says all but what all sinks have in common.
template <class BrokerSink, class Options, class Mode>
Result<std::unique_ptr<Sink>> open_broker(Options how, const SinkOptions& options, Mode structured, Clock& clock) {
    how.event.source = options.source;
    if (options.structured) how.mode = structured;
    return SEMEL_TRY(BrokerSink::open(std::move(how), clock));
}

Result<std::unique_ptr<Sink>> open_mail(smtp::SmtpSinkOptions how, const SinkOptions& options, Clock& clock) {
    how.letterhead.event.source = options.source;
    if (options.structured) how.letterhead.mode = smtp::Mode::structured;
    return SEMEL_TRY(smtp::SmtpSink::open(std::move(how), clock));
}

Error no_such_sink(std::string_view scheme) {
    Error error;
    error.fault = Fault::rejected;
    error.message =
        scheme.empty() ? "the address is no URL" : "events cannot be sent to " + std::string(scheme) + "://";
    error.cause.hint =
        "they can be sent to https://, kafka://, amqp://, amqps://, nats://, tls://, smtp:// and smtps://";
    return error;
}

}  // namespace

Result<std::unique_ptr<Sink>> open_sink(const std::string& address, const SinkOptions& options, Clock& clock) {
    const std::string_view scheme = scheme_of(address);
    if (scheme == "https" || scheme == "http") return open_webhook(address, options, clock);
    if (scheme == "kafka")
        return open_broker<kafka::KafkaSink>(SEMEL_TRY(kafka::sink_options(address)), options, kafka::Mode::structured,
                                             clock);
    if (scheme == "amqp" || scheme == "amqps")
        return open_broker<rabbitmq::RabbitmqSink>(SEMEL_TRY(rabbitmq::sink_options(address)), options,
                                                   rabbitmq::Mode::structured, clock);
    if (scheme == "nats" || scheme == "tls")
        return open_broker<nats::NatsSink>(SEMEL_TRY(nats::sink_options(address)), options, nats::Mode::structured,
                                           clock);
    if (scheme == "smtp" || scheme == "smtps") return open_mail(SEMEL_TRY(smtp::sink_options(address)), options, clock);
    return fail(no_such_sink(scheme));
}

}  // namespace semel
