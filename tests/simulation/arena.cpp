#include "tests/simulation/arena.hpp"

#include "semel/db/migrate.hpp"
#include "semel/sqlite/catalogue.hpp"
#include "semel/sqlite/migrations.hpp"
#include "semel/sqlite/open.hpp"
#include "tests/simulation/shop.hpp"

#include <sqlite3.h>

#include <utility>

namespace semel::simulation {
namespace {

sqlite3* opened_last = nullptr;

/// SQLite calls this for each connection that is opened.
int notice(sqlite3* database, char**, const sqlite3_api_routines*) {
    opened_last = database;
    return SQLITE_OK;
}

void copy(sqlite3* to, sqlite3* from) {
    sqlite3_backup* backup = sqlite3_backup_init(to, "main", from, "main");
    SEMEL_ASSERT(backup != nullptr);
    SEMEL_ASSERT(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
    SEMEL_ASSERT(sqlite3_backup_finish(backup) == SQLITE_OK);
}

}  // namespace

Arena::Arena() {
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&notice));
    SEMEL_ASSERT(sqlite3_open(":memory:", &model_) == SQLITE_OK);
    const std::shared_ptr<sqlite::Store> store = open();
    DatabaseOptions options;
    options.catalogue = sqlite::catalogue();
    SeededRandom random(1);
    auto database = Database::create(sqlite::connector(store), options, clock_, random).value();
    const Deadline soon = Deadline::after(clock_.now(), std::chrono::minutes(1));
    SEMEL_ASSERT(migrate(*database, "semel", sqlite::migrations(), soon));
    const auto shop = transact(*database, [](Transaction& tx) { return tx.run_script(shop_schema()); });
    SEMEL_ASSERT(shop.committed());
    copy(model_, handle_);
}

Arena::~Arena() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&notice));
    sqlite3_close(model_);
}

std::shared_ptr<sqlite::Store> Arena::open() {
    auto store = sqlite::open(":memory:", {}, clock_);
    SEMEL_ASSERT(store);
    handle_ = std::exchange(opened_last, nullptr);
    SEMEL_ASSERT(handle_ != nullptr);
    return *std::move(store);
}

std::shared_ptr<sqlite::Store> Arena::clean_store(Scheduler& scheduler) {
    auto store = open();
    copy(handle_, model_);
    clock_.serve(&scheduler, [raw = store.get()] {
        const sqlite::StoreStats stats = raw->stats();
        return stats.commits + stats.committed + stats.refused + stats.turns + stats.jobs + stats.dropped +
               stats.destroyed + stats.reclaimed;
    });
    return store;
}

void Arena::give_back(std::shared_ptr<sqlite::Store> store) {
    SEMEL_ASSERT(store.use_count() == 1 && "every session is closed before its store");
    store.reset();
    handle_ = nullptr;
    clock_.serve(nullptr, {});
}

Arena& arena() {
    static Arena instance;
    return instance;
}

}  // namespace semel::simulation
