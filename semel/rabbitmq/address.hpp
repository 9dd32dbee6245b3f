#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace semel::rabbitmq {

/// One server, by name or address.
struct ServerAddress {
    std::string host;
    std::uint16_t port = 0;  ///< 0: 5672, or 5671 with TLS.
    friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// How to reach RabbitMQ, and who we are there.
struct ConnectionOptions {
    std::vector<ServerAddress> servers{};  ///< At least one; tried in turn.
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    /// Talks TLS, and only to a server whose certificate is valid and names the host.
    bool tls = false;
    std::string ca_file{};  ///< PEM; Debian's bundle of the system's if empty.
    /// For each server: connection, handshake and log-in, and then for each request that is answered.
    Duration connect_limit = std::chrono::seconds(3);
};

/// amqp://user:password@host:port,host:port/vhost?key=value&…
struct Url {
    ConnectionOptions connection;
    std::multimap<std::string, std::string> settings;  ///< What follows the question mark, decoded.
};

/// What errors call it.
inline constexpr std::string_view url_name = "AMQP URL";

/// Takes a URL apart; `amqps://` talks TLS. A vhost is percent-encoded; none is "/". The key `ca` is in `connection`. An
/// Error (`rejected`) says what is wrong; it never shows a user or a password.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace semel::rabbitmq
