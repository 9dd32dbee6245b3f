#pragma once

#include "bench/harness.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/temp_dir.hpp"

#include <string>
#include <string_view>

namespace semel::bench {

/// PostgreSQL's own load generator, with prepared statements, as the measure of what the server can
/// do for a client written in C. Two threads drive all its connections, unless a run says otherwise.
class Pgbench {
public:
    /// Finds the program; an Error says that it is not installed.
    [[nodiscard]] static Result<Pgbench> create(const testing::PostgresCluster& cluster, int connections);

    /// Runs the script over and over. The time to connect does not count. Any failed transaction is
    /// an Error.
    [[nodiscard]] Result<Sample> run(std::string_view script, Duration time, int threads = 2) const;

private:
    Pgbench(std::string program, testing::TempDir dir, int port, int connections)
        : program_(std::move(program)), dir_(std::move(dir)), port_(port), connections_(connections) {}

    std::string program_;
    testing::TempDir dir_;
    int port_;
    int connections_;
};

}  // namespace semel::bench
