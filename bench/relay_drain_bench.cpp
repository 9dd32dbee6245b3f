// A polling relay works off a backlog, against a loop written by hand around the same two statements.

#include "bench/drain.hpp"
#include "semel/postgres/catalogue.hpp"
#include "semel/sink/null_sink.hpp"

#include <libpq-fe.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace semel::bench {
namespace {

/// Reads and deletes on one connection, prepared once, each statement a transaction of its own; looks at every field and
/// knows nothing of failures, leases or people.
class HandWritten {
public:
    static Result<HandWritten> connect(const std::string& url) {
        HandWritten made;
        made.connection_.reset(PQconnectdb(url.c_str()));
        const auto read = SEMEL_TRY(postgres::catalogue().find("pending_read"));
        const auto remove = SEMEL_TRY(postgres::catalogue().find("pending_delete"));
        SEMEL_TRY(
            made.expect(PQexec(made.connection_.get(), "SET enable_seqscan = off; SET jit = off"), PGRES_COMMAND_OK));
        SEMEL_TRY(made.expect(PQprepare(made.connection_.get(), "read", std::string(read.text()).c_str(), 0, nullptr),
                              PGRES_COMMAND_OK));
        SEMEL_TRY(
            made.expect(PQprepare(made.connection_.get(), "remove", std::string(remove.text()).c_str(), 0, nullptr),
                        PGRES_COMMAND_OK));
        for (int n = 0; n < 64; ++n) made.partitions_.append(n == 0 ? "" : ",").append(std::to_string(n));
        return made;
    }
    Result<Sample> drain(std::uint64_t events) {
        const double processor = own_processor_seconds();
        const Instant begun = system_clock().now();
        std::uint64_t done = 0;
        while (done < events) {
            const std::uint64_t batch = SEMEL_TRY(one_batch());
            if (batch == 0) return fail(Fault::unavailable, "the backlog is too small");
            done += batch;
        }
        const auto seconds = std::chrono::duration<double>(system_clock().now() - begun).count();
        Sample sample{.transactions = done, .seconds = seconds, .each = {}};
        sample.each["client_us"] = (own_processor_seconds() - processor) / static_cast<double>(done) * 1e6;
        return sample;
    }

private:
    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    struct Clear {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    using Answer = std::unique_ptr<PGresult, Clear>;

    Result<Answer> expect(PGresult* result, ExecStatusType status) const {
        Answer answer(result);
        if (PQresultStatus(result) != status) return fail(Fault::unavailable, PQerrorMessage(connection_.get()));
        return answer;
    }
    Result<std::uint64_t> one_batch() {
        const char* read[] = {partitions_.c_str(), "4"};
        const Answer rows =
            SEMEL_TRY(expect(PQexecPrepared(connection_.get(), "read", 2, read, nullptr, nullptr, 0), PGRES_TUPLES_OK));
        std::string ids, positions, partitions;
        const int count = PQntuples(rows.get());
        for (int row = 0; row < count; ++row) {
            for (int column = 0; column < PQnfields(rows.get()); ++column)
                bytes_ += std::strlen(PQgetvalue(rows.get(), row, column));
            ids.append(row == 0 ? "" : ",").append(PQgetvalue(rows.get(), row, 0));
            positions.append(row == 0 ? "" : ",").append(PQgetvalue(rows.get(), row, 1));
            partitions.append(row == 0 ? "" : ",").append(PQgetvalue(rows.get(), row, 3));
        }
        if (count == 0) return std::uint64_t{0};
        const char* remove[] = {ids.c_str(), positions.c_str(), partitions.c_str()};
        SEMEL_TRY(
            expect(PQexecPrepared(connection_.get(), "remove", 3, remove, nullptr, nullptr, 0), PGRES_COMMAND_OK));
        return static_cast<std::uint64_t>(count);
    }

    std::unique_ptr<PGconn, Close> connection_;
    std::string partitions_;
    std::uint64_t bytes_ = 0;
};

Status run(const DrainSettings& settings) {
    const DrainServer server = SEMEL_TRY(DrainServer::create());
    const auto sides_and_rounds = static_cast<std::uint64_t>(settings.rounds) * 2;
    const std::uint64_t each = settings.events / sides_and_rounds;
    // A little more, since batches do not end where a round does.
    SEMEL_TRY(server.fill(settings.events + sides_and_rounds * 300));
    SEMEL_TRY(server.cluster.sql("VACUUM ANALYZE semel.outbox_event, semel.outbox_pending", server.name()));
    NullSink sink;
    LocalDoorbell bell;
    const auto relay = SEMEL_TRY(Relay::create(*server.database, sink, bell, drain_options()));
    HandWritten hand = SEMEL_TRY(HandWritten::connect(server.url));
    const std::vector<DrainSide> sides{
        {"by hand: read, delete", [&](std::uint64_t events) { return hand.drain(events); }},
        {"polling relay", [&](std::uint64_t events) { return drain(*relay, events); }}};
    const auto series = SEMEL_TRY(run_drains(sides, settings.rounds, each, [] { return Status(); }));
    print(series, {"client_us"});
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    result["comparisons"].push_back(compared("relay_drain", series[1], series[0]));
    for (const Series& one : series) result["series"].push_back(one.json());
    result["figures"] = {{"relay_drain_memory", peak_memory()}};
    std::printf("%-44s %10.1f MiB\n", "relay_drain_memory", peak_memory());
    if (!write(settings.settings(), result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const auto settings = read_drain_settings(argc, argv, "A polling relay against a loop written by hand");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "relay_drain_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
