#include "semel/sqlite/functions.hpp"

#include "semel/base/assert.hpp"

#include <sqlite3.h>

namespace semel::sqlite {
namespace {

void now(sqlite3_context* context, int, sqlite3_value**) {
    const auto* clock = static_cast<const Clock*>(sqlite3_user_data(context));
    sqlite3_result_int64(context, clock->wall().time_since_epoch().count());
}

void raise(sqlite3_context* context, int, sqlite3_value** values) {
    const auto* code = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    if (code == nullptr) return;
    sqlite3_result_error(context, code, -1);
}

}  // namespace

void add_functions(sqlite3* database, Clock& clock) {
    int code =
        sqlite3_create_function_v2(database, "semel_now", 0, SQLITE_UTF8, &clock, now, nullptr, nullptr, nullptr);
    SEMEL_ASSERT(code == SQLITE_OK);
    code =
        sqlite3_create_function_v2(database, "semel_raise", 1, SQLITE_UTF8, nullptr, raise, nullptr, nullptr, nullptr);
    SEMEL_ASSERT(code == SQLITE_OK);
}

}  // namespace semel::sqlite
