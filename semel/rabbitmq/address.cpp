#include "semel/rabbitmq/address.hpp"

#include "semel/base/server_url.hpp"

#include <array>
#include <utility>

namespace semel::rabbitmq {
namespace {

constexpr std::array<std::string_view, 2> url_schemes{"amqp", "amqps"};
constexpr ServerUrlForm url_form{
    .name = url_name, .schemes = url_schemes, .example = "amqp://host:5672/vhost?key=value"};

}  // namespace

Result<Url> parse_url(std::string_view text) {
    ServerUrl parsed = SEMEL_TRY(parse_server_url(text, url_form));
    Url url;
    ConnectionOptions& connection = url.connection;
    connection.tls = parsed.scheme == "amqps";
    for (UrlServer& one : parsed.servers)
        connection.servers.push_back({.host = std::move(one.host), .port = one.port.value_or(0)});
    if (parsed.user) {
        connection.user = *std::move(parsed.user);
        connection.password = parsed.password.value_or("");
    }
    if (!parsed.path.empty()) connection.vhost = std::move(parsed.path);
    connection.ca_file = parsed.take("ca").value_or("");
    if (!connection.ca_file.empty() && !connection.tls)
        return fail(wrong_url(url_form, "ca means nothing without amqps://"));
    url.settings = std::move(parsed.settings);
    return url;
}

}  // namespace semel::rabbitmq
