#include "apps/orders/config.hpp"
#include "apps/orders/serve.hpp"
#include "apps/semel/exit_code.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace {

using semel::app::ExitCode;

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 2 usage, 3 configuration (a wrong file, address, password or token file), 4 store unreachable\n"
    "or full, 5 invariant violated.";

int report(const semel::Error& error) {
    std::string text = "semel-orders: " + error.message + "\n";
    if (!error.native.empty()) text += "  it said: " + error.native + "\n";
    if (!error.cause.hint.empty()) text += "  what to do: " + error.cause.hint + "\n";
    std::fputs(text.c_str(), stderr);
    return static_cast<int>(semel::app::exit_code(error.fault));
}

/// What was written on the command line; empty where nothing was.
struct Arguments {
    std::string database;
    std::string listen;
    std::string config;
    bool demo = false;
};

semel::Result<orders::Config> config_of(const Arguments& arguments) {
    orders::Config config;
    if (!arguments.config.empty()) config = SEMEL_TRY(orders::read_config(arguments.config));
    if (!arguments.database.empty()) config.database = arguments.database;
    if (!arguments.listen.empty()) config.listen = arguments.listen;
    config.demo = arguments.demo;
    return config;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("The reference service of Semel: quotes, orders, assets, payments and cases over HTTP.",
                 "semel-orders");
    app.set_version_flag("--version", SEMEL_VERSION);
    app.footer(exit_codes);
    Arguments arguments;
    app.add_option("--db", arguments.database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB");
    app.add_option("--listen", arguments.listen, "Address and port; port 0 lets the system choose (127.0.0.1:8080)");
    app.add_option("--config", arguments.config, "A TOML file; what the command line says goes first");
    app.add_flag("--demo", arguments.demo, "Fill an empty store with a few quotes and orders to look at");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Help and version are successes; everything else is a wrong command line.
        return app.exit(error) == 0 ? static_cast<int>(ExitCode::ok) : static_cast<int>(ExitCode::usage);
    }
    const auto config = config_of(arguments);
    if (!config) return report(config.error());
    const auto served = orders::serve(*config);
    return served ? static_cast<int>(ExitCode::ok) : report(served.error());
}
