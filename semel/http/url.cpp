#include "semel/http/url.hpp"

#include "semel/http/message.hpp"
#include "semel/http/target.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace semel::http {
namespace {

constexpr bool is_host_character(char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("-._~:").find(c) != std::string_view::npos;
}

std::optional<std::uint16_t> parse_port(std::string_view digits) noexcept {
    std::uint16_t port = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || port == 0) return std::nullopt;
    return port;
}

}  // namespace

std::string Url::text_without_query() const {
    return (tls ? "https://" : "http://") + authority + target.substr(0, target.find('?'));
}

Result<Url> parse_url(std::string_view text) {
    const auto refuse = [](std::string_view why) { return fail(Fault::rejected, "url: " + std::string(why)); };
    Url url;
    const std::string_view scheme = text.substr(0, text.find("://"));
    if (scheme.size() == text.size()) return refuse("it must begin with http:// or https://");
    url.tls = same_name(scheme, "https");
    if (!url.tls && !same_name(scheme, "http")) return refuse("the scheme must be http or https");
    text.remove_prefix(scheme.size() + 3);
    std::string_view authority = text.substr(0, text.find_first_of("/?#"));
    text.remove_prefix(authority.size());
    url.target = text.starts_with('/') ? std::string(text) : "/" + std::string(text);
    if (!parse_target(url.target)) return refuse("path and query must be visible ASCII without a fragment");
    if (authority.find('@') != std::string_view::npos) return refuse("user information belongs into a header");

    url.port = url.tls ? 443 : 80;
    const bool bracketed = authority.starts_with('[');
    const auto host_end = bracketed ? authority.find(']') : authority.find(':');
    if (bracketed && host_end == std::string_view::npos) return refuse("the address lacks its bracket");
    url.host = bracketed ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
    url.authority = bracketed ? "[" + url.host + "]" : url.host;
    if (url.host.empty() || !std::ranges::all_of(url.host, is_host_character)) return refuse("the host is malformed");
    authority.remove_prefix(std::min(url.authority.size(), authority.size()));
    if (!authority.empty()) {
        const auto port = authority.starts_with(':') ? parse_port(authority.substr(1)) : std::nullopt;
        if (!port) return refuse("the port is malformed");
        if (*port != url.port) url.authority += ":" + std::to_string(*port);
        url.port = *port;
    }
    return url;
}

}  // namespace semel::http
