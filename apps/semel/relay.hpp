#pragma once

#include "apps/semel/exit_code.hpp"
#include "semel/contract/contracts.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace semel::app {

struct RelayArguments {
    std::string database;
    std::string to;           ///< See open_sink.
    std::string secret_file;  ///< One secret per line; every request is signed with each.
    std::string name = "relay";
    std::string source = "/semel";  ///< Of the CloudEvents.
    /// What becomes of an event that is refused for good: "block", "park" or "skip"; and where it differs, TYPE=policy.
    std::string poison = "block";
    std::vector<std::string> poison_of{};
    std::string contracts{};  ///< The folder; empty: events are published as they are.
    UnknownTypes unknown_types = UnknownTypes::refuse;
    std::string lease = "30s";  ///< How long the partitions of a relay that died wait.
    std::size_t batch = 256;
    std::size_t parallel = 16;
    bool allow_private = false;
    bool structured = false;
    bool cdc = false;  ///< Through the server's log instead of polling.
    std::string slot;  ///< Of the log; empty: the usual one.
    bool once = false;
    bool json = false;
};

/// Publishes what is in the outbox until it is told to end (SIGTERM, SIGINT): drains, and says what it did. With `once`
/// it ends when nothing can leave any more; what is still there then is a finding. A second signal ends it at once.
[[nodiscard]] ExitCode relay(const RelayArguments& arguments);

}  // namespace semel::app
