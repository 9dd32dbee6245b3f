#pragma once

#include "semel/testing/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
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

namespace semel::smtp {

/// A mail as it came, without the dots that were put in for the way.
struct Mail {
    std::string from;
    std::vector<std::string> to;
    std::string text;

    /// The value of a field of the head; empty if it is not there.
    [[nodiscard]] std::string field(std::string_view name) const {
        const std::string head = "\r\n" + text.substr(0, text.find("\r\n\r\n") + 2);
        const std::size_t place = head.find("\r\n" + std::string(name) + ": ");
        if (place == std::string::npos) return {};
        const std::size_t begin = place + 2 + name.size() + 2;
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
    /// What follows the head, without the ends of its lines: base64 as it is.
    [[nodiscard]] std::string body() const {
        std::string body = text.substr(text.find("\r\n\r\n") + 4);
        std::erase_if(body, [](char c) { return c == '\r' || c == '\n'; });
        return body;
    }
};

/// A mail server on loopback that says what it is told to, each connection on a thread of its own.
class MailServer {
public:
    /// What it answers to a line ("MAIL FROM:<…>"), or to a whole mail (the line is "."); nothing: the usual. An empty text
    /// closes the connection without an answer.
    using Script = std::function<std::optional<std::string>(std::string_view line, const Mail& mail)>;

    explicit MailServer(Script script) : script_(std::move(script)) {
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
    ~MailServer() {
        acceptor_.request_stop();
        acceptor_.join();
        connections_.clear();
    }
    MailServer(const MailServer&) = delete;
    MailServer& operator=(const MailServer&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::vector<Mail> taken() {
        const std::lock_guard guard(mutex_);
        return taken_;
    }

private:
    static bool readable(int socket, const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
            if (::poll(&ready, 1, 10) > 0) return true;
        }
        return false;
    }
    void accept_all(const std::stop_token& stop) {
        while (readable(listener_.get(), stop))
            connections_.emplace_back(
                [this, peer = testing::FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC))](
                    const std::stop_token& ending) mutable {
                    serve(peer.get(), ending);
                    peer.reset();
                });
    }
    static std::optional<std::string> line_of(int socket, std::string& bytes, std::string_view end,
                                              const std::stop_token& stop) {
        std::size_t searched = 0;
        while (true) {
            const std::size_t place = bytes.find(end, searched < 4 ? 0 : searched - 4);
            if (place != std::string::npos) {
                std::string line = bytes.substr(0, place);
                bytes.erase(0, place + end.size());
                return line;
            }
            searched = bytes.size();
            std::array<char, 65536> some{};
            if (!readable(socket, stop)) return std::nullopt;
            const ssize_t count = ::recv(socket, some.data(), some.size(), 0);
            if (count <= 0) return std::nullopt;
            bytes.append(some.data(), static_cast<std::size_t>(count));
        }
    }
    static bool say(int socket, const std::string& text) {
        const std::string line = text + "\r\n";
        return ::send(socket, line.data(), line.size(), MSG_NOSIGNAL) > 0;
    }
    void serve(int socket, const std::stop_token& stop) {
        std::string bytes;
        Mail mail;
        if (!say(socket, script_("", mail).value_or("220 test"))) return;
        while (auto line = line_of(socket, bytes, "\r\n", stop)) {
            std::string usual = "250 fine";
            if (line->starts_with("MAIL FROM:")) mail = {.from = line->substr(10), .to = {}, .text = {}};
            if (line->starts_with("RCPT TO:")) mail.to.push_back(line->substr(8));
            if (*line == "QUIT") usual = "221 bye";
            if (*line == "DATA") usual = "354 go on";
            std::string answer = script_(*line, mail).value_or(usual);
            if (answer.empty() || !say(socket, answer)) return;
            if (*line != "DATA" || !answer.starts_with("354")) continue;
            const auto text = line_of(socket, bytes, "\r\n.\r\n", stop);
            if (!text) return;
            mail.text = undotted(*text + "\r\n");
            answer = script_(".", mail).value_or("250 taken");
            if (answer.empty() || answer.starts_with("250")) {
                const std::lock_guard guard(mutex_);
                taken_.push_back(mail);
            }
            if (answer.empty() || !say(socket, answer)) return;
        }
    }
    static std::string undotted(std::string text) {
        for (std::size_t at = text.find("\r\n.."); at != std::string::npos; at = text.find("\r\n..", at + 3))
            text.erase(at + 2, 1);
        return text;
    }

    Script script_;
    testing::FileDescriptor listener_;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::vector<Mail> taken_;
    std::vector<std::jthread> connections_;
    std::jthread acceptor_;
};

}  // namespace semel::smtp
