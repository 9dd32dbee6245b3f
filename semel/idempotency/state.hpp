#pragma once

#include "semel/base/result.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace semel {

/// Where a command stands. A command that runs in one transaction is never seen between *nothing* and *finished*;
/// the others exist for commands with effects outside and for asynchronous ones.
enum class CommandState : std::uint8_t {
    received,              ///< Accepted and stored; nobody executes it yet.
    processing,            ///< Someone executes it under a lease.
    succeeded,             ///< Its effect is durable; a repeat gets its reply.
    failed,                ///< It was refused for good; a repeat gets the same refusal. No effect.
    failed_transient,      ///< An attempt failed without effect; another will be made.
    expired,               ///< It was finished; the reply is no longer kept, only that it was.
    needs_reconciliation,  ///< It has effects outside whose outcome only a person can settle.
};

[[nodiscard]] std::string_view name(CommandState) noexcept;
[[nodiscard]] Result<CommandState> parse_command_state(std::string_view text);

/// One allowed step, and who takes it.
struct CommandTransition {
    CommandState from;
    CommandState to;
    std::string_view by;
};

/// Every transition there is. From nothing a record begins as received (accepted), processing (leased), succeeded
/// or failed (atomic); from expired it is forgotten.
inline constexpr std::array command_transitions{
    CommandTransition{CommandState::received, CommandState::processing, "a worker takes it"},
    CommandTransition{CommandState::processing, CommandState::processing, "the sweeper takes an expired lease"},
    CommandTransition{CommandState::processing, CommandState::succeeded, "its executor, under the fence"},
    CommandTransition{CommandState::processing, CommandState::failed, "its executor, under the fence"},
    CommandTransition{CommandState::processing, CommandState::failed_transient, "its executor, under the fence"},
    CommandTransition{CommandState::processing, CommandState::needs_reconciliation, "its executor or the sweeper"},
    CommandTransition{CommandState::failed_transient, CommandState::processing, "a worker, or a repeat of the request"},
    CommandTransition{CommandState::failed_transient, CommandState::failed, "a worker, after the last attempt"},
    CommandTransition{CommandState::needs_reconciliation, CommandState::succeeded, "a person"},
    CommandTransition{CommandState::needs_reconciliation, CommandState::failed, "a person"},
    CommandTransition{CommandState::needs_reconciliation, CommandState::processing, "a person lets it go on"},
    CommandTransition{CommandState::succeeded, CommandState::expired, "retention"},
    CommandTransition{CommandState::failed, CommandState::expired, "retention"},
};

[[nodiscard]] constexpr bool allowed(CommandState from, CommandState to) noexcept {
    for (const CommandTransition& transition : command_transitions)
        if (transition.from == from && transition.to == to) return true;
    return false;
}

/// Whether it has a reply to replay.
[[nodiscard]] constexpr bool finished(CommandState state) noexcept {
    return state == CommandState::succeeded || state == CommandState::failed;
}

}  // namespace semel
