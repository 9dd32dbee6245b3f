#pragma once

#include "bench/harness.hpp"
#include "semel/db/database.hpp"
#include "semel/relay/runner.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace semel::bench {

/// What the command line of a benchmark of relays says.
struct DrainSettings {
    std::uint64_t events = 1'000'000;  ///< In all rounds together.
    int rounds = 5;
    std::string json;
    [[nodiscard]] Settings settings() const { return {.rounds = rounds, .seconds = 1, .json = json}; }
};

/// Reads the command line. Ends the program on `--help` and on a mistake in it.
[[nodiscard]] DrainSettings read_drain_settings(int argc, char** argv, const std::string& what,
                                                DrainSettings defaults = {});

/// A server with Semel's tables, ready to be filled.
struct DrainServer {
    testing::PostgresCluster cluster;
    std::string url;
    std::unique_ptr<Database> database;
    [[nodiscard]] std::string name() const { return url.substr(url.rfind('/') + 1); }
    [[nodiscard]] static Result<DrainServer> create();
    /// Commits so many events of 1,000 aggregates, a hundred to a transaction, with a payload of 200 bytes.
    [[nodiscard]] Status fill(std::uint64_t events) const;
};

/// As fast as a relay goes: it waits for nothing but the bell.
[[nodiscard]] RelayOptions drain_options();

/// Lets the relay work on the calling thread until it has been acknowledged so many events more.
[[nodiscard]] Result<Sample> drain(Relay& relay, std::uint64_t events);

/// The same on the relay's own thread, where it waits as it does in a program. Starts it.
[[nodiscard]] Result<Sample> drain_in_background(Relay& relay, std::uint64_t events);

/// The most memory that this process has had, in MiB.
[[nodiscard]] double peak_memory();

/// One side of a comparison that is measured by the number of events and not by time.
struct DrainSide {
    std::string name;
    std::function<Result<Sample>(std::uint64_t events)> measure;
};
/// Measures every side once per round, in turns, the other way round every other time.
[[nodiscard]] Result<std::vector<Series>> run_drains(const std::vector<DrainSide>& sides, int rounds,
                                                     std::uint64_t events_each,
                                                     const std::function<Status()>& before_round);

}  // namespace semel::bench
