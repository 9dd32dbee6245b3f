#include "apps/semel/exit_code.hpp"
#include "apps/semel/migrate.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

using semel::app::ExitCode;

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 finding, 2 usage, 3 configuration (wrong password, missing database, read-only file),\n"
    "4 store unreachable or full, 5 invariant violated.";

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("One business intent, one business effect.", "semel");
    app.set_version_flag("--version", SEMEL_VERSION);
    app.require_subcommand(1);
    app.footer(exit_codes);
    ExitCode code = ExitCode::ok;

    semel::app::MigrateArguments arguments;
    CLI::App* migrate = app.add_subcommand("migrate", "Bring Semel's own schema up to date");
    migrate->add_option("--db", arguments.database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB")
        ->required();
    int timeout = static_cast<int>(arguments.timeout.count());
    migrate->add_option("--timeout", timeout, "Seconds until it gives up")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    migrate->add_flag("--dry-run", arguments.dry_run, "Say what would be done; exit code 1 if anything");
    migrate->add_flag("--json", arguments.json, "Answer in JSON");
    migrate->callback([&] {
        arguments.timeout = std::chrono::seconds(timeout);
        code = semel::app::migrate(arguments);
    });

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version are successes; everything else is a wrong command line.
        return app.exit(error) == 0 ? static_cast<int>(ExitCode::ok) : static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(code);
}
