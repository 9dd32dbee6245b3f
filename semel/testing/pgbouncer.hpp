#pragma once

#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

struct PgBouncerOptions {
    /// Connections to the server per database and user: small, so that transactions of one client
    /// really run on connections that others have used.
    int pool_size = 2;
    /// "name=value" for the [pgbouncer] section.
    std::vector<std::string> settings{};
};

/// A pgbouncer of our own in transaction mode in front of a server, on loopback, for the user
/// `postgres` without a password. Ends with this object or with our process.
class PgBouncer {
public:
    /// Waits until it answers. Where pgbouncer is not installed, the Error says so; print it and
    /// skip.
    [[nodiscard]] static Result<PgBouncer> start(const PostgresCluster& server, const PgBouncerOptions& options = {});

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] std::string url(std::string_view database = "postgres", std::string_view user = "postgres") const;

private:
    PgBouncer(TempDir dir, Process process, int port) noexcept
        : dir_(std::move(dir)), process_(std::move(process)), port_(port) {}
    TempDir dir_;
    Process process_;  // After the directory: it ends first.
    int port_;
};

}  // namespace semel::testing
