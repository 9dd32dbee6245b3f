#pragma once

#include "semel/base/result.hpp"
#include "semel/kafka/handles.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace semel::kafka {

/// One setting of librdkafka's, by its own name: "security.protocol", "sasl.username".
struct Setting {
    std::string name;
    std::string value;
};

/// How to get to a cluster.
struct Connection {
    std::string brokers{};  ///< "host:port,host:port": some of them, to begin with.
    /// TLS, SASL and what else concerns only the way to the brokers. What decides about guarantees (acks, idempotence,
    /// offsets, isolation) cannot be set.
    std::vector<Setting> settings{};
};

/// Whether this setting may be passed on.
[[nodiscard]] bool may_be_set(std::string_view name) noexcept;

namespace detail {

/// Settings in the making. The first that is refused is what `take` reports; values of secrets are never shown.
class Conf {
public:
    /// With the connection's settings, quiet, and with limits that every client shares.
    explicit Conf(const Connection& connection);

    Conf& set(const char* name, const std::string& value);
    Conf& set(const char* name, std::int64_t value) { return set(name, std::to_string(value)); }
    /// For callbacks and their opaque pointer.
    [[nodiscard]] rd_kafka_conf_s* get() const noexcept { return conf_.get(); }

    enum class Kind : unsigned char { producer, consumer };
    /// A client with these settings. Talks to nobody yet.
    [[nodiscard]] Result<ClientHandle> make(Kind kind) &&;

private:
    ConfHandle conf_;
    Status refused_;
};

/// In whole milliseconds, for calls that take those: at least zero, at most a day.
[[nodiscard]] int milliseconds(Duration duration) noexcept;

}  // namespace detail
}  // namespace semel::kafka
