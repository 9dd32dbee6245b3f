#include "semel/rabbitmq/address.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace semel::rabbitmq {
namespace {

constexpr const char* example_url = "write it as amqp://host:5672/vhost?key=value";

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
        if (!text.empty() && !text.starts_with(':'))
            return no_url("the address of a RabbitMQ server goes on after its ]");
        port = text.empty() ? text : text.substr(1);
    } else {
        server.host = cut(text, ':');
        port = text;
    }
    if (server.host.empty()) return no_url("the AMQP URL names no host");
    if (port.empty()) return server;
    const auto read = std::from_chars(port.data(), port.data() + port.size(), server.port);
    if (read.ec != std::errc() || read.ptr != port.data() + port.size() || server.port == 0)
        return no_url("the port of a RabbitMQ server is a number from 1 to 65535");
    return server;
}

Status parse_user(std::string_view text, ConnectionOptions& connection) {
    const auto user = percent_decoded(cut(text, ':'));
    const auto password = percent_decoded(text);
    if (!user || !password) return no_url("user or password of the AMQP URL are not percent-encoded as they should be");
    connection.user = *user;
    connection.password = *password;
    return {};
}

Status parse_settings(std::string_view text, Url& url) {
    while (!text.empty()) {
        std::string_view value = cut(text, '&');
        const auto key = percent_decoded(cut(value, '='));
        const auto decoded = percent_decoded(value);
        if (!key || !decoded || key->empty()) return no_url("what follows the ? of the AMQP URL is not key=value&…");
        if (!url.settings.emplace(*key, *decoded).second) return no_url("the AMQP URL sets " + *key + " twice");
    }
    if (auto ca = url.settings.extract("ca"); !ca.empty()) url.connection.ca_file = std::move(ca.mapped());
    if (!url.connection.ca_file.empty() && !url.connection.tls) return no_url("ca means nothing without amqps://");
    return {};
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
    Url url;
    if (text.starts_with("amqps://"))
        url.connection.tls = true;
    else if (!text.starts_with("amqp://"))
        return no_url("an AMQP URL begins with amqp:// or amqps://");
    text.remove_prefix(text.find("//") + 2);
    std::string_view before_settings = cut(text, '?');
    const std::string_view settings = text;
    std::string_view servers = cut(before_settings, '/');
    const auto vhost = percent_decoded(before_settings);
    if (!vhost) return no_url("the vhost of the AMQP URL is not percent-encoded as it should be");
    if (!vhost->empty()) url.connection.vhost = *vhost;
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

}  // namespace semel::rabbitmq
