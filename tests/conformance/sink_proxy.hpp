#pragma once

#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

namespace semel::conformance {

/// A TCP proxy on loopback that knows no protocol: passes everything on, or cuts and refuses, or keeps every answer to
/// itself. Its port stays the same, also while it refuses. Thread-safe.
class SinkProxy {
public:
    explicit SinkProxy(std::uint16_t upstream, std::uint16_t port = 0) : upstream_(upstream), port_(port) {
        listen();
        acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
    }
    ~SinkProxy() {
        acceptor_.request_stop();
        acceptor_.join();
        cut_all();
    }
    SinkProxy(const SinkProxy&) = delete;
    SinkProxy& operator=(const SinkProxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    /// True: connections are cut, and new ones closed as soon as they are made.
    void be_away(bool away) {
        away_ = away;
        if (away) cut_all();
    }
    /// True: what clients say goes on to the server, and nothing comes back; such a connection is cut when it is over, for
    /// its answers are lost.
    void be_mute(bool mute) {
        mute_ = mute;
        if (!mute) cut_all();
    }
    void cut_all() {
        std::list<std::jthread> ending;
        {
            const std::lock_guard guard(mutex_);
            ending.swap(connections_);
        }
        for (std::jthread& one : ending) one.request_stop();
    }

private:
    static constexpr int look_milliseconds = 5;

    [[nodiscard]] static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
    void listen() {
        listener_ = testing::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const int on = 1;
        ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in address = loopback(port_);
        socklen_t size = sizeof address;
        // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        SEMEL_ASSERT(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        SEMEL_ASSERT(::listen(listener_.get(), 64) == 0);
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
        port_ = ntohs(address.sin_port);
    }
    void accept_all(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd ready{.fd = listener_.get(), .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, look_milliseconds) <= 0) continue;
            testing::FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!client.is_open() || away_) continue;
            testing::FileDescriptor server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            const sockaddr_in address = loopback(upstream_);
            // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
            if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;
            const int on = 1;
            ::setsockopt(server.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            const std::lock_guard guard(mutex_);
            connections_.emplace_back([this, one = std::move(client), other = std::move(server)](
                                          const std::stop_token& ending) { pass(one.get(), other.get(), ending); });
        }
    }
    void pass(int client, int server, const std::stop_token& stop) const {
        while (!stop.stop_requested()) {
            std::array<pollfd, 2> ready{pollfd{.fd = client, .events = POLLIN, .revents = 0},
                                        pollfd{.fd = server, .events = POLLIN, .revents = 0}};
            if (::poll(ready.data(), ready.size(), look_milliseconds) <= 0) continue;
            if (ready[0].revents != 0 && !move(client, server, true, stop)) return;
            if (ready[1].revents != 0 && !move(server, client, !mute_, stop)) return;
        }
    }
    /// What can be read now; false: this conversation is over.
    static bool move(int from, int to, bool deliver, const std::stop_token& stop) {
        std::array<char, 65536> some{};
        const ssize_t got = ::recv(from, some.data(), some.size(), 0);
        if (got <= 0) return false;
        for (ssize_t sent = 0; deliver && sent < got;) {
            if (stop.stop_requested()) return false;
            const ssize_t wrote =
                ::send(to, some.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (wrote > 0) sent += wrote;
            if (wrote < 0 && errno != EAGAIN && errno != EINTR) return false;
            pollfd room{.fd = to, .events = POLLOUT, .revents = 0};
            if (wrote < 0) ::poll(&room, 1, look_milliseconds);
        }
        return true;
    }

    std::uint16_t upstream_;
    std::uint16_t port_;
    testing::FileDescriptor listener_;
    std::atomic<bool> away_ = false;
    std::atomic<bool> mute_ = false;
    std::mutex mutex_;
    std::list<std::jthread> connections_;
    std::jthread acceptor_;
};

}  // namespace semel::conformance
