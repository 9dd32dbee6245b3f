#pragma once

#include "apps/semel/exit_code.hpp"
#include "semel/base/result.hpp"

#include <string_view>

namespace semel::app {

/// Tells a person (on standard error) or, with --json, a program (on standard output) what went
/// wrong: what happened, what the other side said, what to do. Returns the exit code for it.
[[nodiscard]] ExitCode report(std::string_view verb, const Error& error, bool json);

}  // namespace semel::app
