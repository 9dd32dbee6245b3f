#pragma once

#include "apps/semel/exit_code.hpp"
#include "semel/base/result.hpp"

#include <string_view>

namespace semel::app {

/// Tells a person (on standard error) or, with --json, a program (on standard output) what went
/// wrong: what happened, what the other side said, what to do. Returns the exit code for it.
[[nodiscard]] ExitCode report(std::string_view verb, const Error& error, bool json);

/// The exit code of a verb that worked; else as above.
[[nodiscard]] inline ExitCode report(std::string_view verb, const Result<ExitCode>& done, bool json) {
    return done ? *done : report(verb, done.error(), json);
}

}  // namespace semel::app
