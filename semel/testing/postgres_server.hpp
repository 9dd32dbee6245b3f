#pragma once

#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <functional>

namespace semel::testing::detail {

/// The processes and files of one PostgreSQL server; what a PostgresCluster is made of.
class PostgresServer {
public:
    /// Finds the binaries, makes a directory and picks a port. Starts nothing.
    [[nodiscard]] static Result<PostgresServer> prepare(std::string_view purpose);
    PostgresServer(PostgresServer&&) noexcept = default;
    PostgresServer& operator=(PostgresServer&&) noexcept = default;
    ~PostgresServer();

    /// A new data directory, with these settings.
    [[nodiscard]] Status init_data(const PostgresOptions& options);
    /// A copy of a running primary's data directory, set up to follow it under `name`.
    [[nodiscard]] Status copy_data(const PostgresServer& primary, const std::string& name);

    [[nodiscard]] Status start();
    [[nodiscard]] Status stop(int signal);
    [[nodiscard]] Status kill9();
    [[nodiscard]] Status signal_all(int signal);

    [[nodiscard]] std::string url(std::string_view database, std::string_view user) const;
    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] const std::filesystem::path& dir() const noexcept { return dir_.path(); }

private:
    PostgresServer(TempDir dir, std::string binaries, std::string user, int port)
        : dir_(std::move(dir)), binaries_(std::move(binaries)), user_(std::move(user)), port_(port) {}
    [[nodiscard]] std::filesystem::path data() const { return dir_.path() / "data"; }
    [[nodiscard]] std::filesystem::path log() const { return dir_.path() / "server.log"; }
    [[nodiscard]] Status run_tool(std::vector<std::string> argv);
    [[nodiscard]] Error unavailable(std::string message) const;
    void remove_shared_memory() const;

    TempDir dir_;
    std::string binaries_;
    std::string user_;
    int port_;
    std::optional<Process> process_;
};

/// Asks every 10 ms, up to 2 minutes. An Error of the question counts as "not yet", and is told if
/// the time runs out.
[[nodiscard]] Status poll_until(std::string_view what, const std::function<Result<bool>()>& done);

}  // namespace semel::testing::detail
