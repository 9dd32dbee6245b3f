#pragma once

#include "apps/semel/exit_code.hpp"

#include <CLI/CLI.hpp>

namespace semel::app {

/// `semel outbox …` on the command line; what it did goes to `code`.
void add_outbox(CLI::App& app, ExitCode& code);

}  // namespace semel::app
