// Idempotent commands through the Executor against pgbench sending the same statements by hand, on one durable
// server: a payment with its event and its stored reply.

#include "bench/harness.hpp"
#include "bench/payment.hpp"
#include "bench/pgbench.hpp"
#include "bench/pgbench_script.hpp"
#include "bench/server_costs.hpp"
#include "semel/db/migrate.hpp"
#include "semel/postgres/catalogue.hpp"
#include "semel/postgres/migrations.hpp"
#include "semel/postgres/open.hpp"

#include <cstdio>

namespace semel::bench {
namespace {

constexpr std::int64_t stored_replies = 20'000;

constexpr const char* schema = R"(
CREATE TABLE payment (id uuid PRIMARY KEY, account bigint NOT NULL, amount bigint NOT NULL);
CREATE TABLE account (id bigint PRIMARY KEY, open boolean NOT NULL);
INSERT INTO account SELECT n, true FROM generate_series(1, 10000) AS n;
)";

/// As many and as long as the replies that the Executor stores, and under identities that are scattered as digests are:
/// a sequence in the index would spare pgbench what a real lookup costs. `lookup` draws the same numbers.
constexpr const char* replies_for_pgbench = R"(
INSERT INTO semel.command_record (identity, fingerprint, state, tenant, caller, operation, key, status, headers, body, expires_at)
SELECT (n * 461168601842738)::text::bytea, '\x01'::bytea || sha256(n::text::bytea), 'succeeded', 'shop', 'web', 'payment.create',
       'stored-' || n, 201, 'Content-Type: application/json', repeat('x', 158)::bytea, now() + interval '1 day'
FROM generate_series(1, 20000) AS n
)";

// What every script of pgbench begins with: identities as random as digests, nothing that the server must compute.
constexpr std::string_view variables = R"(
\set id random(1000000000000000000, 8999999999999999999)
\set lock random(1000000000000000000, 8999999999999999999)
\set stripe random(1, 4096)
\set account random(1, 10000)
\set amount random(1, 1000)
)";

constexpr std::string_view settings_sql =
    "SELECT set_config('statement_timeout', '30000', true), set_config('lock_timeout', '5000', true), "
    "set_config('idle_in_transaction_session_timeout', '60000', true), "
    "set_config('client_connection_check_interval', '1000', true);\n";
constexpr std::string_view payment_sql =
    "INSERT INTO payment (id, account, amount) VALUES (gen_random_uuid(), :account, :amount);\n";
constexpr std::string_view append_lock_sql = "SELECT pg_advisory_xact_lock(:stripe);\n";
constexpr std::string_view event_sql =
    "INSERT INTO semel.outbox_version (tenant, aggregate_type, aggregate_id, aggregate_version) "
    "VALUES ('shop', 'payment', :id, 1);\n"
    "WITH event AS (INSERT INTO semel.outbox_event (event_id, position, tenant, aggregate_type, aggregate_id, "
    "aggregate_version, type, payload, headers, partition, aggregate) VALUES (gen_random_uuid(), "
    "nextval('semel.outbox_position'), 'shop', 'payment', :id, 1, 'payment.created', 'BODY', '{}', 7, :lock) "
    "RETURNING position, aggregate, event_id, partition) "
    "INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition) "
    "SELECT position, aggregate, event_id, partition FROM event;\n";
constexpr std::string_view record_sql =
    "INSERT INTO semel.command_record (identity, fingerprint, state, tenant, caller, operation, key, status, headers, "
    "body, expires_at) VALUES (:id::text::bytea, :lock::text::bytea, 'succeeded', 'shop', 'web', 'payment.create', "
    ":id, 201, "
    "'Content-Type: application/json', 'BODY', now() + 86400000 * interval '1 millisecond');\n";

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text(prepared_ahead);
    text += variables;
    for (const std::string_view part : parts) text.append(part);
    for (auto at = text.find("BODY"); at != std::string::npos; at = text.find("BODY"))
        text.replace(at, 4, payment_body);
    return text;
}

std::string one_pipeline() {
    return joined({"\\startpipeline\nBEGIN;\n", settings_sql, "SELECT semel.claim_lock(:lock);\n", record_sql,
                   payment_sql, append_lock_sql, event_sql, "COMMIT;\n\\endpipeline\n"});
}

