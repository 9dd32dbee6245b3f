#include "semel/nats/address.hpp"

#include "semel/base/server_url.hpp"

#include <array>
#include <utility>

namespace semel::nats {
namespace {

constexpr std::array<std::string_view, 2> url_schemes{"nats", "tls"};
constexpr ServerUrlForm url_form{
    .name = url_name, .schemes = url_schemes, .example = "nats://host:4222/STREAM?key=value"};

Status take_connection_settings(ServerUrl& url, ConnectionOptions& connection) {
    if (const auto tls = url.take("tls")) {
        if (tls != "true" && tls != "false") return fail(wrong_url(url_form, "tls is true or false"));
        if (connection.tls && tls == "false")
            return fail(wrong_url(url_form, "tls:// and tls=false contradict each other"));
        connection.tls = tls == "true";
    }
    connection.ca_file = url.take("ca").value_or("");
    connection.credentials_file = url.take("credentials").value_or("");
    if (!connection.ca_file.empty() && !connection.tls)
        return fail(wrong_url(url_form, "ca means nothing without tls=true"));
    return {};
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
    ServerUrl parsed = SEMEL_TRY(parse_server_url(text, url_form));
    Url url;
    ConnectionOptions& connection = url.connection;
    connection.tls = parsed.scheme == "tls";
    for (UrlServer& one : parsed.servers)
        connection.servers.push_back({.host = std::move(one.host), .port = one.port.value_or(ServerAddress().port)});
    (parsed.password ? connection.user : connection.token) = parsed.user.value_or("");
    connection.password = parsed.password.value_or("");
    SEMEL_TRY(take_connection_settings(parsed, connection));
    url.stream = std::move(parsed.path);
    url.settings = std::move(parsed.settings);
    return url;
}

}  // namespace semel::nats
