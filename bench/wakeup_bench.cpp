// From the acknowledged COMMIT to the publish, on an idle server: through the log, and polled with a bell that rings.

#include "bench/drain.hpp"
#include "semel/cdc/feed.hpp"
#include "semel/cdc/mode.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/outbox/append.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace semel::bench {
namespace {

/// Remembers when it was last handed something.
class TimingSink final : public Sink {
public:
    std::vector<Status> publish(std::span<const Message> messages, Deadline) override {
        at_ = system_clock().now().time_since_epoch().count();
        count_ += messages.size();
        return std::vector<Status>(messages.size());
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] Instant at() const noexcept { return Instant(Duration(at_.load())); }

private:
    std::atomic<std::int64_t> at_ = 0;
    std::atomic<std::uint64_t> count_ = 0;
};

/// Milliseconds, one for each event.
Result<std::vector<double>> measure(Database& database, TimingSink& sink, std::uint64_t events,
                                    const std::function<void()>& after_commit) {
    const auto statements = SEMEL_TRY(AppendStatements::from(database.catalogue()));
    Clock& clock = system_clock();
    std::vector<double> all;
    for (std::uint64_t n = 0; n < events; ++n) {
        const std::uint64_t before = sink.count();
        std::ignore = clock.sleep(clock.now() + std::chrono::milliseconds(20), {});
        const auto outcome = transact(database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database.clock(), database.random());
            outbox.append({.aggregate = {.type = "order", .id = std::to_string(n)}, .type = "told", .payload = "{}"});
            outbox.post_to(tx);
            return {};
        });
        if (!outcome.committed()) return fail(outcome.error());
        const Instant committed = clock.now();
        after_commit();
        while (sink.count() == before) {
            if (clock.now() - committed > std::chrono::seconds(30))
                return fail(Fault::unavailable, "an event did not leave");
            std::ignore = clock.sleep(clock.now() + std::chrono::microseconds(50), {});
        }
        // The log may be quicker than the answer to COMMIT.
        all.push_back(std::max(0.0, std::chrono::duration<double, std::milli>(sink.at() - committed).count()));
    }
    std::ranges::sort(all);
    return all;
}

void report(nlohmann::json& values, const std::string& name, const std::vector<double>& sorted) {
    const double half = sorted[sorted.size() / 2];
    const double most = sorted[sorted.size() * 99 / 100];
    std::printf("%-44s p50 %.2f ms, p99 %.2f ms, %zu events\n", name.c_str(), half, most, sorted.size());
    values[name + "_p50_ms"] = half;
    values[name + "_p99_ms"] = most;
}

Status run(const DrainSettings& settings) {
    const DrainServer server = SEMEL_TRY(DrainServer::create());
    const auto own = SEMEL_TRY(open(server.url));
    nlohmann::json values;
    {
        TimingSink sink;
        LocalDoorbell bell;
        const auto relay = SEMEL_TRY(Relay::create(*own.database, sink, bell));
        relay->start();
        const auto polled = SEMEL_TRY(measure(*server.database, sink, settings.events, [&] { bell.ring(); }));
        report(values, "wakeup_polling", polled);
    }
    SEMEL_TRY(cdc::switch_to_cdc(*server.database, {.connection = server.url}, cdc::default_slot,
                                 Deadline::after(system_clock().now(), std::chrono::seconds(10))));
    TimingSink sink;
    auto feed = SEMEL_TRY(cdc::CdcFeed::create(*own.database, {.link = {.connection = server.url}}));
    const cdc::CdcFeed& streaming = *feed;
    const auto relay = SEMEL_TRY(Relay::create(*own.database, sink, std::move(feed)));
    relay->start();
    const Instant end = system_clock().now() + std::chrono::seconds(20);
    while (!streaming.report().streaming && system_clock().now() < end)
        std::ignore = system_clock().sleep(system_clock().now() + std::chrono::milliseconds(10), {});
    std::ignore = system_clock().sleep(system_clock().now() + std::chrono::seconds(1), {});
    const auto streamed = SEMEL_TRY(measure(*server.database, sink, settings.events, [] {}));
    report(values, "wakeup_cdc", streamed);
    if (!write(settings.settings(), {{"figures", values}})) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const auto settings =
        read_drain_settings(argc, argv, "From COMMIT to publish, idle", {.events = 1'000, .rounds = 1, .json = ""});
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "wakeup_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
