#pragma once

#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace semel::http {

/// What a scripted server does with one request.
struct Step {
    std::string answer;
    bool close = false;  ///< Closes the connection then.
};

/// The value of a field in a raw request; empty if it is not there.
inline std::string field(const std::string& request, std::string_view name) {
    const auto place = request.find("\r\n" + std::string(name) + ": ");
    if (place == std::string::npos) return {};
    const auto begin = place + 2 + name.size() + 2;
    return request.substr(begin, request.find("\r\n", begin) - begin);
}

/// Answers the requests it gets, in order, with exactly the bytes it was given; keeps what was sent
/// to it. One thread for all its connections.
class ScriptedServer {
public:
    explicit ScriptedServer(std::vector<Step> steps) : steps_(std::move(steps)) {
        listener_ = testing::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
        ::listen(listener_.get(), 16);
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// What came, request by request.
    [[nodiscard]] std::vector<std::string> requests() {
        const std::lock_guard guard(mutex_);
        return requests_;
    }

private:
    struct Peer {
        testing::FileDescriptor socket;
        std::string received;
    };

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::vector<pollfd> ready{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
            for (const Peer& peer : peers_) ready.push_back({.fd = peer.socket.get(), .events = POLLIN, .revents = 0});
            // Short, so that a stop is seen soon.
            if (::poll(ready.data(), ready.size(), 10) <= 0) continue;
            for (std::size_t i = ready.size() - 1; i > 0; --i) {
                if (ready[i].revents != 0 && !serve(peers_[i - 1])) {
                    peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
                }
            }
            if (ready[0].revents != 0) {
                peers_.push_back({testing::FileDescriptor(::accept(listener_.get(), nullptr, nullptr)), {}});
            }
        }
    }

    /// False if the connection is to be closed.
    bool serve(Peer& peer) {
        std::array<char, 65536> bytes{};
        const ssize_t count = ::recv(peer.socket.get(), bytes.data(), bytes.size(), 0);
        if (count <= 0) return false;
        peer.received.append(bytes.data(), static_cast<std::size_t>(count));
        const auto head = peer.received.find("\r\n\r\n");
        if (head == std::string::npos) return true;
        const std::string length = field(peer.received, "Content-Length");
        const std::size_t size = head + 4 + (length.empty() ? 0 : std::stoul(length));
        if (peer.received.size() < size) return true;
        Step step{.answer = "HTTP/1.1 418 Unscripted\r\nContent-Length: 0\r\n\r\n"};
        {
            const std::lock_guard guard(mutex_);
            if (requests_.size() < steps_.size()) step = steps_[requests_.size()];
            requests_.push_back(peer.received.substr(0, size));
        }
        peer.received.erase(0, size);
        ::send(peer.socket.get(), step.answer.data(), step.answer.size(), MSG_NOSIGNAL);
        return !step.close;
    }

    std::vector<Step> steps_;
    testing::FileDescriptor listener_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::vector<std::string> requests_;
    std::vector<Peer> peers_;
    std::jthread thread_;
};

}  // namespace semel::http
