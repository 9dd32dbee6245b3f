#include "semel/kafka/connection.hpp"

#include "semel/base/assert.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

namespace semel::kafka {
namespace {

struct Allowed {
    std::string_view name;
    bool secret = false;
};

constexpr std::array allowed_settings{
    Allowed{"broker.address.family"},
    Allowed{"client.id"},
    Allowed{"client.rack"},
    Allowed{"compression.codec"},
    Allowed{"compression.type"},
    Allowed{"connections.max.idle.ms"},
    Allowed{"message.max.bytes"},
    Allowed{"metadata.max.age.ms"},
    Allowed{"reconnect.backoff.max.ms"},
    Allowed{"reconnect.backoff.ms"},
    Allowed{"sasl.kerberos.keytab"},
    Allowed{"sasl.kerberos.principal"},
    Allowed{"sasl.kerberos.service.name"},
    Allowed{"sasl.mechanism"},
    Allowed{"sasl.mechanisms"},
    Allowed{"sasl.oauthbearer.client.id"},
    Allowed{"sasl.oauthbearer.client.secret", true},
    Allowed{"sasl.oauthbearer.extensions"},
    Allowed{"sasl.oauthbearer.method"},
    Allowed{"sasl.oauthbearer.scope"},
    Allowed{"sasl.oauthbearer.token.endpoint.url"},
    Allowed{"sasl.password", true},
    Allowed{"sasl.username"},
    Allowed{"security.protocol"},
    Allowed{"socket.connection.setup.timeout.ms"},
    Allowed{"socket.keepalive.enable"},
    Allowed{"socket.nagle.disable"},
    Allowed{"ssl.ca.location"},
    Allowed{"ssl.ca.pem"},
    Allowed{"ssl.certificate.location"},
    Allowed{"ssl.certificate.pem"},
    Allowed{"ssl.cipher.suites"},
    Allowed{"ssl.crl.location"},
    Allowed{"ssl.key.location"},
    Allowed{"ssl.key.password", true},
    Allowed{"ssl.key.pem", true},
    Allowed{"ssl.keystore.location"},
    Allowed{"ssl.keystore.password", true},
};

const Allowed* find_allowed(std::string_view name) noexcept {
    const auto found = std::ranges::find(allowed_settings, name, &Allowed::name);
    return found == allowed_settings.end() ? nullptr : &*found;
}

/// What it has to say comes back with each call that fails.
void say_nothing(const rd_kafka_t*, int, const char*, const char*) {}

}  // namespace

bool may_be_set(std::string_view name) noexcept { return find_allowed(name) != nullptr; }

namespace detail {

Conf::Conf(const Connection& connection) : conf_(::rd_kafka_conf_new()) {
    ::rd_kafka_conf_set_log_cb(conf_.get(), say_nothing);
    set("bootstrap.servers", connection.brokers);
    set("client.id", "semel");
    // A broker that was away is tried again soon.
    set("reconnect.backoff.ms", 50);
    set("reconnect.backoff.max.ms", 1'000);
    set("socket.nagle.disable", "true");
    for (const Setting& one : connection.settings) {
        const Allowed* known = find_allowed(one.name);
        if (known == nullptr) {
            if (refused_) refused_ = fail(Fault::rejected, "kafka: the setting " + one.name + " cannot be set here");
            continue;
        }
        if (!known->secret) {
            set(one.name.c_str(), one.value);
        } else if (::rd_kafka_conf_set(conf_.get(), one.name.c_str(), one.value.c_str(), nullptr, 0) !=
                   RD_KAFKA_CONF_OK) {
            if (refused_) refused_ = fail(Fault::rejected, "kafka: the value of " + one.name + " is not accepted");
        }
    }
}

Conf& Conf::set(const char* name, const std::string& value) {
    std::array<char, 256> why{};
    if (::rd_kafka_conf_set(conf_.get(), name, value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK) return *this;
    if (!refused_) return *this;
    Error error;
    error.fault = Fault::rejected;
    error.message = std::string("kafka: the value of ") + name + " is not accepted";
    error.native = why.data();
    refused_ = fail(std::move(error));
    return *this;
}

Result<ClientHandle> Conf::make(Kind kind) && {
    SEMEL_TRY(refused_);
    std::array<char, 256> why{};
    rd_kafka_t* client = ::rd_kafka_new(kind == Kind::producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf_.get(),
                                        why.data(), why.size());
    if (client == nullptr) {
        Error error;
        error.fault = Fault::rejected;
        error.message = "kafka: no client can be made with these settings";
        error.native = why.data();
        return fail(std::move(error));
    }
    std::ignore = conf_.release();  // The client's now.
    return ClientHandle(client);
}

int milliseconds(Duration duration) noexcept {
    constexpr Duration most = std::chrono::days(1);
    const Duration bounded = std::clamp(duration, Duration::zero(), most);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(bounded).count());
}

}  // namespace detail
}  // namespace semel::kafka
