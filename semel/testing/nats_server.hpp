#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <optional>
#include <string>

namespace semel::testing {

struct NatsServerOptions {
    /// Lines of the server's own configuration, on top of ours: "authorization { user: a, password: b }".
    std::string settings{};
};

/// A NATS server with JetStream of its own, on loopback, with its data in a directory of its own. Everything goes away with
/// this object. One thread at a time.
class NatsServer {
public:
    /// An Error says why there is none: not installed, did not start.
    [[nodiscard]] static Result<NatsServer> start(const NatsServerOptions& options = {});

    /// As a failure of the process: no farewell, no flush.
    void kill9();
    /// Starts again, on the same port and with the same data.
    [[nodiscard]] Status restart();
    [[nodiscard]] int port() const noexcept { return port_; }

private:
    NatsServer(TempDir dir, int port) : dir_(std::move(dir)), port_(port) {}
    [[nodiscard]] Status spawn();

    TempDir dir_;
    int port_;
    std::optional<Process> process_;
};

/// One server for a whole test program, started when it is first asked for.
[[nodiscard]] Result<NatsServer*> shared_nats();

}  // namespace semel::testing
