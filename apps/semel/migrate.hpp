#pragma once

#include "apps/semel/exit_code.hpp"

#include <chrono>
#include <string>

namespace semel::app {

struct MigrateArguments {
    std::string database;
    std::chrono::seconds timeout{600};
    bool dry_run = false;
    bool json = false;
};

/// Brings Semel's own schema up to date.
[[nodiscard]] ExitCode migrate(const MigrateArguments& arguments);

}  // namespace semel::app