std::string two_pipelines() {
    return joined({"\\startpipeline\nBEGIN;\n", settings_sql, "SELECT semel.claim_guard(:id, :lock, :lock);\n",
                   "SELECT open FROM account WHERE id = :account;\n\\endpipeline\n\\startpipeline\n", payment_sql,
                   append_lock_sql, event_sql, record_sql, "COMMIT;\n\\endpipeline\n"});
}

std::string without_protocol() {
    return joined({"\\startpipeline\nBEGIN;\n", payment_sql, event_sql, record_sql, "COMMIT;\n\\endpipeline\n"});
}

/// The very statement that the Executor looks with.
std::string lookup() {
    std::string text(postgres::catalogue().find("record_look").value().text());
    text.replace(text.find("$1"), 2, ":n");
    return "\\set n random(1, 20000) * 461168601842738\n" + text + ";\n";
}

/// One server, with as many connections of ours and of pgbench's.
class Bench {
public:
    static Result<Bench> create(const testing::PostgresCluster& cluster, int connections, std::size_t cache_bytes = 0) {
        DatabaseOptions options;
        options.pool.size = static_cast<std::size_t>(connections);
        options.catalogue = postgres::catalogue();
        auto connector = SEMEL_TRY(postgres::connector({.connection = cluster.url()}));
        auto database = SEMEL_TRY(Database::create(std::move(connector), options));
        auto executor = SEMEL_TRY(Executor::create(*database, {.cache_bytes = cache_bytes}));
        auto pgbench = SEMEL_TRY(Pgbench::create(cluster, connections));
        return Bench(cluster, connections, std::move(database), std::move(executor), std::move(pgbench));
    }

