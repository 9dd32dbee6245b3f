#pragma once

#include "semel/base/time.hpp"

struct sqlite3;

namespace semel::sqlite {

/// Gives a connection the functions that Semel's own SQL uses:
///   semel_now()        microseconds since 1970 by the clock, which must outlive the connection;
///   semel_raise(code)  fails the statement under one of Semel's own codes; NULL: does nothing.
void add_functions(sqlite3* database, Clock& clock);

}  // namespace semel::sqlite
