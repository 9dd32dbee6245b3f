#pragma once

#include "semel/base/assert.hpp"
#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace semel::rabbitmq {

/// A TCP proxy on loopback by which a server does not hear that a client is gone: its side of the connection stays open
/// until `let_go`, as after a broken cable or a router that forgot.
class HalfOpenProxy {
public:
    explicit HalfOpenProxy(int upstream) : upstream_(static_cast<std::uint16_t>(upstream)) {
        listener_ = testing::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        SEMEL_ASSERT(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        SEMEL_ASSERT(::listen(listener_.get(), 16) == 0);
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
        port_ = ntohs(address.sin_port);
        worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }

    [[nodiscard]] int port() const noexcept { return port_; }
    /// Those that are connected now are cut off; the server hears nothing of it.
    void lose_clients() { wait_for(lose_); }
    /// The server hears that they are gone.
    void let_go() { wait_for(let_go_); }

private:
    static constexpr int turn_milliseconds = 5;
    struct Pair {
        testing::FileDescriptor client;  ///< Not open: gone.
        testing::FileDescriptor server;
    };

    [[nodiscard]] static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
    static void wait_for(std::atomic<bool>& done) {
        done = true;
        done.wait(true);
    }
    void work(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (lose_) {
                for (Pair& one : pairs_) one.client = {};
                lose_ = false;
                lose_.notify_all();
            }
            if (let_go_) {
                std::erase_if(pairs_, [](const Pair& one) { return !one.client.is_open(); });
                let_go_ = false;
                let_go_.notify_all();
            }
            turn();
        }
    }
    void turn() {
        std::vector<pollfd> ready{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
        for (const Pair& one : pairs_) {
            ready.push_back({.fd = one.client.is_open() ? one.client.get() : -1, .events = POLLIN, .revents = 0});
            ready.push_back({.fd = one.server.get(), .events = POLLIN, .revents = 0});
        }
        if (::poll(ready.data(), ready.size(), turn_milliseconds) <= 0) return;
        std::size_t at = 1;
        for (auto one = pairs_.begin(); one != pairs_.end(); at += 2) {
            if (ready[at].revents != 0 && !pass(one->client.get(), one->server.get())) one->client = {};
            const bool over =
                ready[at + 1].revents != 0 && !pass(one->server.get(), one->client.is_open() ? one->client.get() : -1);
            one = over ? pairs_.erase(one) : std::next(one);
        }
        if (ready[0].revents != 0) accept();
    }
    void accept() {
        testing::FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        testing::FileDescriptor server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_in address = loopback(upstream_);
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
        if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
        pairs_.push_back({.client = std::move(client), .server = std::move(server)});
    }
    /// What can be read now, to nobody if there is nobody; false: this side is gone.
    static bool pass(int from, int to) {
        std::array<char, 65536> some{};
        const ssize_t got = ::recv(from, some.data(), some.size(), 0);
        if (got <= 0) return false;
        for (ssize_t sent = 0; to >= 0 && sent < got;) {
            const ssize_t wrote = ::send(to, some.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
            if (wrote <= 0) break;  // It is read, and noticed, in its own turn.
            sent += wrote;
        }
        return true;
    }

    std::uint16_t upstream_;
    std::uint16_t port_ = 0;
    testing::FileDescriptor listener_;
    std::atomic<bool> lose_ = false;
    std::atomic<bool> let_go_ = false;
    std::list<Pair> pairs_;  ///< The worker's own.
    std::jthread worker_;
};

}  // namespace semel::rabbitmq
