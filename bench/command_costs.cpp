// What one command costs that no noise can touch: round trips, bytes, the server's log, dead rows, allocations, and under
// callgrind instructions. One thread and a fixed number of operations, so that it comes out the same on a busy machine.

#include "bench/counted.hpp"
#include "bench/payment.hpp"
#include "bench/server_costs.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"
#include "semel/relay/runner.hpp"
#include "semel/sink/null_sink.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>

namespace semel::bench {
namespace {

/// Before anything is counted: statements are prepared, caches filled, pages there.
constexpr std::uint64_t warm_up = 300;
constexpr std::uint64_t stored_keys = 64;
constexpr std::uint64_t accounts = 10'000;
/// A relay takes batches, which do not end where the counting does.
constexpr std::uint64_t spare_events = 2'000;

struct CostSettings {
    std::uint64_t count = 1'000;
    std::string json;
    std::string callgrind;  ///< Count instructions and nothing else: callgrind writes here.
    std::string only;       ///< Rows whose name holds this.
    std::string at;         ///< Under callgrind: the server that was started outside, which cannot be done inside.
};

/// One row of the table. `prepare` works on sessions of its own, which are gone when `begin` is called.
struct Case {
    std::string name;
    std::function<Status(Database&, std::uint64_t count)> prepare;
    std::function<Result<Step>(Database&)> begin;
};

std::int64_t some_account() { return static_cast<std::int64_t>(system_random().below(accounts)) + 1; }

Result<std::uint64_t> one(const Outcome<>& outcome) {
    if (!outcome.committed()) return fail(outcome.error());
    return std::uint64_t{1};
}

Result<std::shared_ptr<Executor>> executor_on(Database& database, std::size_t cache_bytes) {
    std::shared_ptr<Executor> made = SEMEL_TRY(Executor::create(database, {.cache_bytes = cache_bytes}));
    return made;
}

using Handle = Result<Reply> (*)(Work&, std::int64_t account, std::int64_t amount);
Case command(std::string name, Handle handle) {
    return {.name = std::move(name), .prepare = {}, .begin = [handle](Database& database) -> Result<Step> {
                const auto executor = SEMEL_TRY(executor_on(database, 0));
                return [executor, handle] {
                    const auto pays = [handle](Work& work) { return handle(work, some_account(), 10); };
                    return one(without_answer(executor->execute(payment_command(new_uuid().text()), pays)));
                };
            }};
}

std::string stored_key(std::uint64_t n) { return "stored-" + std::to_string(n % stored_keys); }

Case replay(std::string name, std::uint32_t attempt, std::size_t cache_bytes) {
    const auto pays = [](Work& work) { return pay(work, 1, 10); };
    return {.name = std::move(name),
            .prepare = [pays](Database& database, std::uint64_t) -> Status {
                const auto executor = SEMEL_TRY(executor_on(database, 0));
                for (std::uint64_t n = 0; n < stored_keys; ++n)
                    SEMEL_TRY(one(without_answer(executor->execute(payment_command(stored_key(n)), pays))));
                return {};
            },
            .begin = [pays, attempt, cache_bytes](Database& database) -> Result<Step> {
                const auto executor = SEMEL_TRY(executor_on(database, cache_bytes));
                return [executor, pays, attempt, n = std::uint64_t{0}]() mutable {
                    return one(without_answer(executor->execute(payment_command(stored_key(++n), attempt), pays)));
                };
            }};
}

Result<std::uint64_t> insert(Database& database, const AppendStatements& statements, int events) {
    const std::int64_t account = some_account();
    return one(transact(database, [&](Transaction& tx) -> Status {
        tx.post("INSERT INTO entry (account, amount) VALUES ($1, 10)", account);
        if (events == 0) return {};
        Outbox outbox(statements, "shop", database.clock(), database.random());
        for (int n = 0; n < events; ++n)
            outbox.append({.aggregate = {.type = "account", .id = std::to_string(account + n)},
                           .type = "payment.created",
                           .payload = std::string(payment_body)});
        outbox.post_to(tx);
        return {};
    }));
}

Case insertion(std::string name, int events) {
    return {.name = std::move(name), .prepare = {}, .begin = [events](Database& database) -> Result<Step> {
                const auto statements = SEMEL_TRY(AppendStatements::from(database.catalogue()));
                return [&database, statements, events] { return insert(database, statements, events); };
            }};
}

/// As in `transact_bench`: the statements wait for nothing, COMMIT follows them.
Case three_posts(std::string name) {
    return {.name = std::move(name), .prepare = {}, .begin = [](Database& database) -> Result<Step> {
                return [&database] {
                    const std::int64_t account = some_account();
                    return one(transact(database, [account](Transaction& tx) -> Status {
                        tx.post("INSERT INTO entry (account, amount) VALUES ($1, $2)", account, 10);
                        tx.post("INSERT INTO entry (account, amount) VALUES ($1, $2 + 1)", account, 10);
                        tx.post("INSERT INTO entry (account, amount) VALUES ($1, $2 + 2)", account, 10);
                        return {};
                    }));
                };
            }};
}

/// What a relay needs for as long as it works.
struct Relaying {
    NullSink sink;
    LocalDoorbell bell;
    std::unique_ptr<Relay> relay;
};

Case relaying(std::string name) {
    return {.name = std::move(name),
            .prepare = [](Database& database, std::uint64_t count) -> Status {
                constexpr int together = 100;
                const auto statements = SEMEL_TRY(AppendStatements::from(database.catalogue()));
                for (std::uint64_t n = 0; n < count + warm_up + spare_events; n += together)
                    SEMEL_TRY(insert(database, statements, together));
                return {};
            },
            .begin = [](Database& database) -> Result<Step> {
                auto all = std::make_shared<Relaying>();
                all->relay = SEMEL_TRY(Relay::create(database, all->sink, all->bell));
                return [all]() -> Result<std::uint64_t> {
                    const std::uint64_t before = all->relay->report().acknowledged;
                    std::ignore = all->relay->step();
                    return all->relay->report().acknowledged - before;
                };
            }};
}

std::vector<Case> cases(const std::string& where, const std::string& only) {
    std::vector<Case> all{command(where + ": command, only posts", pay),
                          command(where + ": command, reads first", read_and_pay),
                          replay(where + ": replay, a declared repeat", 2, 0),
                          replay(where + ": replay from memory", 2, ExecutorOptions().cache_bytes),
                          insertion(where + ": one INSERT", 0),
                          three_posts(where + ": three INSERTs, posted"),
                          insertion(where + ": one INSERT with its event", 1),
                          relaying(where + ": one event, relayed")};
    std::erase_if(all, [&only](const Case& each) { return each.name.find(only) == std::string::npos; });
    return all;
}

/// One session, so that all that is asked and answered can be seen.
Result<OpenedDatabase> open_alone(const std::string& address) {
    DatabaseOptions options;
    options.pool.size = 1;
    return open(address, options);
}

Status migrated(const OpenedDatabase& opened) {
    const Deadline deadline = Deadline::after(system_clock().now(), std::chrono::minutes(1));
    SEMEL_TRY(migrate(*opened.database, "semel", opened.schema, deadline));
    return {};
}

constexpr const char* postgres_schema = R"(
CREATE TABLE payment (id uuid PRIMARY KEY, account bigint NOT NULL, amount bigint NOT NULL);
CREATE TABLE entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, amount bigint NOT NULL);
CREATE TABLE account (id bigint PRIMARY KEY, open boolean NOT NULL);
INSERT INTO account SELECT n, true FROM generate_series(1, 10000) AS n;
)";

