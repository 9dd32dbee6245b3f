#pragma once

#include "semel/db/database.hpp"
#include "semel/db/migration.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace semel {

/// How to reach one database, and the schema steps that Semel itself needs in it.
struct Driver {
    Connect connect;
    Dialect dialect;
    std::span<const Migration> schema;
    Catalogue catalogue{{}};
};

/// The driver for an address: `sqlite:PATH`, or `postgres://user:password@host:port/name` (also libpq's
/// `host=… dbname=…`). The one place that knows every driver.
///
/// A file is opened (and made) at once; a server is contacted when a session is asked for. An Error
/// says what is wrong with the address, never showing a password. `clock` must outlive the driver.
[[nodiscard]] Result<Driver> driver(std::string_view address, Clock& clock = system_clock());

struct OpenedDatabase {
    std::unique_ptr<Database> database;
    Dialect dialect;
    std::span<const Migration> schema;
};

/// The database at an address, ready for `transact`.
[[nodiscard]] Result<OpenedDatabase> open(std::string_view address, const DatabaseOptions& options = {},
                                          Clock& clock = system_clock(), Random& random = system_random());

}  // namespace semel
