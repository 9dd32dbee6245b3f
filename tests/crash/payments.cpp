#include "tests/crash/payments.hpp"

#include "semel/db/migrate.hpp"
#include "semel/sqlite/catalogue.hpp"
#include "semel/sqlite/migrations.hpp"
#include "semel/testing/losing_disk.hpp"
#include "semel/testing/manual_clock.hpp"

#include <array>

namespace semel::crash {
namespace {

constexpr std::array payment_steps{
    Migration{.number = 1, .name = "payment", .sql = "CREATE TABLE payment (id INTEGER NOT NULL, note TEXT NOT NULL)"},
    Migration{.number = 2,
              .name = "payment_amount",
              .sql = "ALTER TABLE payment ADD COLUMN amount INTEGER NOT NULL DEFAULT 0;"
                     "UPDATE payment SET amount = id * 10;"
                     "CREATE INDEX payment_amount ON payment (amount)"}};
static_assert(payment_steps.size() == Payments::schema);

Command payment(int number) {
    const std::string key = std::to_string(number);
    return {.identity = Identity::of("shop", "web", "payment.make", key).value(),
            .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(key))}};
}

/// Every second one reads first, so that both ways of claiming are taken; every fourth fills some pages.
Result<CommandDecision> make_payment(Work& work, int number, int step) {
    if (number % 2 == 1) SEMEL_TRY(work.tx.execute("SELECT count(*) FROM payment"));
    const std::string note(number % 4 == 0 ? 10'000 : 10, 'n');
    if (step == 1)
        work.tx.post("INSERT INTO payment (id, note) VALUES ($1, $2)", number, note);
    else
        work.tx.post("INSERT INTO payment (id, note, amount) VALUES ($1, $2, $1 * 10)", number, note);
    if (number == 0) return Rejection{.reply = {.status = 422, .body = Payments::reply_to(0)}, .replay = Replay::yes};
    work.outbox.append(
        {.aggregate = {.type = "payment", .id = std::to_string(number)}, .type = "payment.made", .payload = "{}"});
    return Reply{.status = 201, .body = Payments::reply_to(number)};
}

Status broken(int number, std::string_view what, const Traces& found) {
    return fail(Fault::broken, "payment " + std::to_string(number) + " " + std::string(what) + ": " +
                                   std::to_string(found.records) + " records, " + std::to_string(found.effects) +
                                   " effects, " + std::to_string(found.events) + " events, " +
                                   std::to_string(found.pending) + " pending");
}

}  // namespace

Result<std::unique_ptr<Payments>> Payments::open(const std::string& path, Clock& clock, Random& random) {
    std::unique_ptr<Payments> opened(new Payments);
    sqlite::StoreOptions options;
    options.checkpoint_pages = every_log;
    options.on_fatal = [](const Error&) {};  // Whoever asks hears of it, and starts anew.
    opened->store_ = SEMEL_TRY(sqlite::open(path, options, clock));
    DatabaseOptions how;
    how.catalogue = sqlite::catalogue();
    opened->database_ = SEMEL_TRY(Database::create(sqlite::connector(opened->store_), how, clock, random));
    opened->executor_ = SEMEL_TRY(Executor::create(*opened->database_, {.cache_bytes = 0}));
    return opened;
}

Status Payments::migrate_to(int step) {
    SEMEL_TRY(migrate(*database_, "semel", sqlite::migrations(), {}));
    const auto state = SEMEL_TRY(schema_state(*database_, "payments", payment_steps, {}));
    if (state.at < step)
        SEMEL_TRY(migrate(*database_, "payments", std::span(payment_steps).first(static_cast<std::size_t>(step)), {}));
    step_ = std::max(state.at, step);
    return {};
}

Outcome<Answer> Payments::pay(int number) {
    return executor_->execute(payment(number),
                              [this, number](Work& work) { return make_payment(work, number, step_); });
}

std::string Payments::reply_to(int number) {
    return number == 0 ? "never" : "payment " + std::to_string(number) + " made";
}

Result<std::map<int, Traces>> Payments::traces() {
    std::map<int, Traces> found;
    for (int number = 0; number <= count; ++number) found[number] = {};
    const auto read = transact(*database_, [&](Transaction& tx) -> Status {
        const Rows rows = SEMEL_TRY(tx.execute(
            "SELECT 0, CAST(key AS INTEGER) FROM semel_command_record UNION ALL SELECT 1, id FROM payment UNION ALL"
            " SELECT 2, CAST(aggregate_id AS INTEGER) FROM semel_outbox_event UNION ALL"
            " SELECT 3, CAST(e.aggregate_id AS INTEGER) FROM semel_outbox_pending p"
            " JOIN semel_outbox_event e ON e.position = p.position AND e.event_id = p.event_id"));
        for (const Row row : rows) {
            Traces& one = found[static_cast<int>(SEMEL_TRY(row.get<std::int64_t>(1)))];
            switch (SEMEL_TRY(row.get<std::int64_t>(0))) {
                case 0: ++one.records; break;
                case 1: ++one.effects; break;
                case 2: ++one.events; break;
                default: ++one.pending;
            }
        }
        return {};
    });
    if (!read.committed()) return fail(Error(read.error()).within("look for payments"));
    return found;
}

Status Payments::check_file() {
    const auto said = transact(*database_, [](Transaction& tx) -> Result<std::string> {
        return SEMEL_TRY(tx.execute("PRAGMA integrity_check")).scalar<std::string>();
    });
    if (!said.committed()) return fail(Error(said.error()).within("check the file"));
    if (said.value() != "ok") return fail(Fault::broken, "the file is damaged: " + said.value());
    return {};
}

Status Payments::check_schema() {
    const auto wrong = transact(*database_, [](Transaction& tx) -> Result<std::int64_t> {
        return SEMEL_TRY(tx.execute("SELECT count(*) FROM payment WHERE amount <> id * 10")).scalar<std::int64_t>();
    });
    if (!wrong.committed()) return fail(Error(wrong.error()).within("check the schema"));
    if (wrong.value() != 0) return fail(Fault::broken, "a step of the schema was taken in part");
    return {};
}

Traces complete(int number) {
    return number == 0 ? Traces{.records = 1} : Traces{.records = 1, .effects = 1, .events = 1, .pending = 1};
}

Status recover(const testing::DiskImage& image, const std::set<int>& acknowledged,
               const std::filesystem::path& directory) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
    testing::write_image(image, directory);
    testing::ManualClock clock;
    SeededRandom random(1);
    const auto payments = SEMEL_TRY(Payments::open(directory / "store.db", clock, random));
    SEMEL_TRY(payments->check_file());
    SEMEL_TRY(payments->migrate_to(Payments::schema));
    SEMEL_TRY(payments->check_schema());
    const auto before = SEMEL_TRY(payments->traces());
    for (const auto& [number, found] : before) {
        if (acknowledged.contains(number) && found != complete(number))
            return broken(number, "was acknowledged and is lost", found);
        if (found != complete(number) && found != Traces{}) return broken(number, "is there in part", found);
    }
    for (int number = 0; number <= Payments::count; ++number) {
        const auto again = payments->pay(number);
        if (!again.committed()) return fail(Error(again.error()).within("pay again"));
        if (again.value().reply.body != Payments::reply_to(number))
            return fail(Fault::broken, "another reply: " + again.value().reply.body);
    }
    const auto after = SEMEL_TRY(payments->traces());
    for (const auto& [number, found] : after)
        if (found != complete(number)) return broken(number, "has not one effect after it was repeated", found);
    return payments->check_file();
}

}  // namespace semel::crash