constexpr const char* sqlite_schema = R"(
CREATE TABLE payment (id PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE entry (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE account (id INTEGER PRIMARY KEY, open INTEGER NOT NULL);
WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)
INSERT INTO account SELECT n, 1 FROM number;
)";

Result<double> dead_rows(const testing::PostgresCluster& cluster) {
    return std::stod(SEMEL_TRY(cluster.scalar("SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables")));
}

/// A session tells its dead rows at its end at the latest, and then leaves the list of sessions.
Status await_end_of_sessions(const testing::PostgresCluster& cluster) {
    const Instant until = system_clock().now() + std::chrono::seconds(30);
    while (SEMEL_TRY(cluster.scalar("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND "
                                    "pid <> pg_backend_pid()")) != "0") {
        if (system_clock().now() > until) return fail(Fault::unavailable, "a session does not end");
        std::ignore = system_clock().sleep(system_clock().now() + std::chrono::milliseconds(10), {});
    }
    return {};
}

Result<Sample> on_server(const testing::PostgresCluster& cluster, const Case& each, std::uint64_t count) {
    if (each.prepare) {
        const OpenedDatabase opened = SEMEL_TRY(open_alone(cluster.url()));
        SEMEL_TRY(each.prepare(*opened.database, count));
    }
    SEMEL_TRY(await_end_of_sessions(cluster));
    const double dead = SEMEL_TRY(dead_rows(cluster));
    std::uint64_t warmed = 0;
    Sample sample;
    {
        const OpenedDatabase opened = SEMEL_TRY(open_alone(cluster.url()));
        const Step step = SEMEL_TRY(each.begin(*opened.database));
        warmed = SEMEL_TRY(step_until(step, warm_up));
        sample = SEMEL_TRY(with_server_costs(cluster, [&] {
            return with_client_costs(cluster, *opened.database, 1, [&] { return count_steps(each.name, step, count); });
        }));
    }
    SEMEL_TRY(await_end_of_sessions(cluster));
    sample.each["dead_rows"] =
        (SEMEL_TRY(dead_rows(cluster)) - dead) / static_cast<double>(sample.transactions + warmed);
    return sample;
}

