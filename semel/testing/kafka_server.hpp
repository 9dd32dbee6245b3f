#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

struct KafkaOptions {
    /// The broker's jars, as `tools/kafka` prints them.
    std::string class_path{};
    /// "name=value", for server.properties.
    std::vector<std::string> settings{};
    /// Where clients of the second listener are sent: the port of a proxy, which passes them on to `second_port`.
    std::optional<int> second_advertised{};
};

/// A Kafka broker of our own: one node that is its own controller, throw-away data, loopback only, topics made when they are
/// first used. It ends and its files go with this object; should our process be killed, the kernel ends the broker.
///
/// Every wait is bounded (60 s); an Error names the step and ends with the tail of the broker's log. One thread at a time,
/// except for `brokers` and the ports.
class KafkaServer {
public:
    /// Makes a new broker and waits until it answers. Where there is no java, the Error says so; print it and skip.
    [[nodiscard]] static Result<KafkaServer> start(const KafkaOptions& options);

    [[nodiscard]] std::string brokers() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] int port() const noexcept { return port_; }
    /// Where the second listener listens.
    [[nodiscard]] int second_port() const noexcept { return second_port_; }

    /// SIGKILL, as when the machine fails; what the kernel has of its files stays.
    void kill9();
    /// After `kill9`: on the same ports, with the same data.
    [[nodiscard]] Status start_again();
    /// Stops it in its tracks: the kernel still accepts connections, nobody answers.
    void pause() { process_->signal(SIGSTOP); }
    void resume() { process_->signal(SIGCONT); }

private:
    KafkaServer(TempDir dir, std::string java, std::string class_path) noexcept
        : dir_(std::move(dir)), java_(std::move(java)), class_path_(std::move(class_path)) {}
    [[nodiscard]] Status write_settings(const KafkaOptions& options) const;
    [[nodiscard]] std::vector<std::string> java(std::string_view main, int heap_megabytes) const;
    [[nodiscard]] std::string settings_file() const { return (dir_.path() / "server.properties").string(); }
    [[nodiscard]] std::string log() const { return (dir_.path() / "server.log").string(); }
    [[nodiscard]] Error unavailable(std::string message) const;

    TempDir dir_;
    std::string java_;
    std::string class_path_;
    int port_ = 0;
    int second_port_ = 0;
    int controller_port_ = 0;
    std::optional<Process> process_;  // After the directory: it ends first.
};

}  // namespace semel::testing
