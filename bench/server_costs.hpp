#pragma once

#include "bench/harness.hpp"
#include "semel/db/database.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <cstdint>
#include <functional>

namespace semel::bench {

/// Measures one side and adds what the server had to do (`server_us`) and to write (`log_bytes`) per transaction,
/// whoever asked it to.
[[nodiscard]] Result<Sample> with_server_costs(const testing::PostgresCluster& cluster,
                                               const std::function<Result<Sample>()>& measure);

/// Measures one side of ours and adds `bytes` and `round_trips` per transaction. The pool must have `connections`
/// sessions; all are connected afterwards.
[[nodiscard]] Result<Sample> with_client_costs(const testing::PostgresCluster& cluster, Database& database,
                                               int connections, const std::function<Result<Sample>()>& measure);

/// Waits until the server has seen off the processes of a client that has left: only then their time is known.
void await_departure(const testing::PostgresCluster& cluster, std::size_t processes_before);
[[nodiscard]] std::size_t server_processes(const testing::PostgresCluster& cluster);

}  // namespace semel::bench
