#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace semel::app {

/// A subcommand about a store: it takes `--db`, or SEMEL_DB, and `--json`. What it writes to must live as long as the command line.
[[nodiscard]] CLI::App* add_store_verb(CLI::App& of, const char* name, const char* help, std::string& database,
                                       bool& json);

}  // namespace semel::app
