// A program that links the whole library and the public fakes: a transaction on SQLite that loses its first race.
#include <semel/db/transact.hpp>
#include <semel/open/open.hpp>
#include <semel/testing/faulty_database.hpp>
#include <semel/testing/manual_clock.hpp>

int main() {
    using namespace semel;
    testing::ManualClock clock;
    auto driver = semel::driver("sqlite::memory:", clock);
    if (!driver) return 1;

    testing::FaultPlan plan;
    testing::StepFailure race;
    race.error.fault = Fault::conflict;
    race.closes = false;
    plan.fail_nth(testing::Step::execute, 1, race);
    auto database = Database::create(testing::faulty(driver->connect, plan), {}, clock);
    if (!database) return 1;

    int bodies = 0;
    const auto outcome = transact(**database, [&](Transaction& tx) -> Result<std::int64_t> {
        ++bodies;
        tx.post("CREATE TABLE payment (id text PRIMARY KEY)");
        tx.post("INSERT INTO payment (id) VALUES ($1)", new_uuid());
        const auto rows = SEMEL_TRY(tx.execute("SELECT count(*) FROM payment"));
        return rows.scalar<std::int64_t>();
    });
    return outcome.committed() && outcome.value() == 1 && bodies == 2 ? 0 : 1;
}
