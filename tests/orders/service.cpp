#include "tests/orders/service.hpp"

#include "semel/base/time.hpp"

#include <charconv>
#include <fstream>

namespace orders::testing {
namespace {

using semel::Fault;
using semel::Result;
using semel::Status;
using namespace std::chrono_literals;

constexpr semel::Duration start_limit = 30s;

/// The port in "listening on http://127.0.0.1:8080"; none: it has not said so yet.
std::optional<int> announced_port(const std::string& output) {
    const auto line = output.find("listening on http");
    const auto end = output.find('\n', line == std::string::npos ? 0 : line);
    if (line == std::string::npos || end == std::string::npos) return std::nullopt;
    const auto colon = output.rfind(':', end);
    int port = 0;
    std::from_chars(output.data() + colon + 1, output.data() + end, port);
    return port;
}

}  // namespace

Result<Service> Service::start(ServiceOptions options) {
    Service service(std::move(options));
    if (service.options_.listen.empty())
        service.options_.listen = "127.0.0.1:" + std::to_string(SEMEL_TRY(semel::testing::free_port()));
    if (!service.options_.config.empty()) {
        service.directory_.emplace(SEMEL_TRY(semel::testing::TempDir::make("orders")));
        std::ofstream(service.directory_->path() / "orders.toml") << service.options_.config;
    }
    SEMEL_TRY(service.start_again());
    return service;
}

Status Service::start_again() {
    semel::testing::Command command;
    command.argv = {SEMEL_ORDERS_BINARY, "--listen", options_.listen};
    if (!options_.database.empty()) command.argv.insert(command.argv.end(), {"--db", options_.database});
    if (directory_)
        command.argv.insert(command.argv.end(), {"--config", (directory_->path() / "orders.toml").string()});
    command.argv.insert(command.argv.end(), options_.arguments.begin(), options_.arguments.end());
    command.environment = options_.environment;
    process_.emplace(SEMEL_TRY(semel::testing::Process::spawn(command)));
    semel::Clock& clock = semel::system_clock();
    const semel::Instant until = clock.now() + start_limit;
    while (clock.now() < until) {
        if (const auto port = announced_port(process_->output())) {
            port_ = *port;
            return {};
        }
        if (const auto ended = process_->wait(5ms))
            return semel::fail(Fault::rejected, "the service " + ended->text() + ": " + process_->error_output());
    }
    return semel::fail(Fault::unavailable, "the service does not listen: " + process_->error_output());
}

std::string Service::url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

Result<semel::testing::Exit> Service::stop(semel::Duration limit) {
    ask_to_stop();
    return await_end(limit);
}

Result<semel::testing::Exit> Service::await_end(semel::Duration limit) {
    if (const auto ended = process_->wait(limit)) return *ended;
    return semel::fail(Fault::unavailable, "the service does not stop: " + process_->error_output());
}

void Service::kill() { process_->kill(); }

Result<semel::testing::Finished> run_service(std::vector<std::string> arguments, semel::Duration limit) {
    arguments.insert(arguments.begin(), SEMEL_ORDERS_BINARY);
    return semel::testing::run({.argv = std::move(arguments)}, limit);
}

}  // namespace orders::testing
