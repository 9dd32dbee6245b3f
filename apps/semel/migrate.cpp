#include "apps/semel/migrate.hpp"

#include "apps/semel/report.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace semel::app {
namespace {

void print(const SchemaState& state, bool json) {
    if (json) {
        const nlohmann::ordered_json body{{"at", state.at}, {"applied", state.applied}, {"pending", state.pending}};
        std::puts(body.dump(2).c_str());
        return;
    }
    for (const auto& step : state.applied) std::printf("applied %s\n", step.c_str());
    for (const auto& step : state.pending) std::printf("pending %s\n", step.c_str());
    if (state.applied.empty() && state.pending.empty()) std::printf("up to date at step %d\n", state.at);
}

}  // namespace

ExitCode migrate(const MigrateArguments& arguments) {
    auto opened = open(arguments.database);
    if (!opened) return report("migrate", opened.error(), arguments.json);
    Database& database = *opened->database;
    const Deadline deadline = Deadline::after(database.clock().now(), arguments.timeout);
    const auto state = arguments.dry_run ? schema_state(database, "semel", opened->schema, deadline)
                                         : semel::migrate(database, "semel", opened->schema, deadline);
    if (!state) return report("migrate", state.error(), arguments.json);
    print(*state, arguments.json);
    return arguments.dry_run && !state->pending.empty() ? ExitCode::finding : ExitCode::ok;
}

}  // namespace semel::app
