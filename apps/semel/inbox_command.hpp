#pragma once

#include "apps/semel/exit_code.hpp"

#include <CLI/CLI.hpp>

namespace semel::app {

/// `semel inbox …` on the command line; what it did goes to `code`.
void add_inbox(CLI::App& app, ExitCode& code);

}  // namespace semel::app
