#include "apps/semel/canon.hpp"
#include "apps/semel/doctor.hpp"
#include "apps/semel/exit_code.hpp"
#include "apps/semel/inbox_command.hpp"
#include "apps/semel/migrate.hpp"
#include "apps/semel/outbox_command.hpp"
#include "apps/semel/relay_command.hpp"
#include "apps/semel/simulate.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace {

using semel::app::ExitCode;

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 finding, 2 usage, 3 configuration (wrong password, missing database, read-only file),\n"
    "4 store unreachable or full, 5 invariant violated.";

void add_migrate(CLI::App& app, ExitCode& code) {
    const auto arguments = std::make_shared<semel::app::MigrateArguments>();
    const auto timeout = std::make_shared<int>(static_cast<int>(arguments->timeout.count()));
    CLI::App* migrate = app.add_subcommand("migrate", "Bring Semel's own schema up to date");
    migrate->add_option("--db", arguments->database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB")
        ->required();
    migrate->add_option("--timeout", *timeout, "Seconds until it gives up")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    migrate->add_flag("--dry-run", arguments->dry_run, "Say what would be done; exit code 1 if anything");
    migrate->add_flag("--json", arguments->json, "Answer in JSON");
    migrate->callback([arguments, timeout, &code] {
        arguments->timeout = std::chrono::seconds(*timeout);
        code = semel::app::migrate(*arguments);
    });
}

std::string check_named_value(const std::string& text) {
    const std::size_t sign = text.find('=');
    return sign == std::string::npos || sign == 0 ? "write it as name=value" : std::string();
}

/// Two path variables of one name are a mistake on the command line, as they are in a program.
void check_names_differ(std::vector<std::string> values) {
    for (std::string& value : values) value.resize(value.find('='));
    std::sort(values.begin(), values.end());
    const auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice != values.end()) throw CLI::ValidationError("--var", *twice + " is given twice");
}

void add_canon(CLI::App& app, ExitCode& code) {
    const auto arguments = std::make_shared<semel::app::CanonArguments>();
    CLI::App* canon = app.add_subcommand(
        "canon", "Write the canonical form of the JSON document on standard input; exit code 1 if it has none");
    auto* fingerprint =
        canon->add_flag("--fingerprint", arguments->fingerprint, "SHA-256 of it instead, in hexadecimal");
    auto* operation =
        canon->add_option("--operation", arguments->operation, "Fingerprint of a whole request, of this operation")
            ->needs(fingerprint)
            ->check([](const std::string& name) { return name.empty() ? "it is empty" : std::string(); });
    canon->add_option("--var", arguments->path, "A path variable, name=value; may be repeated")
        ->needs(operation)
        ->allow_extra_args(false)
        ->check(check_named_value);
    canon->add_option("--query", arguments->query, "A query parameter, name=value; may be repeated")
        ->needs(operation)
        ->allow_extra_args(false)
        ->check(check_named_value);
    canon->add_option("--media-type", arguments->media_type, "The request's Content-Type; other than JSON, bytes count")
        ->needs(operation)
        ->capture_default_str();
    canon->add_flag("--json", arguments->json, "Answer in JSON");
    canon->callback([arguments, &code] {
        check_names_differ(arguments->path);
        code = semel::app::canon(*arguments);
    });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("One business intent, one business effect.", "semel");
    app.set_version_flag("--version", SEMEL_VERSION);
    app.require_subcommand(1);
    app.footer(exit_codes);
    ExitCode code = ExitCode::ok;
    add_migrate(app, code);
    add_canon(app, code);
    semel::app::add_relay(app, code);
    semel::app::add_outbox(app, code);
    semel::app::add_inbox(app, code);
    semel::app::add_doctor(app, code);
    semel::app::add_simulate(app, code);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version are successes; everything else is a wrong command line.
        return app.exit(error) == 0 ? static_cast<int>(ExitCode::ok) : static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(code);
}
