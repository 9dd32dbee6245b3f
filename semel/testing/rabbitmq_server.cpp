#include "semel/testing/rabbitmq_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace semel::testing {
namespace {

constexpr Duration rabbitmq_start_limit = std::chrono::seconds(90);
constexpr Duration rabbitmqctl_limit = std::chrono::seconds(60);
/// Debian's own script in PATH insists on a system user and a system directory.
constexpr const char* rabbitmq_programs = "/usr/lib/rabbitmq/bin/";

/// A server that can be talked to answers the header of the protocol with its first frame.
bool rabbitmq_greets(int port) {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    constexpr std::string_view header("AMQP\0\0\x09\x01", 8);
    if (::send(socket.get(), header.data(), header.size(), MSG_NOSIGNAL) != 8) return false;
    std::array<char, 7> frame{};
    return ::recv(socket.get(), frame.data(), frame.size(), MSG_WAITALL) == 7 && frame[0] == 1;
}

}  // namespace

Result<RabbitmqServer> RabbitmqServer::start(const RabbitmqServerOptions& options) {
    if (!std::filesystem::exists(std::string(rabbitmq_programs) + "rabbitmq-server") || find_program("epmd").empty())
        return fail(Fault::unavailable, "no RabbitMQ in " + std::string(rabbitmq_programs) +
                                            "; `apt-get install rabbitmq-server` brings one");
    TempDir dir = SEMEL_TRY(TempDir::make("rabbitmq"));
    const int port = SEMEL_TRY(free_port());
    const int distribution_port = SEMEL_TRY(free_port());
    const int epmd_port = SEMEL_TRY(free_port());
    std::ofstream(dir.path() / "enabled_plugins") << "[].\n";
    std::ofstream file(dir.path() / "rabbitmq.conf");
    // Nodes that share a machine must not alarm each other by what is left of its disk.
    file << "listeners.tcp.1 = 127.0.0.1:" << port << "\nlog.file.level = warning\ndisk_free_limit.absolute = 50MB\n"
         << options.settings << "\n";
    file.close();
    if (!file) return fail(Fault::unavailable, "cannot write the configuration of RabbitMQ");
    RabbitmqServer server(std::move(dir), port, distribution_port, epmd_port);
    // In the foreground, so that it is ours; the node would start one that outlives it.
    server.epmd_ =
        SEMEL_TRY(Process::spawn({.argv = {"epmd", "-port", std::to_string(epmd_port), "-address", "127.0.0.1"},
                                  .directory = server.dir_.path()}));
    SEMEL_TRY(server.spawn());
    return server;
}

std::vector<std::string> RabbitmqServer::environment() const {
    const std::string dir = dir_.path().string();
    return {"HOME=" + dir, "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT=" + std::to_string(epmd_port_),
            "RABBITMQ_NODENAME=semel" + std::to_string(port_) + "@localhost",
            "RABBITMQ_DIST_PORT=" + std::to_string(distribution_port_), "RABBITMQ_MNESIA_BASE=" + dir + "/data",
            "RABBITMQ_LOG_BASE=" + dir + "/log", "RABBITMQ_LOGS=" + dir + "/log/server.log",
            "RABBITMQ_ENABLED_PLUGINS_FILE=" + dir + "/enabled_plugins",
            "RABBITMQ_CONFIG_FILE=" + dir + "/rabbitmq.conf", "RABBITMQ_CONF_ENV_FILE=" + dir + "/none",
            "RABBITMQ_PID_FILE=" + dir + "/pid",
            // The machine of the node replaces the script, so that signals reach it.
            "RUNNING_UNDER_SYSTEMD=1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none"};
}

Status RabbitmqServer::spawn() {
    process_ = SEMEL_TRY(Process::spawn({.argv = {std::string(rabbitmq_programs) + "rabbitmq-server"},
                                         .environment = environment(),
                                         .directory = dir_.path(),
                                         .output_file = dir_.path() / "output.log"}));
    const Instant until = system_clock().now() + rabbitmq_start_limit;
    while (system_clock().now() < until) {
        if (rabbitmq_greets(port_)) return {};
        if (!process_->wait(std::chrono::milliseconds(50))) continue;
        Error error;
        error.fault = Fault::unavailable;
        error.message = "rabbitmq-server ended at once";
        std::ifstream log(dir_.path() / "output.log");
        error.native = {std::istreambuf_iterator<char>(log), {}};
        return fail(std::move(error));
    }
    return fail(Fault::unavailable, "rabbitmq-server does not answer within 90 s");
}

void RabbitmqServer::kill9() {
    if (!process_) return;
    // Its helpers lead groups of their own; they end when they find it gone, and nothing else ends them.
    const std::vector<pid_t> children = descendants(process_->pid());
    process_->kill();
    for (const pid_t child : children)
        if (is_alive(child)) ::kill(child, SIGKILL);
}

Status RabbitmqServer::restart() {
    kill9();
    return spawn();
}

Status RabbitmqServer::control(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::string(rabbitmq_programs) + "rabbitmqctl");
    const Finished done =
        SEMEL_TRY(run({.argv = std::move(arguments), .environment = environment()}, rabbitmqctl_limit));
    if (done.exit.success()) return {};
    return fail(Fault::unavailable, "rabbitmqctl " + done.exit.text() + ": " + done.output + done.error_output);
}

Result<RabbitmqServer*> shared_rabbitmq() {
    static Result<RabbitmqServer> server = RabbitmqServer::start();
    if (!server) return fail(server.error());
    return &*server;
}

}  // namespace semel::testing
