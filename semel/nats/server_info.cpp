#include "semel/nats/server_info.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <memory>

namespace semel::nats {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// INFO is one line, and never this long.
constexpr std::size_t info_max = 32 * 1024;

bool socket_ready(int socket, short events, Duration limit) {
    pollfd one{.fd = socket, .events = events, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count())) == 1;
}

std::string first_line(int socket, Duration limit) {
    std::string line;
    while (line.find('\n') == std::string::npos && line.size() < info_max) {
        std::array<char, 4096> some{};
        if (!socket_ready(socket, POLLIN, limit)) return {};
        const ssize_t got = ::recv(socket, some.data(), some.size(), 0);
        if (got <= 0) return {};
        line.append(some.data(), static_cast<std::size_t>(got));
    }
    return line;
}

}  // namespace

std::string server_version(const ServerAddress& server, Duration limit) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &wanted, &found) != 0) return {};
    const Addresses addresses(found, ::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        const int socket = ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol);
        if (socket < 0) continue;
        const bool begun = ::connect(socket, one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS;
        const std::string line =
            begun && socket_ready(socket, POLLOUT, limit) ? first_line(socket, limit) : std::string();
        ::close(socket);
        if (!line.starts_with("INFO ")) continue;
        const auto info = nlohmann::json::parse(line.substr(5), nullptr, false);
        return info.is_object() ? info.value("version", "") : "";
    }
    return {};
}

bool at_least(std::string_view version, int major, int minor) {
    std::array<int, 2> numbers{};
    const char* at = version.data();
    const char* end = version.data() + version.size();
    for (int& number : numbers) {
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc()) return false;
        at = read.ptr == end ? end : read.ptr + 1;
    }
    return numbers[0] > major || (numbers[0] == major && numbers[1] >= minor);
}

std::vector<std::string> durability_warnings(std::string_view version, bool in_memory, std::int64_t replicas) {
    std::vector<std::string> warnings;
    if (in_memory)
        warnings.emplace_back("the stream is kept in memory: what was acknowledged does not survive a restart");
    if (!in_memory && !at_least(version, 2, 12))
        warnings.push_back(
            "NATS " + std::string(version.empty() ? "of an unknown version" : version) +
            " writes streams through to the disk every two minutes unless the server sets "
            "jetstream { sync_interval: always }: when the machine fails, what was acknowledged since may "
            "be gone");
    if (replicas <= 1) warnings.emplace_back("the stream has one replica: it is lost with its machine");
    return warnings;
}

}  // namespace semel::nats
