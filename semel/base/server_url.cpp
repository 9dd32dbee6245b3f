#include "semel/base/server_url.hpp"

#include "semel/base/percent.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace semel {
namespace {

/// Cuts off and returns what stands before the mark; everything if it is not there.
std::string_view cut_before(std::string_view& text, char mark) {
    const auto place = text.find(mark);
    const std::string_view before = text.substr(0, place);
    text.remove_prefix(place == std::string_view::npos ? text.size() : place + 1);
    return before;
}

/// Of a name or an address. Other alphabets are left to whoever resolves it.
bool may_be_in_host(char c) noexcept {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f' &&
           std::string_view("\"#,/<>?@[\\]^`{|}").find(c) == std::string_view::npos;
}

/// One URL on its way; every error says of which kind it is.
class ServerUrlParser {
public:
    explicit ServerUrlParser(const ServerUrlForm& form) : form_(&form) {}

    Result<ServerUrl> parse(std::string_view text) {
        SEMEL_TRY(read_scheme(text));
        std::string_view before_settings = cut_before(text, '?');
        std::string_view servers = cut_before(before_settings, '/');
        // What follows the servers is shown in errors. An @ in it shows that user or password hold a mark which ends them.
        auto path = plain(before_settings);
        if (before_settings.find('@') != std::string_view::npos) return unencoded_mark();
        if (!path) return wrong("the path of the {} is not percent-encoded as it should be");
        url_.path = *std::move(path);
        // The last @: a password may be written with one, though it should not.
        if (const auto at = servers.rfind('@'); at != std::string_view::npos) {
            SEMEL_TRY(read_user(servers.substr(0, at)));
            servers.remove_prefix(at + 1);
        }
        do {
            SEMEL_TRY(read_server(cut_before(servers, ',')));
        } while (!servers.empty());
        SEMEL_TRY(read_settings(text));
        return std::move(url_);
    }

private:
    /// Decoded; nothing if that cannot be, or gives a zero.
    static std::optional<std::string> plain(std::string_view encoded) {
        auto decoded = percent_decoded(encoded);
        if (decoded && decoded->find('\0') != std::string::npos) return std::nullopt;
        return decoded;
    }
    /// With the name of the form for {}.
    [[nodiscard]] tl::unexpected<Error> wrong(std::string message) const {
        if (const auto place = message.find("{}"); place != std::string::npos) message.replace(place, 2, form_->name);
        return fail(wrong_url(*form_, std::move(message)));
    }

    [[nodiscard]] tl::unexpected<Error> unencoded_mark() const {
        return wrong("the {} has an @ behind its servers: write / ? @ of a user, a password or a path as %2F %3F %40");
    }

    Status read_scheme(std::string_view& text) {
        for (const std::string_view scheme : form_->schemes) {
            if (!text.starts_with(scheme) || !text.substr(scheme.size()).starts_with("://")) continue;
            url_.scheme = scheme;
            text.remove_prefix(scheme.size() + 3);
            return {};
        }
        std::string known;
        for (const std::string_view scheme : form_->schemes)
            known.append(known.empty() ? "" : " or ").append(scheme).append("://");
        return wrong("the {} does not begin with " + known);
    }
    Status read_user(std::string_view text) {
        const bool has_password = text.find(':') != std::string_view::npos;
        url_.user = plain(cut_before(text, ':'));
        if (has_password) url_.password = plain(text);
        if (!url_.user || url_.password.has_value() != has_password)
            return wrong("user or password of the {} are not percent-encoded as they should be");
        return {};
    }
    Status read_server(std::string_view text) {
        UrlServer server;
        const bool address = text.starts_with('[');  // An IPv6 address has colons of its own.
        if (address) text.remove_prefix(1);
        const bool closed = !address || text.find(']') != std::string_view::npos;
        server.host = address ? cut_before(text, ']') : text.substr(0, text.find(':'));
        if (!address) text.remove_prefix(server.host.size());
        if (server.host.empty()) return wrong("the {} names no host");
        if (!closed || !std::ranges::all_of(server.host, may_be_in_host) || (!text.empty() && text[0] != ':'))
            return wrong("a host of the {} is neither a name nor an address");
        if (!text.empty()) {
            std::uint16_t port = 0;
            const auto read = std::from_chars(text.data() + 1, text.data() + text.size(), port);
            if (read.ec != std::errc() || read.ptr != text.data() + text.size() || port == 0)
                return wrong("a port of the {} is not a number from 1 to 65535");
            server.port = port;
        }
        url_.servers.push_back(std::move(server));
        return {};
    }
    Status read_settings(std::string_view text) {
        while (!text.empty()) {
            std::string_view value = cut_before(text, '&');
            const std::string_view written = cut_before(value, '=');
            if (written.find('@') != std::string_view::npos) return unencoded_mark();
            auto name = plain(written);
            auto decoded = plain(value);
            if (!name || !decoded || name->empty()) return wrong("what follows the ? of the {} is not name=value&…");
            if (*name != form_->repeatable && url_.settings.contains(*name))
                return wrong("the {} sets " + *name + " twice");
            url_.settings.emplace(*std::move(name), *std::move(decoded));
        }
        return {};
    }

    const ServerUrlForm* form_;
    ServerUrl url_;
};

}  // namespace

std::string UrlServer::text() const {
    std::string written = host.find(':') == std::string::npos ? host : "[" + host + "]";
    if (port) written += ":" + std::to_string(*port);
    return written;
}

std::optional<std::string> ServerUrl::take(const std::string& name) {
    auto found = settings.extract(name);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
}

Error wrong_url(const ServerUrlForm& form, std::string message) {
    Error error;
    error.fault = Fault::rejected;
    error.message = std::move(message);
    error.cause.hint = "write it as ";
    error.cause.hint += form.example;
    return error;
}

Result<ServerUrl> parse_server_url(std::string_view text, const ServerUrlForm& form) {
    return ServerUrlParser(form).parse(text);
}

}  // namespace semel
