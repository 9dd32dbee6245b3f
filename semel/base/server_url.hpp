#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// One server of a URL, by name or address.
struct UrlServer {
    std::string host;                   ///< An IPv6 address without its brackets.
    std::optional<std::uint16_t> port;  ///< Nothing: the usual one.

    /// As a URL has it: "host:port", "[::1]:port".
    [[nodiscard]] std::string text() const;
    friend bool operator==(const UrlServer&, const UrlServer&) = default;
};

/// scheme://user:password@host:port,host:port/path?name=value&… with everything decoded.
struct ServerUrl {
    std::string scheme;
    std::optional<std::string> user;
    std::optional<std::string> password;
    std::vector<UrlServer> servers;                    ///< At least one.
    std::string path;                                  ///< Without the slash before it.
    std::multimap<std::string, std::string> settings;  ///< Of one name in the order of the URL.

    /// The value of a setting that stands there once, which is taken away.
    [[nodiscard]] std::optional<std::string> take(const std::string& name);
};

/// What the URLs of one kind of server look like.
struct ServerUrlForm {
    std::string_view name;                      ///< For errors: "NATS URL".
    std::span<const std::string_view> schemes;  ///< "nats", "tls"
    std::string_view example;                   ///< "nats://host:4222/STREAM?key=value"
    std::string_view repeatable = {};           ///< The one setting that may stand there several times.
};

/// The way to say what is wrong with a URL: an Error (`rejected`) that shows how it is written.
[[nodiscard]] Error wrong_url(const ServerUrlForm& form, std::string message);

/// Takes a URL apart. An Error (`rejected`) says what is wrong; it shows names of settings, and never a user, a password
/// or a value. Zero bytes are refused, however they are written: much that takes these values would stop reading there.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text, const ServerUrlForm& form);

}  // namespace semel
