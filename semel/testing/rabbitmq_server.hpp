#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <optional>
#include <string>
#include <vector>

namespace semel::testing {

struct RabbitmqServerOptions {
    /// Lines of rabbitmq.conf, on top of ours.
    std::string settings{};
};

/// A RabbitMQ node of its own, with an epmd of its own, on loopback, with its data in a directory of its own. Everything
/// goes away with this object. User and password are "guest". It takes some seconds to start. One thread at a time.
class RabbitmqServer {
public:
    /// An Error says why there is none: not installed, did not start.
    [[nodiscard]] static Result<RabbitmqServer> start(const RabbitmqServerOptions& options = {});

    /// As a failure of the process: no farewell, no flush.
    void kill9();
    /// Starts again, on the same port and with the same data.
    [[nodiscard]] Status restart();
    /// Runs rabbitmqctl on it: {"set_vm_memory_high_watermark", "0.4"}. An Error has what it wrote.
    [[nodiscard]] Status control(std::vector<std::string> arguments);
    [[nodiscard]] int port() const noexcept { return port_; }

private:
    RabbitmqServer(TempDir dir, int port, int distribution_port, int epmd_port)
        : dir_(std::move(dir)), port_(port), distribution_port_(distribution_port), epmd_port_(epmd_port) {}
    [[nodiscard]] Status spawn();
    [[nodiscard]] std::vector<std::string> environment() const;

    TempDir dir_;
    int port_;
    int distribution_port_;
    int epmd_port_;
    std::optional<Process> epmd_;
    std::optional<Process> process_;
};

/// One server for a whole test program, started when it is first asked for.
[[nodiscard]] Result<RabbitmqServer*> shared_rabbitmq();

}  // namespace semel::testing
