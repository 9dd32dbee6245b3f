#include "bench/drain.hpp"

#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"

#include <CLI/CLI.hpp>

#include <sys/resource.h>

#include <cstdio>

namespace semel::bench {
namespace {

constexpr const char* fill_script = R"(
CREATE PROCEDURE fill_outbox(transactions int) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..transactions LOOP
        WITH made AS (
            INSERT INTO semel.outbox_event (event_id, position, aggregate, tenant, aggregate_type, aggregate_id, type,
                                            payload, headers, partition)
            SELECT semel.new_uuid(), nextval('semel.outbox_position'), a.number, 'shop', 'order', a.id, 'order.changed',
                   '"' || repeat('x', 198) || '"', '{}', (a.number & 63)::smallint
            FROM (SELECT n, ((i * 100 + n) % 1000)::text AS id,
                         ((i * 100 + n) % 1000) * 7919::bigint AS number FROM generate_series(1, 100) n) a
            RETURNING position, aggregate, event_id, partition, streamed)
        INSERT INTO semel.outbox_pending (position, aggregate, event_id, partition)
        SELECT position, aggregate, event_id, partition FROM made WHERE NOT streamed;
        COMMIT;
    END LOOP;
END
$$)";

}  // namespace

DrainSettings read_drain_settings(int argc, char** argv, const std::string& what, DrainSettings defaults) {
    DrainSettings settings = std::move(defaults);
    CLI::App app(what);
    app.add_option("--events", settings.events, "In all rounds together")->check(CLI::Range(1'000, 100'000'000));
    app.add_option("--rounds", settings.rounds, "How often every side is measured")->check(CLI::Range(1, 1000));
    app.add_option("--json", settings.json, "The file that the result is written to");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    return settings;
}

Result<DrainServer> DrainServer::create() {
    // No vacuum and no checkpoint may fall into one side's time and not into the other's.
    auto cluster = SEMEL_TRY(
        testing::PostgresCluster::start({.settings = {"autovacuum=off", "checkpoint_timeout=1h", "max_wal_size=8GB"}}));
    std::string url = SEMEL_TRY(cluster.fresh_database());
    auto opened = SEMEL_TRY(open(url));
    SEMEL_TRY(migrate(*opened.database, "semel", opened.schema,
                      Deadline::after(system_clock().now(), std::chrono::seconds(30))));
    SEMEL_TRY(cluster.sql(fill_script, url.substr(url.rfind('/') + 1)));
    return DrainServer{.cluster = std::move(cluster), .url = std::move(url), .database = std::move(opened.database)};
}

Status DrainServer::fill(std::uint64_t events) const {
    SEMEL_TRY(cluster.scalar("CALL fill_outbox($1::int)", name(), {std::to_string(events / 100)}));
    return {};
}

RelayOptions drain_options() {
    RelayOptions options;
    options.rules.lease = std::chrono::minutes(5);
    return options;
}

namespace {

/// Calls `pause` until the relay has been acknowledged so many events more.
Result<Sample> until_acknowledged(Relay& relay, std::uint64_t events, const std::function<void()>& pause) {
    Clock& clock = system_clock();
    const std::uint64_t goal = relay.report().acknowledged + events;
    const double processor = own_processor_seconds();
    const Instant begun = clock.now();
    while (relay.report().acknowledged < goal) {
        pause();
        if (clock.now() - begun > std::chrono::minutes(30))
            return fail(Fault::unavailable, "the relay did not get through");
    }
    const auto seconds = std::chrono::duration<double>(clock.now() - begun).count();
    Sample sample{.transactions = events, .seconds = seconds, .each = {}};
    sample.each["client_us"] = (own_processor_seconds() - processor) / static_cast<double>(events) * 1e6;
    return sample;
}

}  // namespace

Result<Sample> drain(Relay& relay, std::uint64_t events) {
    return until_acknowledged(relay, events, [&] { std::ignore = relay.step(); });
}

Result<Sample> drain_in_background(Relay& relay, std::uint64_t events) {
    relay.start();
    Clock& clock = system_clock();
    return until_acknowledged(relay, events,
                              [&] { std::ignore = clock.sleep(clock.now() + std::chrono::milliseconds(1), {}); });
}

double peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

Result<std::vector<Series>> run_drains(const std::vector<DrainSide>& sides, int rounds, std::uint64_t events_each,
                                       const std::function<Status()>& before_round) {
    std::vector<Series> all;
    for (const DrainSide& side : sides) all.push_back({.name = side.name, .samples = {}});
    for (int round = 0; round < rounds; ++round) {
        SEMEL_TRY(before_round());
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const std::size_t turn = round % 2 == 0 ? i : sides.size() - 1 - i;
            all[turn].samples.push_back(SEMEL_TRY(sides[turn].measure(events_each)));
        }
        std::fprintf(stderr, "round %d of %d\n", round + 1, rounds);
    }
    return all;
}

}  // namespace semel::bench
