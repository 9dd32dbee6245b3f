#pragma once

#include "semel/base/time.hpp"
#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel::http {

/// A client that sends exactly the bytes it is given, for what no proper client would send.
class RawClient {
public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_buffer > 0) {
            ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        connected_ = ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }

    [[nodiscard]] bool connected() const noexcept { return connected_; }
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }

    /// What comes within the limit, until the other side closes.
    std::string read_to_end(Duration limit) {
        const Instant until = system_clock().now() + limit;
        while (read_some(until)) {}
        return std::move(received_);
    }
    /// One whole answer with a Content-Length; empty if it does not come within the limit.
    std::string read_answer(Duration limit = std::chrono::seconds(5)) {
        const Instant until = system_clock().now() + limit;
        for (;;) {
            const auto head = received_.find("\r\n\r\n");
            if (head != std::string::npos) {
                const auto field = received_.find("Content-Length: ");
                const std::size_t length = field < head ? std::stoul(received_.substr(field + 16, 20)) : 0;
                const std::size_t size = head + 4 + length;
                if (received_.size() >= size) {
                    std::string answer = received_.substr(0, size);
                    received_.erase(0, size);
                    return answer;
                }
            }
            if (!read_some(until)) return {};
        }
    }
    /// Whether the other side has closed, or does within the limit.
    bool is_closed(Duration limit) {
        const Instant until = system_clock().now() + limit;
        while (read_some(until)) {}
        return closed_;
    }

private:
    bool read_some(Instant until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - system_clock().now()).count();
        pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        if (left <= 0 || closed_ || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
        std::array<char, 65536> bytes{};
        const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        if (count <= 0) {
            closed_ = true;
            return false;
        }
        received_.append(bytes.data(), static_cast<std::size_t>(count));
        return true;
    }

    testing::FileDescriptor socket_;
    std::string received_;
    bool connected_ = false;
    bool closed_ = false;
};

}  // namespace semel::http
