#include "apps/semel/store_verb.hpp"

#include <CLI/CLI.hpp>

namespace semel::app {

CLI::App* add_store_verb(CLI::App& of, const char* name, const char* help, std::string& database, bool& json) {
    CLI::App* verb = of.add_subcommand(name, help);
    verb->add_option("--db", database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB")
        ->required();
    verb->add_flag("--json", json, "Answer in JSON");
    return verb;
}

}  // namespace semel::app
