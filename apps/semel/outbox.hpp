#pragma once

#include "apps/semel/event_selection.hpp"
#include "apps/semel/exit_code.hpp"
#include "semel/contract/contracts.hpp"

#include <cstddef>
#include <string>

namespace semel::app {

/// What every verb of `semel outbox` is told.
struct OutboxArguments {
    std::string database;
    bool json = false;
    std::size_t limit = 50;  ///< Of what is listed.
};

struct RedriveArguments : OutboxArguments {
    std::string aggregate;  ///< TYPE/ID
    std::string tenant;
};

struct ReplayArguments : OutboxArguments {
    EventSelection events;
    std::string actor;  ///< Empty: whoever runs it.
    std::string dedup_window = "7d";
    std::size_t rate = 500;  ///< Events per second.
    bool dry_run = false;
};

struct CheckArguments : OutboxArguments {
    std::string contracts;  ///< The folder.
    EventSelection events;
    UnknownTypes unknown_types = UnknownTypes::refuse;
};

struct PruneArguments : OutboxArguments {
    std::string older_than;
    std::string actor;
    std::size_t batch = 1000;
};

struct ModeArguments : OutboxArguments {
    std::string mode;  ///< "polling" or "cdc"; empty: only look.
    std::string slot;
};

/// How events leave; or switches to another way. On its way is a finding.
[[nodiscard]] ExitCode outbox_mode(const ModeArguments& arguments);
/// What waits, where, since when; what is parked; who relays.
[[nodiscard]] ExitCode outbox_status(const OutboxArguments& arguments);
/// The first events that have still to leave.
[[nodiscard]] ExitCode outbox_list(const OutboxArguments& arguments);
/// One event. None of that id is a finding.
[[nodiscard]] ExitCode outbox_show(const OutboxArguments& arguments, const std::string& id);
/// The events that were set aside, and why.
[[nodiscard]] ExitCode outbox_parked(const OutboxArguments& arguments);
/// What people did by hand.
[[nodiscard]] ExitCode outbox_audit(const OutboxArguments& arguments);
/// Sends what is parked of one aggregate once more. Nothing parked is a finding: nothing was done.
[[nodiscard]] ExitCode outbox_redrive(const RedriveArguments& arguments);
/// Sends events once more that have left. No such event is a finding.
[[nodiscard]] ExitCode outbox_replay(const ReplayArguments& arguments);
/// Holds stored events against their contracts, and tells of each that does not keep its own. Any is a finding.
[[nodiscard]] ExitCode outbox_check(const CheckArguments& arguments);
/// Deletes events that left long ago, in batches.
[[nodiscard]] ExitCode outbox_prune(const PruneArguments& arguments);

}  // namespace semel::app
