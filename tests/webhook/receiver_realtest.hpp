#pragma once

#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace semel::webhook {

/// A request as it came.
struct Received {
    std::string head;
    std::string body;

    /// The value of a field; empty if it is not there.
    [[nodiscard]] std::string field(std::string_view name) const {
        std::string lower = head;
        std::ranges::transform(lower, lower.begin(), [](unsigned char one) { return std::tolower(one); });
        const auto place = lower.find("\r\n" + std::string(name) + ": ");
        if (place == std::string::npos) return {};
        const auto begin = place + 2 + name.size() + 2;
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

inline std::string plain(std::string_view status, std::string_view fields = {}) {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) + "Content-Length: 0\r\n\r\n";
}

/// Receives webhooks on loopback, each connection on a thread of its own. What the handler returns is the answer, byte
/// for byte; nothing: the connection is closed without one.
class Receiver {
public:
    using Handler = std::function<std::optional<std::string>(const Received&, const std::stop_token&)>;

    explicit Receiver(Handler handler) : handler_(std::move(handler)) {
        listener_ = testing::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        static_cast<void>(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
        ::listen(listener_.get(), 64);
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
        port_ = ntohs(address.sin_port);
        acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
    }
    ~Receiver() {
        acceptor_.request_stop();
        acceptor_.join();
        connections_.clear();
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    [[nodiscard]] std::string url(std::string_view path = "/in") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] int connections() const noexcept { return accepted_; }
    [[nodiscard]] std::vector<Received> requests() {
        const std::lock_guard guard(mutex_);
        return requests_;
    }

private:
    static bool readable(int socket, const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
            // Short, so that a stop is seen soon.
            if (::poll(&ready, 1, 10) > 0) return true;
        }
        return false;
    }

    void accept_all(const std::stop_token& stop) {
        while (readable(listener_.get(), stop)) {
            auto peer = std::make_shared<testing::FileDescriptor>(::accept(listener_.get(), nullptr, nullptr));
            ++accepted_;
            connections_.emplace_back([this, peer](const std::stop_token& ending) {
                serve(peer->get(), ending);
                peer->reset();
            });
        }
    }

    void serve(int socket, const std::stop_token& stop) {
        std::string bytes;
        while (const auto request = read(socket, bytes, stop)) {
            {
                const std::lock_guard guard(mutex_);
                requests_.push_back(*request);
            }
            const auto answer = handler_(*request, stop);
            if (!answer) return;
            if (::send(socket, answer->data(), answer->size(), MSG_NOSIGNAL) < 0) return;
        }
    }

    static std::optional<Received> read(int socket, std::string& bytes, const std::stop_token& stop) {
        while (true) {
            if (const auto end = bytes.find("\r\n\r\n"); end != std::string::npos) {
                Received request{.head = bytes.substr(0, end + 2), .body = {}};
                const std::string length = request.field("content-length");
                const std::size_t size = length.empty() ? 0 : std::stoul(length);
                if (bytes.size() >= end + 4 + size) {
                    request.body = bytes.substr(end + 4, size);
                    bytes.erase(0, end + 4 + size);
                    return request;
                }
            }
            std::array<char, 65536> some{};
            if (!readable(socket, stop)) return std::nullopt;
            const ssize_t count = ::recv(socket, some.data(), some.size(), 0);
            if (count <= 0) return std::nullopt;
            bytes.append(some.data(), static_cast<std::size_t>(count));
        }
    }

    Handler handler_;
    testing::FileDescriptor listener_;
    std::uint16_t port_ = 0;
    std::atomic<int> accepted_ = 0;
    std::mutex mutex_;
    std::vector<Received> requests_;
    std::vector<std::jthread> connections_;
    std::jthread acceptor_;
};

}  // namespace semel::webhook
