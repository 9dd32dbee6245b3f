// A relay works a backlog off the log, against pg_recvlogical, which writes the same stream to nowhere.

#include "bench/drain.hpp"
#include "semel/cdc/feed.hpp"
#include "semel/cdc/mode.hpp"
#include "semel/open/open.hpp"
#include "semel/sink/null_sink.hpp"
#include "semel/testing/process.hpp"

#include <cstdio>

namespace semel::bench {
namespace {

constexpr const char* other_slot = "pg_recvlogical";

class CdcDrain {
public:
    static Result<CdcDrain> create() {
        CdcDrain made(SEMEL_TRY(DrainServer::create()));
        made.program_ = testing::find_program("pg_recvlogical");
        if (made.program_.empty()) made.program_ = "/usr/lib/postgresql/15/bin/pg_recvlogical";
        SEMEL_TRY(cdc::switch_to_cdc(*made.server_.database, {.connection = made.server_.url}, cdc::default_slot,
                                     in(std::chrono::seconds(10))));
        // Makes its slot and turns appends to the log, then leaves until there is something to do.
        const auto begin = [&](Relay& relay) -> Result<Sample> {
            const Instant end = system_clock().now() + std::chrono::seconds(20);
            for (std::string mode; mode != "1";) {
                std::ignore = relay.step();
                mode = SEMEL_TRY(made.ask("SELECT last_value::text FROM semel.outbox_mode"));
                if (system_clock().now() > end) return fail(Fault::unavailable, "the relay does not stream");
            }
            return Sample{};
        };
        SEMEL_TRY(made.with_relay(begin));
        SEMEL_TRY(made.ask("SELECT pg_create_logical_replication_slot('pg_recvlogical', 'pgoutput')::text"));
        return made;
    }
    [[nodiscard]] Status fill(std::uint64_t events) const { return server_.fill(events); }

    /// From the connection to the last acknowledgement.
    Result<Sample> relay(std::uint64_t events) {
        return with_relay([&](Relay& relay) { return drain_in_background(relay, events); });
    }
    Result<Sample> recvlogical(std::uint64_t events) {
        const std::string end = SEMEL_TRY(ask("SELECT pg_current_wal_lsn()::text"));
        const double processor = children_processor_seconds();
        const Instant begun = system_clock().now();
        const testing::Command command{.argv = {program_,    "-d",
                                                server_.url, "-S",
                                                other_slot,  "--start",
                                                "-f",        "/dev/null",
                                                "-o",        "proto_version=1",
                                                "-o",        "publication_names=semel_outbox",
                                                "-o",        "binary=true",
                                                "-o",        "messages=true",
                                                "--endpos",  end,
                                                "-n",        "-F",
                                                "0"}};
        const testing::Finished done = SEMEL_TRY(testing::run(command, std::chrono::minutes(10)));
        if (!done.exit.success())
            return fail(Fault::unavailable, "pg_recvlogical " + done.exit.text() + ": " + done.error_output);
        const auto seconds = std::chrono::duration<double>(system_clock().now() - begun).count();
        Sample sample{.transactions = events, .seconds = seconds, .each = {}};
        sample.each["client_us"] = (children_processor_seconds() - processor) / static_cast<double>(events) * 1e6;
        return sample;
    }

private:
    explicit CdcDrain(DrainServer server) : server_(std::move(server)) {}
    static Deadline in(Duration limit) { return Deadline::after(system_clock().now(), limit); }
    [[nodiscard]] Result<std::string> ask(const std::string& sql) const {
        return server_.cluster.scalar(sql, server_.name());
    }
    Result<Sample> with_relay(const std::function<Result<Sample>(Relay&)>& work) {
        const RelayOptions options = drain_options();
        auto feed = SEMEL_TRY(cdc::CdcFeed::create(
            *server_.database, {.link = {.connection = server_.url}, .lease = options.rules.lease}));
        const auto relay = SEMEL_TRY(Relay::create(*server_.database, sink_, std::move(feed), options));
        auto sample = work(*relay);
        relay->stop();
        return sample;
    }

    DrainServer server_;
    std::string program_;
    NullSink sink_;
};

Status run(const DrainSettings& settings) {
    CdcDrain bench = SEMEL_TRY(CdcDrain::create());
    const std::uint64_t each = settings.events / static_cast<std::uint64_t>(settings.rounds) / 100 * 100;
    const std::vector<DrainSide> sides{
        {"pg_recvlogical to /dev/null", [&](std::uint64_t events) { return bench.recvlogical(events); }},
        {"cdc relay", [&](std::uint64_t events) { return bench.relay(events); }}};
    const auto series = SEMEL_TRY(run_drains(sides, settings.rounds, each, [&] { return bench.fill(each); }));
    print(series, {"client_us"});
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    result["comparisons"].push_back(compared("cdc_drain", series[1], series[0]));
    for (const Series& one : series) result["series"].push_back(one.json());
    result["figures"] = {{"cdc_drain_memory", peak_memory()}};
    std::printf("%-44s %10.1f MiB\n", "cdc_drain_memory", peak_memory());
    if (!write(settings.settings(), result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const auto settings = read_drain_settings(argc, argv, "A relay on the log against pg_recvlogical");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "cdc_drain_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
