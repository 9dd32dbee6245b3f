// What an event costs the transaction that tells it: one INSERT with and without an append, on one durable server.

#include "bench/harness.hpp"
#include "bench/server_costs.hpp"
#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/outbox/append.hpp"
#include "semel/postgres/catalogue.hpp"
#include "semel/postgres/migrations.hpp"
#include "semel/postgres/open.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <cstdio>

namespace semel::bench {
namespace {

constexpr int connections = 8;
constexpr std::uint64_t aggregates = 10'000;

constexpr const char* schema =
    "CREATE TABLE payment (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, "
    "amount bigint NOT NULL)";

class Bench {
public:
    static Result<Bench> create() {
        auto cluster = SEMEL_TRY(testing::PostgresCluster::start(
            {.durable = true, .settings = {"autovacuum=off", "checkpoint_timeout=1h", "max_wal_size=8GB"}}));
        DatabaseOptions options;
        options.pool.size = connections;
        options.catalogue = postgres::catalogue();
        auto connector = SEMEL_TRY(postgres::connector({.connection = cluster.url()}));
        auto database = SEMEL_TRY(Database::create(std::move(connector), options));
        const Deadline deadline = Deadline::after(system_clock().now(), std::chrono::minutes(1));
        SEMEL_TRY(migrate(*database, "semel", postgres::migrations(), deadline));
        SEMEL_TRY(cluster.sql(schema));
        const auto statements = SEMEL_TRY(AppendStatements::from(database->catalogue()));
        return Bench(std::move(cluster), std::move(database), statements);
    }

    Side side(std::string name, bool with_event) {
        return {std::move(name), [this, with_event](Duration time) {
                    return with_server_costs(cluster_, [&] {
                        return with_client_costs(cluster_, *database_, connections,
                                                 [&] { return run(time, with_event); });
                    });
                }};
    }
    [[nodiscard]] const testing::PostgresCluster& cluster() const noexcept { return cluster_; }

private:
    Bench(testing::PostgresCluster cluster, std::unique_ptr<Database> database, const AppendStatements& statements)
        : cluster_(std::move(cluster)), database_(std::move(database)), statements_(statements) {}

    Result<Sample> run(Duration time, bool with_event) {
        return run_threads(connections, time, [&](std::size_t, std::uint64_t) {
            const auto account = static_cast<std::int64_t>(system_random().below(aggregates)) + 1;
            return transact(*database_, [&](Transaction& tx) -> Status {
                tx.post("INSERT INTO payment (account, amount) VALUES ($1, 10)", account);
                if (!with_event) return {};
                Outbox outbox(statements_, "shop", database_->clock(), database_->random());
                outbox.append({.aggregate = {.type = "account", .id = std::to_string(account)},
                               .type = "payment.created",
                               .payload = R"({"account":4711,"amount":"10.00","currency":"EUR","state":"RECEIVED"})"});
                outbox.post_to(tx);
                return {};
            });
        });
    }

    testing::PostgresCluster cluster_;
    std::unique_ptr<Database> database_;
    AppendStatements statements_;
};

Status run(const Settings& settings) {
    Bench bench = SEMEL_TRY(Bench::create());
    if (lives_in_memory(bench.cluster().dir()))
        std::fprintf(stderr, "warning: the server's files are in memory; set TMPDIR to a directory on a disk\n");
    const std::vector<Side> sides{bench.side("one INSERT", false), bench.side("one INSERT and its event", true)};
    const std::vector<Series> all = SEMEL_TRY(run_rounds(sides, settings));
    print(all, {"round_trips", "bytes", "allocations", "client_us", "server_us", "log_bytes"});
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    // How much longer a transaction takes with an event: rates the other way round.
    result["comparisons"].push_back(compared("append_time", all[0], all[1]));
    for (const Series& series : all) result["series"].push_back(series.json());
    if (!write(settings, result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const Settings settings = read_settings(argc, argv, "what an event adds to a transaction of one INSERT");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "append_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
