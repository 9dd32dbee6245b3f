#include "apps/semel/store.hpp"

#include "semel/db/migrate.hpp"

namespace semel::app {

Result<OpenedDatabase> open_current(const std::string& address) {
    auto opened = SEMEL_TRY(open(address));
    const SchemaState state = SEMEL_TRY(schema_state(*opened.database, "semel", opened.schema, soon(*opened.database)));
    if (state.pending.empty()) return opened;
    Error error;
    error.fault = Fault::rejected;
    error.message = "the schema is at step " + std::to_string(state.at) + ", " + std::to_string(state.pending.size()) +
                    " steps behind this program; nothing was done";
    error.cause.hint = "run `semel migrate` with the same --db first";
    return fail(std::move(error));
}

}  // namespace semel::app
