#include "semel/open/open.hpp"

#include "semel/postgres/catalogue.hpp"
#include "semel/postgres/migrations.hpp"
#include "semel/postgres/open.hpp"
#include "semel/sqlite/catalogue.hpp"
#include "semel/sqlite/migrations.hpp"
#include "semel/sqlite/open.hpp"

#include <string>

namespace semel {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

Result<Driver> sqlite_driver(std::string_view path, Clock& clock) {
    if (path.empty()) return fail(Fault::rejected, "sqlite: needs the path of a file, as in sqlite:/var/lib/shop.db");
    auto store = SEMEL_TRY(sqlite::open(std::string(path), {}, clock));
    return Driver{.connect = sqlite::connector(std::move(store)),
                  .dialect = Dialect::sqlite,
                  .schema = sqlite::migrations(),
                  .catalogue = sqlite::catalogue()};
}

Result<Driver> postgres_driver(std::string_view address, Clock& clock) {
    postgres::ConnectOptions options;
    options.connection = address;
    return Driver{.connect = SEMEL_TRY(postgres::connector(std::move(options), clock)),
                  .dialect = Dialect::postgres,
                  .schema = postgres::migrations(),
                  .catalogue = postgres::catalogue()};
}

}  // namespace

Result<Driver> driver(std::string_view address, Clock& clock) {
    if (address.starts_with(sqlite_scheme)) return sqlite_driver(address.substr(sqlite_scheme.size()), clock);
    const bool keywords = address.find("://") == std::string_view::npos && address.find('=') != std::string_view::npos;
    if (address.starts_with("postgres://") || address.starts_with("postgresql://") || keywords)
        return postgres_driver(address, clock);
    // The address itself is not repeated: it may hold a password.
    return fail(Fault::rejected,
                "a database is sqlite:PATH or postgres://user:password@host:port/name; this address is neither");
}

Result<OpenedDatabase> open(std::string_view address, const DatabaseOptions& options, Clock& clock, Random& random) {
    Driver found = SEMEL_TRY(driver(address, clock));
    DatabaseOptions with_catalogue = options;
    with_catalogue.catalogue = found.catalogue;
    return OpenedDatabase{
        .database = SEMEL_TRY(Database::create(std::move(found.connect), with_catalogue, clock, random)),
        .dialect = found.dialect,
        .schema = found.schema};
}

}  // namespace semel
