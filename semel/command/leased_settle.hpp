#pragma once

#include "semel/command/leased_executor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// A command that a person must settle.
struct UnresolvedCommand {
    std::string command_id;
    std::string tenant;
    std::string caller;
    std::string operation;
    std::string key;
    std::string reason;
    std::int64_t attempts = 0;
    Duration age{};  ///< Since it was first asked for.
};

/// A call whose outcome nobody knows.
struct UnresolvedCall {
    std::string call_id;
    std::string command_id;
    CommandState command_state = CommandState::processing;
    std::string tenant;
    std::string integration;
    std::string operation;
    std::string business_key;
    std::string external_request_id;
    std::string last_error;
    std::int64_t attempt = 0;
    Duration age{};
};

struct Unresolved {
    std::vector<UnresolvedCommand> commands;
    std::vector<UnresolvedCall> calls;
};

/// What waits for a person, oldest first, at most `limit` of each kind.
[[nodiscard]] Result<Unresolved> unresolved(Database& database, Deadline deadline, std::int64_t limit = 1000);

/// What a person found out.
enum class LeasedSettlement : std::uint8_t {
    confirmed,  ///< It was done: the command succeeded with this reply.
    failed,     ///< It was not done and will not be: the command failed with this reply.
    rerun,      ///< It was not done: begin the handler anew. Calls without an outcome are made again.
};
[[nodiscard]] std::string_view name(LeasedSettlement) noexcept;

/// Who settles, and why: kept with the record.
struct SettledBy {
    std::string who;
    std::string reason;
};

/// Settles a command that needs it, with its calls, in one transaction. Refuses (`rejected`) one that is in another
/// state; a second person gets that too. After `rerun` the next sweep runs it.
[[nodiscard]] Outcome<> settle(Database& database, std::string_view command_id, LeasedSettlement settlement,
                               const Reply& reply, const SettledBy& by, Deadline deadline,
                               Duration retention = std::chrono::hours(24));

/// Settles one call whose outcome is not known, of a command that is finished: confirmed or failed.
[[nodiscard]] Outcome<> settle_call(Database& database, std::string_view call_id, LeasedSettlement settlement,
                                    const SettledBy& by, Deadline deadline);

}  // namespace semel
