#pragma once

#include "semel/command/leased_executor.hpp"

#include <string>

namespace semel {

/// What became of a command that was handed in.
struct Accepted {
    std::string command_id;
    CommandState state = CommandState::received;
    bool duplicate = false;  ///< It was there already; the state is that of the first.
    Reply reply{};           ///< Of a finished one.
};

/// Stores a command for a worker to execute later. A duplicate gets the same id, and where the first stands.
///
/// Committed: durable; its end is read with `Executor::look_up`. NotCommitted: nothing was stored; `verdict_of` tells
/// if the key belongs to another request (mismatch), its reply is no longer kept (expired), or a duplicate is being
/// stored at this very moment (in progress). Unknown: a repeat with the same key tells.
[[nodiscard]] Outcome<Accepted> accept(LeasedExecutor& executor, const Command& command, BytesView payload);

}  // namespace semel
