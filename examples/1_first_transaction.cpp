// A transaction that knows its outcome, on SQLite or PostgreSQL.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace semel;
    const auto opened = open(argc > 1 ? argv[1] : "sqlite:first.db");
    if (!opened) return std::fprintf(stderr, "%s\n", opened.error().describe().c_str()), 1;

    // Rerun as a whole on a fresh session when it loses a race or the server goes away; a COMMIT whose
    // answer is lost is looked up before anything else is done.
    const auto outcome = transact(*opened->database, [](Transaction& tx) -> Result<std::int64_t> {
        tx.post("CREATE TABLE IF NOT EXISTS payment (id text PRIMARY KEY, amount numeric NOT NULL)");
        tx.post("INSERT INTO payment (id, amount) VALUES ($1, $2)", new_uuid(), SEMEL_TRY(Decimal::parse("12.50")));
        const auto rows = SEMEL_TRY(tx.execute("SELECT count(*) FROM payment"));
        return rows.scalar<std::int64_t>();
    });

    return outcome.match(
        [](const Committed<std::int64_t>& done) {
            return std::printf("committed, %lld payments so far\n", static_cast<long long>(done.value)), 0;
        },
        [](const NotCommitted& failed) {
            return std::printf("nothing happened: %s\n", failed.error.describe().c_str()), 1;
        },
        [](const Unknown& doubt) {
            return std::printf("look before you repeat it: %s\n", doubt.error.describe().c_str()), 4;
        });
}
