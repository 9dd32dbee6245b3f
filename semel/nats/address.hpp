#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace semel::nats {

/// One server, by name or address.
struct ServerAddress {
    std::string host;
    std::uint16_t port = 4222;
    friend bool operator==(const ServerAddress&, const ServerAddress&) = default;
};

/// How to reach NATS, and who we are there.
struct ConnectionOptions {
    std::vector<ServerAddress> servers{};  ///< At least one; tried in turn.
    std::string user{};
    std::string password{};
    std::string token{};             ///< Instead of user and password.
    std::string credentials_file{};  ///< A user's JWT and seed, instead of both.
    /// Talks TLS, and only to a server whose certificate is valid and names the host.
    bool tls = false;
    std::string ca_file{};                             ///< PEM; the system's if empty.
    std::string name = "semel";                        ///< What the server's lists show.
    Duration connect_limit = std::chrono::seconds(3);  ///< For each server, until it has answered.
    Duration write_limit = std::chrono::seconds(1);    ///< A server that takes no bytes for so long is gone.
};

/// nats://user:password@host:port,host:port/STREAM?key=value&…
struct Url {
    ConnectionOptions connection;
    std::string stream;
    std::multimap<std::string, std::string> settings;  ///< What follows the question mark, decoded.
};

/// What errors call it.
inline constexpr std::string_view url_name = "NATS URL";

/// Takes a URL apart; `tls://` is `nats://` with TLS, and one name before the @ is a token. The keys that concern the
/// connection (tls, ca, credentials) are in `connection`. An Error (`rejected`) says what is wrong; it never shows a
/// user, a password or a token.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace semel::nats
