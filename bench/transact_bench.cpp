// `transact` against pgbench: the same statements on the same tables of one durable server, through
// as many connections.

#include "bench/harness.hpp"
#include "bench/pgbench.hpp"
#include "bench/server_costs.hpp"
#include "bench/three_posted.hpp"
#include "semel/db/transact.hpp"
#include "semel/postgres/open.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <cstdio>

namespace semel::bench {
namespace {

constexpr int connections = 8;

// The variables are bigint on both sides; pgbench draws them as the threads here do.
constexpr std::string_view three_statements_sent_one_by_one = R"(
\set account random(1, 10000)
\set amount random(1, 1000)
BEGIN;
INSERT INTO payment (account, amount) VALUES (:account, :amount);
COMMIT;
)";

Status one_posted(Transaction& tx, std::int64_t account, std::int64_t amount) {
    tx.post(insert_payment(), account, amount);
    return {};
}

Status one_executed(Transaction& tx, std::int64_t account, std::int64_t amount) {
    SEMEL_TRY(tx.execute(insert_payment(), account, amount));
    return {};
}

class Bench {
public:
    static Result<Bench> create() {
        // No vacuum and no checkpoint may fall into one side's time and not into the other's.
        auto cluster = SEMEL_TRY(testing::PostgresCluster::start(
            {.durable = true, .settings = {"autovacuum=off", "checkpoint_timeout=1h", "max_wal_size=8GB"}}));
        SEMEL_TRY(cluster.sql(payments_schema));
        SEMEL_TRY(cluster.sql("VACUUM ANALYZE account"));
        auto connector = SEMEL_TRY(postgres::connector({.connection = cluster.url()}));
        DatabaseOptions options;
        options.pool.size = connections;
        auto database = SEMEL_TRY(Database::create(std::move(connector), options));
        auto pgbench = SEMEL_TRY(Pgbench::create(cluster, connections));
        return Bench(std::move(cluster), std::move(database), std::move(pgbench));
    }

    using Work = Status (*)(Transaction&, std::int64_t account, std::int64_t amount);

    /// Every thread has a connection of its own.
    Side semel(std::string name, Work work, bool marked = true) {
        return {std::move(name), [this, work, marked](Duration time) {
                    return with_server_costs(cluster_, [&] {
                        return with_client_costs(cluster_, *database_, connections,
                                                 [&] { return run_semel(time, work, marked); });
                    });
                }};
    }
    Side pgbench(std::string name, std::string script, int threads = 2) {
        return {std::move(name), [this, script = std::move(script), threads](Duration time) {
                    return with_server_costs(cluster_, [&] { return run_pgbench(time, script, threads); });
                }};
    }
    [[nodiscard]] const testing::PostgresCluster& cluster() const noexcept { return cluster_; }

private:
    Bench(testing::PostgresCluster cluster, std::unique_ptr<Database> database, Pgbench pgbench)
        : cluster_(std::move(cluster)), database_(std::move(database)), pgbench_(std::move(pgbench)) {}

    Result<Sample> run_semel(Duration time, Work work, bool marked) {
        TransactOptions options;
        options.transaction.marked = marked;
        return run_threads(connections, time, [&](std::size_t, std::uint64_t) {
            Random& random = system_random();
            const auto account = static_cast<std::int64_t>(random.below(accounts)) + 1;
            const auto amount = static_cast<std::int64_t>(random.below(1000)) + 1;
            return transact(*database_, options, [&](Transaction& tx) { return work(tx, account, amount); });
        });
    }

    Result<Sample> run_pgbench(Duration time, std::string_view script, int threads) {
        const std::size_t before = server_processes(cluster_);
        auto sample = pgbench_.run(script, time, threads);
        await_departure(cluster_, before);
        return sample;
    }

    testing::PostgresCluster cluster_;
    std::unique_ptr<Database> database_;
    Pgbench pgbench_;
};

Status run(const Settings& settings) {
    Bench bench = SEMEL_TRY(Bench::create());
    if (lives_in_memory(bench.cluster().dir()))
        std::fprintf(stderr, "warning: the server's files are in memory; set TMPDIR to a directory on a disk\n");
    const std::vector<std::string> columns{"round_trips", "bytes",     "allocations",
                                           "client_us",   "server_us", "log_bytes"};
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    const auto keep = [&result](const std::vector<Series>& all) {
        for (const Series& series : all) result["series"].push_back(series.json());
    };

    const std::vector<Side> ones{
        bench.pgbench("pgbench: BEGIN; INSERT; COMMIT", std::string(three_statements_sent_one_by_one)),
        bench.semel("transact: INSERT posted", one_posted), bench.semel("transact: INSERT executed", one_executed),
        bench.semel("transact: INSERT posted, unmarked", one_posted, false)};
    const std::vector<Series> one = SEMEL_TRY(run_rounds(ones, settings));
    print(one, columns);
    result["comparisons"].push_back(compared("transact_one_posted", one[1], one[0]));
    result["comparisons"].push_back(compared("transact_one_executed", one[2], one[0]));
    result["comparisons"].push_back(compared("transact_one_unmarked", one[3], one[0]));
    keep(one);

    const std::vector<Side> threes{
        bench.pgbench("pgbench: two pipelines, three statements", three_in_two_pipelines()),
        bench.semel("transact: three statements posted", three_posted),
        bench.pgbench("pgbench: the same, a thread per connection", three_in_two_pipelines(), connections),
        bench.pgbench("pgbench: the same, one thread, as it comes", three_in_two_pipelines(), 1)};
    const std::vector<Series> three = SEMEL_TRY(run_rounds(threes, settings));
    print(three, columns);
    result["comparisons"].push_back(compared("transact_three_posted", three[1], three[0]));
    result["comparisons"].push_back(compared("transact_three_posted_like_threads", three[1], three[2]));
    result["comparisons"].push_back(compared("transact_three_posted_one_thread", three[1], three[3]));
    keep(three);
    if (!write(settings, result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const Settings settings = read_settings(argc, argv, "transact against pgbench on a durable server of our own");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "transact_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
