#include "semel/testing/nats_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

namespace semel::testing {
namespace {

constexpr Duration nats_start_limit = std::chrono::seconds(20);

/// A server that can be talked to says INFO by itself.
bool nats_greets(int port) {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    std::array<char, 4> greeting{};
    return ::recv(socket.get(), greeting.data(), greeting.size(), MSG_WAITALL) == 4 &&
           std::string_view(greeting.data(), greeting.size()) == "INFO";
}

}  // namespace

Result<NatsServer> NatsServer::start(const NatsServerOptions& options) {
    if (find_program("nats-server").empty())
        return fail(Fault::unavailable, "no nats-server in PATH; `apt-get install nats-server` brings one");
    TempDir dir = SEMEL_TRY(TempDir::make("nats"));
    const int port = SEMEL_TRY(free_port());
    std::ofstream file(dir.path() / "server.conf");
    file << "listen: \"127.0.0.1:" << port << "\"\n"
         << "jetstream { store_dir: \"" << (dir.path() / "data").string() << "\", max_file: 4GB, max_mem: 64MB }\n"
         << options.settings << "\n";
    file.close();
    if (!file) return fail(Fault::unavailable, "cannot write the configuration of nats-server");
    NatsServer server(std::move(dir), port);
    SEMEL_TRY(server.spawn());
    return server;
}

Status NatsServer::spawn() {
    process_ = SEMEL_TRY(Process::spawn({.argv = {"nats-server", "-c", (dir_.path() / "server.conf").string()},
                                         .directory = dir_.path(),
                                         .output_file = dir_.path() / "server.log"}));
    const Instant until = system_clock().now() + nats_start_limit;
    while (system_clock().now() < until) {
        if (nats_greets(port_)) return {};
        if (!process_->wait(std::chrono::milliseconds(10))) continue;
        Error error;
        error.fault = Fault::unavailable;
        error.message = "nats-server ended at once";
        std::ifstream log(dir_.path() / "server.log");
        error.native = {std::istreambuf_iterator<char>(log), {}};
        return fail(std::move(error));
    }
    return fail(Fault::unavailable, "nats-server does not answer within 20 s");
}

void NatsServer::kill9() {
    if (process_) process_->kill();
}

Status NatsServer::restart() {
    kill9();
    return spawn();
}

Result<NatsServer*> shared_nats() {
    static Result<NatsServer> server = NatsServer::start();
    if (!server) return fail(server.error());
    return &*server;
}

}  // namespace semel::testing
