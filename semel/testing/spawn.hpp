#pragma once

#include "semel/testing/process.hpp"

#include <array>

namespace semel::testing::detail {

/// Forks and starts the program with these three as standard input, output and error output; the
/// half of `Process::spawn` that must keep to what is allowed between fork and exec.
[[nodiscard]] Result<pid_t> spawn(const Command& command, std::array<int, 3> standard);

}  // namespace semel::testing::detail
