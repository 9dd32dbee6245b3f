#include "semel/nats/address.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace semel::nats {
namespace {

constexpr const char* example_url = "write it as nats://host:4222/STREAM?key=value";

tl::unexpected<Error> no_url(std::string message, std::string hint = example_url) {
    Error error;
    error.fault = Fault::rejected;
    error.message = std::move(message);
    error.cause.hint = std::move(hint);
    return fail(std::move(error));
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        if (text[0] != '%') {
            plain += text[0];
            text.remove_prefix(1);
            continue;
        }
        unsigned byte = 0;
        if (text.size() < 3) return std::nullopt;
        const auto read = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
        if (read.ec != std::errc() || read.ptr != text.data() + 3) return std::nullopt;
        plain += static_cast<char>(byte);
        text.remove_prefix(3);
    }
    return plain;
}

/// Cuts off and returns what stands before the mark; everything if it is not there.
std::string_view cut(std::string_view& text, char mark) {
    const auto place = text.find(mark);
    const std::string_view before = text.substr(0, place);
    text.remove_prefix(place == std::string_view::npos ? text.size() : place + 1);
    return before;
}

Result<ServerAddress> parse_server(std::string_view text) {
    ServerAddress server;
    std::string_view port;
    if (text.starts_with('[')) {  // An IPv6 address has colons of its own.
        text.remove_prefix(1);
        server.host = cut(text, ']');
        if (!text.empty() && !text.starts_with(':')) return no_url("the address of a NATS server goes on after its ]");
        port = text.empty() ? text : text.substr(1);
    } else {
        server.host = cut(text, ':');
        port = text;
    }
    if (server.host.empty()) return no_url("the NATS URL names no host");
    if (port.empty()) return server;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), server.port);
    if (read.ec != std::errc() || read.ptr != port.data() + port.size() || server.port == 0)
        return no_url("the port of a NATS server is a number from 1 to 65535");
    return server;
}

Status parse_user(std::string_view text, ConnectionOptions& connection) {
    const bool has_password = text.find(':') != std::string_view::npos;
    const auto user = percent_decoded(cut(text, ':'));
    const auto password = percent_decoded(text);
    if (!user || !password) return no_url("user or password of the NATS URL are not percent-encoded as they should be");
    (has_password ? connection.user : connection.token) = *user;
    connection.password = *password;
    return {};
}

Status parse_settings(std::string_view text, Url& url) {
    while (!text.empty()) {
        std::string_view value = cut(text, '&');
        const auto key = percent_decoded(cut(value, '='));
        const auto decoded = percent_decoded(value);
        if (!key || !decoded || key->empty()) return no_url("what follows the ? of the NATS URL is not key=value&…");
        if (!url.settings.emplace(*key, *decoded).second) return no_url("the NATS URL sets " + *key + " twice");
    }
    ConnectionOptions& connection = url.connection;
    if (const auto tls = url.settings.extract("tls"); !tls.empty()) {
        if (tls.mapped() != "true" && tls.mapped() != "false") return no_url("tls is true or false");
        if (connection.tls && tls.mapped() == "false") return no_url("tls:// and tls=false contradict each other");
        connection.tls = tls.mapped() == "true";
    }
    if (auto ca = url.settings.extract("ca"); !ca.empty()) connection.ca_file = std::move(ca.mapped());
    if (auto file = url.settings.extract("credentials"); !file.empty())
        connection.credentials_file = std::move(file.mapped());
    if (!connection.ca_file.empty() && !connection.tls) return no_url("ca means nothing without tls=true");
    return {};
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
    Url url;
    if (text.starts_with("tls://"))
        url.connection.tls = true;
    else if (!text.starts_with("nats://"))
        return no_url("a NATS URL begins with nats:// or tls://");
    text.remove_prefix(text.find("//") + 2);
    std::string_view before_settings = cut(text, '?');
    const std::string_view settings = text;
    std::string_view servers = cut(before_settings, '/');
    const auto stream = percent_decoded(before_settings);
    if (!stream) return no_url("the stream's name in the NATS URL is not percent-encoded as it should be");
    url.stream = *stream;
    // The last @: a password may be written with one, though it should not.
    if (const auto at = servers.rfind('@'); at != std::string_view::npos) {
        SEMEL_TRY(parse_user(servers.substr(0, at), url.connection));
        servers.remove_prefix(at + 1);
    }
    do {
        url.connection.servers.push_back(SEMEL_TRY(parse_server(cut(servers, ','))));
    } while (!servers.empty());
    SEMEL_TRY(parse_settings(settings, url));
    return url;
}

}  // namespace semel::nats
