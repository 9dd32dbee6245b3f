#include "semel/open/source.hpp"

#include "semel/kafka/url.hpp"
#include "semel/nats/source.hpp"
#include "semel/open/scheme.hpp"
#include "semel/rabbitmq/source.hpp"

#include <utility>

namespace semel {
namespace {

/// The address with a parameter, unless it has one of that name.
std::string with_parameter(const std::string& address, std::string_view name, std::string_view value) {
    const std::size_t question = address.find('?');
    const std::string parameter = std::string(name) + "=";
    if (question != std::string::npos) {
        const std::string query = "&" + address.substr(question + 1);
        if (query.find("&" + parameter) != std::string::npos) return address;
    }
    return address + (question == std::string::npos ? "?" : "&") + parameter + std::string(value);
}

Error no_such_source(std::string_view scheme) {
    Error error;
    error.fault = Fault::rejected;
    error.message =
        scheme.empty() ? "the address is no URL" : "messages cannot be had from " + std::string(scheme) + "://";
    error.cause.hint = "they can be had from kafka://, amqp://, amqps://, nats:// and tls://";
    return error;
}

}  // namespace

Result<std::unique_ptr<Source>> open_source(const std::string& address, std::string_view consumer, Clock& clock) {
    const std::string_view scheme = scheme_of(address);
    if (scheme == "kafka") {
        auto options = SEMEL_TRY(kafka::source_options(with_parameter(address, "group", consumer)));
        return SEMEL_TRY(kafka::KafkaSource::open(std::move(options), clock));
    }
    if (scheme == "amqp" || scheme == "amqps") {
        auto options = SEMEL_TRY(rabbitmq::source_options(with_parameter(address, "queue", consumer)));
        return SEMEL_TRY(rabbitmq::RabbitmqSource::open(std::move(options), clock));
    }
    if (scheme == "nats" || scheme == "tls") {
        auto options = SEMEL_TRY(nats::source_options(with_parameter(address, "consumer", consumer)));
        return SEMEL_TRY(nats::NatsSource::open(std::move(options), clock));
    }
    return fail(no_such_source(scheme));
}

}  // namespace semel