Result<testing::PostgresCluster> start_server() {
    // Vacuum would clear away what is to be counted, and a checkpoint makes the next change of every page write all of it.
    auto cluster = SEMEL_TRY(
        testing::PostgresCluster::start({.settings = {"autovacuum=off", "checkpoint_timeout=1h", "max_wal_size=8GB"}}));
    SEMEL_TRY(cluster.sql(postgres_schema));
    const OpenedDatabase opened = SEMEL_TRY(open_alone(cluster.url()));
    SEMEL_TRY(migrated(opened));
    return cluster;
}

Status count_on_server(const testing::PostgresCluster& cluster, const CostSettings& settings,
                       std::vector<Series>& all) {
    for (const Case& each : cases("PostgreSQL", settings.only))
        all.push_back({.name = each.name, .samples = {SEMEL_TRY(on_server(cluster, each, settings.count))}});
    return {};
}

/// What needs no look at the server.
Status count_calls(const std::string& where, Database& database, const CostSettings& settings,
                   std::vector<Series>& all) {
    for (const Case& each : cases(where, settings.only)) {
        if (each.prepare) SEMEL_TRY(each.prepare(database, settings.count));
        const Step step = SEMEL_TRY(each.begin(database));
        SEMEL_TRY(step_until(step, warm_up));
        all.push_back({.name = each.name, .samples = {SEMEL_TRY(count_steps(each.name, step, settings.count))}});
    }
    return {};
}

Status count_on_sqlite(const CostSettings& settings, std::vector<Series>& all) {
    const testing::TempDir dir = SEMEL_TRY(testing::TempDir::make("costs"));
    const OpenedDatabase opened = SEMEL_TRY(open_alone("sqlite:" + (dir.path() / "costs.db").string()));
    SEMEL_TRY(migrated(opened));
    SEMEL_TRY(one(transact(*opened.database, [](Transaction& tx) { return tx.run_script(sqlite_schema); })));
    return count_calls("SQLite", *opened.database, settings, all);
}

Status run_under_callgrind(const CostSettings& settings) {
    const auto cluster = SEMEL_TRY(start_server());
    const testing::Command command{.argv = {"valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no",
                                            "--callgrind-out-file=" + settings.callgrind,
                                            std::filesystem::read_symlink("/proc/self/exe").string(), "--at",
                                            cluster.url(), "--count", std::to_string(settings.count), "--only",
                                            settings.only, "--json", settings.json}};
    const testing::Finished done = SEMEL_TRY(testing::run(command, std::chrono::minutes(30)));
    if (!done.exit.success())
        return fail(Fault::unavailable, "valgrind " + done.exit.text() + ": " + done.error_output);
    return {};
}

Status run(const CostSettings& settings) {
    if (!settings.callgrind.empty()) return run_under_callgrind(settings);
    std::vector<Series> all;
    if (settings.at.empty()) {
        const auto cluster = SEMEL_TRY(start_server());
        SEMEL_TRY(count_on_server(cluster, settings, all));
    } else {
        const OpenedDatabase opened = SEMEL_TRY(open_alone(settings.at));
        SEMEL_TRY(count_calls("PostgreSQL", *opened.database, settings, all));
    }
    SEMEL_TRY(count_on_sqlite(settings, all));
    print(all, {"round_trips", "bytes", "log_bytes", "dead_rows", "allocations"});
    nlohmann::json result{{"series", nlohmann::json::array()}};
    for (const Series& series : all) result["series"].push_back(series.json());
    if (!write({.rounds = 1, .seconds = 1, .json = settings.json}, result))
        return fail(Fault::unavailable, "the result is lost");
    return {};
}

CostSettings read_cost_settings(int argc, char** argv) {
    CostSettings settings;
    CLI::App app("What commands, replays, appends and relayed events cost, counted");
    app.add_option("--count", settings.count, "Operations of each kind")->check(CLI::Range(100, 1'000'000));
    app.add_option("--only", settings.only, "Only the rows whose name holds this text");
    app.add_option("--json", settings.json, "The file that the result is written to");
    app.add_option("--callgrind", settings.callgrind, "Count instructions instead; callgrind's files begin like this");
    app.add_option("--at", settings.at, "A server that is there already, with the tables: for --callgrind");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    return settings;
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    const semel::Status done = semel::bench::run(semel::bench::read_cost_settings(argc, argv));
    if (!done) std::fprintf(stderr, "command_costs: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