    using Handle = Result<Reply> (*)(Work&, std::int64_t account, std::int64_t amount);
    Side executes(std::string name, Handle handle) {
        return ours(std::move(name), [this, handle](std::size_t, std::uint64_t) {
            Random& random = system_random();
            const auto account = static_cast<std::int64_t>(random.below(10'000)) + 1;
            const auto amount = static_cast<std::int64_t>(random.below(1000)) + 1;
            return without_answer(executor_->execute(payment_command(new_uuid().text()),
                                                     [&](Work& work) { return handle(work, account, amount); }));
        });
    }
    Side replays(std::string name, std::uint32_t attempt) {
        return ours(std::move(name), [this, attempt](std::size_t, std::uint64_t) {
            const auto n = system_random().below(stored_replies);
            return without_answer(executor_->execute(payment_command("stored-" + std::to_string(n), attempt),
                                                     [](Work& work) { return pay(work, 1, 1); }));
        });
    }
    Side pgbench(std::string name, std::string script, int threads = 2) {
        return {std::move(name), [this, script = std::move(script), threads](Duration time) {
                    return with_server_costs(*cluster_, [&] {
                        const std::size_t before = server_processes(*cluster_);
                        auto sample = pgbench_.run(script, time, threads);
                        await_departure(*cluster_, before);
                        return sample;
                    });
                }};
    }
    Status store_replies() {
        for (std::int64_t n = 0; n < stored_replies; ++n) {
            const auto outcome = executor_->execute(payment_command("stored-" + std::to_string(n)),
                                                    [](Work& work) { return pay(work, 1, 1); });
            if (!outcome.committed()) return fail(Error(outcome.error()));
        }
        return {};
    }

private:
    Bench(const testing::PostgresCluster& cluster, int connections, std::unique_ptr<Database> database,
          std::unique_ptr<Executor> executor, Pgbench pgbench)
        : cluster_(&cluster),
          connections_(connections),
          database_(std::move(database)),
          executor_(std::move(executor)),
          pgbench_(std::move(pgbench)) {}

    Side ours(std::string name, std::function<Outcome<>(std::size_t, std::uint64_t)> work) {
        return {std::move(name), [this, work = std::move(work)](Duration time) {
                    return with_server_costs(*cluster_, [&] {
                        return with_client_costs(*cluster_, *database_, connections_, [&] {
                            return run_threads(static_cast<std::size_t>(connections_), time, work);
                        });
                    });
                }};
    }

    const testing::PostgresCluster* cluster_;
    int connections_;
    std::unique_ptr<Database> database_;
    std::unique_ptr<Executor> executor_;
    Pgbench pgbench_;
};

Status prepare(const testing::PostgresCluster& cluster) {
    SEMEL_TRY(cluster.sql(schema));
    DatabaseOptions options;
    auto connector = SEMEL_TRY(postgres::connector({.connection = cluster.url()}));
    auto database = SEMEL_TRY(Database::create(std::move(connector), options));
    SEMEL_TRY(migrate(*database, "semel", postgres::migrations(), Deadline::never()));
    return {};
}

Status run(const Settings& settings) {
    // No vacuum and no checkpoint may fall into one side's time and not into the other's.
    const auto cluster = SEMEL_TRY(testing::PostgresCluster::start(
        {.durable = true, .settings = {"autovacuum=off", "checkpoint_timeout=1h", "max_wal_size=8GB"}}));
    if (lives_in_memory(cluster.dir()))
        std::fprintf(stderr, "warning: the server's files are in memory; set TMPDIR to a directory on a disk\n");
    SEMEL_TRY(prepare(cluster));
    const std::vector<std::string> columns{"round_trips", "bytes",     "allocations",
                                           "client_us",   "server_us", "log_bytes"};
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    const auto keep = [&result](const std::vector<Series>& all) {
        for (const Series& series : all) result["series"].push_back(series.json());
    };
    for (const int connections : {8, 16}) {
        Bench bench = SEMEL_TRY(Bench::create(cluster, connections));
        const std::string at = std::to_string(connections);
        const std::vector<Side> sides{bench.pgbench(at + ": pgbench, one pipeline with the protocol", one_pipeline()),
                                      bench.executes(at + ": Executor, handler that only posts", pay),
                                      bench.pgbench(at + ": pgbench, two pipelines with the guard", two_pipelines()),
                                      bench.executes(at + ": Executor, handler that reads first", read_and_pay),
                                      bench.pgbench(at + ": pgbench, no protocol at all", without_protocol())};
        const std::vector<Series> all = SEMEL_TRY(run_rounds(sides, settings));
        print(all, columns);
        result["comparisons"].push_back(compared("command_blind_" + at, all[1], all[0]));
        result["comparisons"].push_back(compared("command_reading_" + at, all[3], all[2]));
        result["comparisons"].push_back(compared("command_blind_" + at + "_to_bare", all[1], all[4]));
        result["comparisons"].push_back(compared("command_reading_" + at + "_to_bare", all[3], all[4]));
        keep(all);
        result["figures"]["command_blind_round_trips"] = all[1].each("round_trips");
        result["figures"]["command_reading_round_trips"] = all[3].each("round_trips");
    }
    Bench bench = SEMEL_TRY(Bench::create(cluster, 8));
    Bench cached = SEMEL_TRY(Bench::create(cluster, 8, ExecutorOptions().cache_bytes));
    // Only what is looked up: the digests of all those commands would lie between the ones of the replies, and not
    // between the identities of pgbench, which it can draw as digits only and which are neighbours.
    SEMEL_TRY(cluster.sql("TRUNCATE semel.command_record CASCADE"));
    SEMEL_TRY(bench.store_replies());
    SEMEL_TRY(cluster.sql(replies_for_pgbench));
    SEMEL_TRY(cluster.sql("VACUUM ANALYZE semel.command_record"));
    const std::vector<Side> sides{bench.pgbench("pgbench: the lookup alone", lookup()),
                                  bench.replays("Executor: replay of a declared repeat", 2),
                                  bench.pgbench("pgbench: the lookup, a thread per connection", lookup(), 8),
                                  cached.replays("Executor as it comes, with its cache", 1)};
    const std::vector<Series> all = SEMEL_TRY(run_rounds(sides, settings));
    print(all, columns);
    result["comparisons"].push_back(compared("command_replay", all[1], all[0]));
    result["comparisons"].push_back(compared("command_replay_like_threads", all[1], all[2]));
    result["comparisons"].push_back(compared("command_replay_cached", all[3], all[0]));
    keep(all);
    // Apart from those that only read: each of these writes a row that does not last.
    const std::vector<Side> writing{bench.pgbench("pgbench: the lookup alone, once more", lookup()),
                                    bench.replays("Executor: replay of an undeclared repeat", 1)};
    const std::vector<Series> undeclared = SEMEL_TRY(run_rounds(writing, settings));
    print(undeclared, columns);
    result["comparisons"].push_back(compared("command_replay_undeclared", undeclared[1], undeclared[0]));
    keep(undeclared);
    if (!write(settings, result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const Settings settings = read_settings(argc, argv, "commands against pgbench on a durable server of our own");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "command_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
