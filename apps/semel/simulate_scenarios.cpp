#include "apps/semel/simulate.hpp"
#include "semel/storm/contention.hpp"
#include "semel/storm/layers.hpp"
#include "semel/storm/overload.hpp"
#include "semel/storm/shedding.hpp"

#include <algorithm>
#include <optional>

namespace semel::app {
namespace {

using storm::Curve;

/// One way to wait after a conflict.
struct WayToWait {
    const char* name;
    std::optional<Jitter> jitter;
};

Show play_jitter(const SimulateArguments& arguments) {
    const WayToWait ways[] = {{"no delay", std::nullopt},
                              {"exponential", Jitter::none},
                              {"decorrelated", Jitter::decorrelated},
                              {"equal", Jitter::equal},
                              {"full", Jitter::full}};
    Show show{.lesson = "Clients that failed together come back together, unless chance spreads them.",
              .outlooks = {},
              .chart = {.title = "Writes to one row", .x_name = "seconds", .y_name = "writes in 0.1 s", .curves = {}}};
    for (const WayToWait& way : ways) {
        storm::ContentionModel model;
        model.clients = arguments.clients == 0 ? 1000 : arguments.clients;
        if (way.jitter) model.policy = storm::published_policy(*way.jitter);
        double calls = 0;
        double seconds = 0;
        Curve curve{.name = way.name, .points = {}};
        for (std::uint32_t i = 0; i < arguments.runs; ++i) {
            const auto one = storm::run(model, arguments.seed + i);
            calls += static_cast<double>(one.calls) / arguments.runs;
            seconds += std::chrono::duration<double>(one.completion).count() / arguments.runs;
            // The first minute tells enough; what waits without jitter goes on for much longer.
            for (std::size_t at = 0; i == 0 && at < std::min<std::size_t>(one.by_time.size(), 600); ++at)
                curve.points.push_back({.x = static_cast<double>(at) / 10, .y = static_cast<double>(one.by_time[at])});
        }
        show.outlooks.push_back({.name = way.name,
                                 .figures = {{"writes", calls},
                                             {"writes for each client", calls / model.clients},
                                             {"seconds until all are done", seconds}}});
        show.chart.curves.push_back(std::move(curve));
    }
    return show;
}

Show play_bucket(const SimulateArguments& arguments) {
    struct Way {
        const char* name;
        std::uint32_t attempts;
        std::optional<storm::Bucket> bucket;
    };
    const Way ways[] = {
        {"no retry", 1, std::nullopt}, {"three retries", 4, std::nullopt}, {"bucket", 4, storm::Bucket{}}};
    Show show{.lesson = "Fixed retries multiply the load when most calls fail; a bucket keeps it bounded.",
              .outlooks = {},
              .chart = {.title = "Load by failure rate",
                        .x_name = "failure rate",
                        .y_name = "attempts for each call",
                        .curves = {}}};
    for (const Way& way : ways) {
        storm::SheddingModel model{.attempts = way.attempts, .bucket = way.bucket};
        if (arguments.clients != 0) model.clients = arguments.clients;
        const auto half = storm::run(model, arguments.seed);
        show.outlooks.push_back(
            {.name = way.name,
             .figures = {{"success at failure rate 0.5", half.success}, {"attempts for each call", half.load}}});
        Curve curve{.name = way.name, .points = {}};
        for (int percent = 0; percent <= 100; percent += 5) {
            model.failure_rate = percent / 100.0;
            curve.points.push_back({.x = model.failure_rate, .y = storm::run(model, arguments.seed).load});
        }
        show.chart.curves.push_back(std::move(curve));
    }
    return show;
}

Show play_layers(const SimulateArguments& /*arguments*/) {
    Show show{
        .lesson = "Retries in every layer multiply; one owner of the retries makes as many calls as it has attempts.",
        .outlooks = {},
        .chart = {.title = "Calls at the end for one call at the front",
                  .x_name = "layers",
                  .y_name = "calls",
                  .curves = {}}};
    for (const bool one_owner : {false, true}) {
        const char* name = one_owner ? "one owner" : "every layer retries";
        Curve curve{.name = name, .points = {}};
        for (std::uint32_t layers = 1; layers <= 4; ++layers)
            curve.points.push_back(
                {.x = static_cast<double>(layers),
                 .y = static_cast<double>(storm::calls_at_the_end({.layers = layers, .one_owner = one_owner}))});
        show.outlooks.push_back({.name = name, .figures = {{"calls with four layers", curve.points.back().y}}});
        show.chart.curves.push_back(std::move(curve));
    }
    return show;
}

/// Plays one model with several ways to retry, and draws how many calls were answered in time.
Show play_overload(const SimulateArguments& arguments, const storm::OverloadModel& model, double since) {
    const BudgetSpec ten_percent{.retry_percent = 10, .floor_per_second = 0};
    storm::OverloadModel once = model;
    once.attempts = 1;
    storm::OverloadModel backing_off = model;
    backing_off.policy = PolicySpec{
        .base = std::chrono::seconds(1), .cap = std::chrono::seconds(10), .throttled_base = std::chrono::seconds(1)};
    storm::OverloadModel budgeted = model;
    budgeted.budget = ten_percent;
    storm::OverloadModel careful = budgeted;
    careful.breaker = BreakerSpec{};
    const std::pair<const char*, storm::OverloadModel> ways[] = {{"no retry", once},
                                                                 {"at once", model},
                                                                 {"full jitter", backing_off},
                                                                 {"budget", budgeted},
                                                                 {"budget, breaker", careful}};
    Show show{.lesson = {},
              .outlooks = {},
              .chart = {.title = {}, .x_name = "seconds", .y_name = "calls answered in 1 s", .curves = {}}};
    for (const auto& [name, way] : ways) {
        double collapsed = 0;
        double success = 0;
        double recovery = 0;
        Curve curve{.name = name, .points = {}};
        for (std::uint32_t i = 0; i < arguments.runs; ++i) {
            const auto one = storm::run(way, arguments.seed + i);
            collapsed += one.collapsed() ? 100.0 / arguments.runs : 0;
            success += one.success_at_the_end() / arguments.runs;
            const auto back = one.recovered_after(since);
            recovery += (static_cast<double>(back.value_or(one.seconds.size())) - since) / arguments.runs;
            for (std::size_t at = 0; i == 0 && at < one.seconds.size(); ++at)
                curve.points.push_back(
                    {.x = static_cast<double>(at), .y = static_cast<double>(one.seconds[at].successes)});
        }
        show.outlooks.push_back({.name = name,
                                 .figures = {{"runs that collapse, %", collapsed},
                                             {"success at the end", success},
                                             {"seconds until it is back", recovery}}});
        show.chart.curves.push_back(std::move(curve));
    }
    return show;
}

Show play_metastable(const SimulateArguments& arguments) {
    const storm::OverloadModel model;
    Show show = play_overload(arguments, model, model.spike.to);
    show.lesson = "A spike of five seconds can last for ever when what timed out is asked again; a budget ends it.";
    show.chart.title = "40 calls a second, 80 from second 20 to 25";
    return show;
}

Show play_recovery(const SimulateArguments& arguments) {
    storm::OverloadModel model;
    model.spike = {};
    model.outage = {.from = 20, .to = 40};
    Show show = play_overload(arguments, model, model.outage.to);
    show.lesson = "A server that comes back is met by everybody who waited; budget and breaker let it come back.";
    show.chart.title = "The server stands still from second 20 to 40";
    return show;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all{
        {"jitter", "1,000 clients change one row, with and without jitter", play_jitter},
        {"bucket", "token bucket against fixed retries", play_bucket},
        {"layers", "three attempts in each of four layers", play_layers},
        {"metastable", "a short spike that lasts for ever", play_metastable},
        {"recovery", "after an outage, with budget and breaker", play_recovery}};
    return all;
}

}  // namespace semel::app
