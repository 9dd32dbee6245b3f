#include "tests/orders/http_client.hpp"

#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace orders::testing {
namespace {

using semel::Fault;
using semel::Result;
using semel::Status;
using semel::testing::FileDescriptor;
using semel::testing::system_error;

constexpr semel::Duration send_limit = std::chrono::seconds(20);

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool has(const Fields& fields, std::string_view name) {
    return std::ranges::any_of(fields, [&](const auto& field) { return same(field.first, name); });
}

/// Waits until the socket is ready for `events`; an Error when `until` has come.
Status await(const FileDescriptor& socket, short events, semel::Instant until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - semel::system_clock().now());
    pollfd ready{.fd = socket.get(), .events = events, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (count < 0) return semel::fail(system_error("wait for the service"));
    if (count == 0) return semel::fail(Fault::unavailable, "the service did not answer in time");
    return {};
}

/// Status and fields of "HTTP/1.1 200 OK\r\nName: value\r\n…".
HttpResponse parse_head(std::string_view head) {
    HttpResponse response;
    const std::string_view status = head.substr(std::min(head.size(), head.find(' ') + 1));
    std::from_chars(status.data(), status.data() + std::min<std::size_t>(3, status.size()), response.status);
    for (auto at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
        const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
        const auto colon = line.find(": ");
        if (colon == std::string_view::npos) continue;
        response.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    return response;
}

}  // namespace

std::string HttpRequest::text() const {
    std::string text = method + " " + target + " HTTP/1.1\r\n";
    if (!has(headers, "Host")) text += "Host: localhost\r\n";
    for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
    if (!body.empty() && !has(headers, "Content-Length"))
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
}

std::optional<std::string> HttpResponse::header(std::string_view name) const {
    for (const auto& [field, value] : headers)
        if (same(field, name)) return value;
    return std::nullopt;
}

std::string HttpResponse::member(std::string_view name) const {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains(name)) return {};
    const auto& value = json[std::string(name)];
    return value.is_string() ? value.get<std::string>() : value.dump();
}

Result<HttpConnection> HttpConnection::open(int port) {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return semel::fail(system_error("make a socket"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return semel::fail(system_error("connect to the service"));
    constexpr int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return HttpConnection(std::move(socket));
}

Status HttpConnection::send(std::string_view bytes) {
    const semel::Instant until = semel::system_clock().now() + send_limit;
    while (!bytes.empty()) {
        SEMEL_TRY(await(socket_, POLLOUT, until));
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) continue;
        if (sent < 0) return semel::fail(system_error("send to the service"));
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<bool> HttpConnection::read_more(semel::Instant until) {
    SEMEL_TRY(await(socket_, POLLIN, until));
    std::array<char, 65536> chunk{};
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (got < 0) return semel::fail(system_error("read from the service"));
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    return got > 0;
}

Result<HttpResponse> HttpConnection::receive(semel::Duration limit) {
    const semel::Instant until = semel::system_clock().now() + limit;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (!SEMEL_TRY(read_more(until)))
            return semel::fail(Fault::unavailable, "the service closed without an answer");
    }
    HttpResponse response = parse_head(std::string_view(buffer_).substr(0, end));
    std::size_t length = 0;
    if (const auto field = response.header("Content-Length"))
        std::from_chars(field->data(), field->data() + field->size(), length);
    while (buffer_.size() < end + 4 + length) {
        if (!SEMEL_TRY(read_more(until))) return semel::fail(Fault::unavailable, "the service closed in mid-answer");
    }
    response.body = buffer_.substr(end + 4, length);
    buffer_.erase(0, end + 4 + length);
    return response;
}

Result<HttpResponse> HttpConnection::exchange(const HttpRequest& request) {
    SEMEL_TRY(send(request.text()));
    return receive();
}

void HttpConnection::drop() noexcept {
    constexpr linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_.reset();
}

bool HttpConnection::closed_by_peer(semel::Duration limit) {
    const auto more = read_more(semel::system_clock().now() + limit);
    return more ? !*more : more.error().message.starts_with("read from");
}

Result<HttpResponse> call(int port, const HttpRequest& request) {
    auto connection = SEMEL_TRY(HttpConnection::open(port));
    return connection.exchange(request);
}

}  // namespace orders::testing
