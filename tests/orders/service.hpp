#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <optional>
#include <string>
#include <vector>

namespace orders::testing {

struct ServiceOptions {
    std::string database{};                  ///< As for --db.
    std::string config{};                    ///< TOML text; empty: no --config.
    std::string listen{};                    ///< Empty: a port of loopback that stays the same over restarts.
    std::vector<std::string> arguments{};    ///< On top of --db, --listen and --config.
    std::vector<std::string> environment{};  ///< NAME=value, on top of ours.
};

/// The real semel-orders as a process of its own, which tests start, stop, kill and start again. It ends with this
/// object. One thread at a time, except `port` and `url`.
class Service {
public:
    /// Returns when it listens; an Error holds what it wrote if it does not within 30 s.
    [[nodiscard]] static semel::Result<Service> start(ServiceOptions options);

    [[nodiscard]] int port() const noexcept { return port_; }
    /// "http://127.0.0.1:PORT" and the path.
    [[nodiscard]] std::string url(const std::string& path = {}) const;
    [[nodiscard]] pid_t pid() const noexcept { return process_->pid(); }
    [[nodiscard]] bool running() { return process_ && process_->running(); }

    /// SIGTERM, then waits for the end: how it ended, or an Error after `limit`.
    [[nodiscard]] semel::Result<semel::testing::Exit> stop(semel::Duration limit = std::chrono::seconds(40));
    /// Waits for the end, whatever it comes by.
    [[nodiscard]] semel::Result<semel::testing::Exit> await_end(semel::Duration limit = std::chrono::seconds(40));
    /// SIGTERM without waiting.
    void ask_to_stop() const noexcept { process_->signal(SIGTERM); }
    /// SIGKILL; returns when it is gone.
    void kill();
    /// After `stop` or `kill`: with the same options on the same port.
    [[nodiscard]] semel::Status start_again();

    /// What it has written so far, since it was last started.
    [[nodiscard]] std::string output() const { return process_->output(); }
    [[nodiscard]] std::string error_output() const { return process_->error_output(); }

private:
    explicit Service(ServiceOptions options) : options_(std::move(options)) {}

    ServiceOptions options_;
    std::optional<semel::testing::TempDir> directory_;  ///< Of the configuration file.
    std::optional<semel::testing::Process> process_;
    int port_ = 0;
};

/// Runs semel-orders to its end with these arguments: for command lines that it refuses.
[[nodiscard]] semel::Result<semel::testing::Finished> run_service(std::vector<std::string> arguments,
                                                                  semel::Duration limit = std::chrono::seconds(30));

}  // namespace orders::testing
