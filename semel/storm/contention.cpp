#include "semel/storm/contention.hpp"

#include "semel/base/random.hpp"
#include "semel/retry/schedule.hpp"
#include "semel/storm/chance.hpp"
#include "semel/storm/engine.hpp"

#include <algorithm>

namespace semel::storm {
namespace {

constexpr Duration count_every = std::chrono::milliseconds(100);

Error conflict() {
    Error error;
    error.fault = Fault::conflict;
    return error;
}

class Contention {
public:
    Contention(const ContentionModel& model, std::uint64_t seed)
        : model_(model),
          random_(seed),
          policy_(model.policy ? Policy::create(*model.policy).value() : Policy()),
          schedules_(model.clients, Schedule(policy_, Instant())) {}

    ContentionResult run() {
        for (std::uint32_t client = 0; client < model_.clients; ++client) read(client);
        engine_.run();
        return std::move(result_);
    }

private:
    Duration leg() { return half_normal(model_.leg, model_.leg_deviation, random_); }

    void read(std::uint32_t client) {
        engine_.after(leg(), [this, client] {
            const std::uint64_t seen = version_;
            engine_.after(
                leg(), [this, client, seen] { engine_.after(leg(), [this, client, seen] { write(client, seen); }); });
        });
    }

    void write(std::uint32_t client, std::uint64_t seen) {
        ++result_.calls;
        const auto place = static_cast<std::size_t>(engine_.now().time_since_epoch() / count_every);
        if (result_.by_time.size() <= place) result_.by_time.resize(place + 1);
        ++result_.by_time[place];
        const bool done = seen == version_;
        if (done) ++version_;
        engine_.after(leg(), [this, client, done] { answered(client, done); });
    }

    void answered(std::uint32_t client, bool done) {
        if (done) {
            result_.completion = std::max(result_.completion, engine_.now().time_since_epoch());
            return;
        }
        if (!model_.policy) return read(client);
        const Decision decision =
            schedules_[client].on_failure(conflict(), Repeat::safe, engine_.now(), nullptr, nullptr, random_);
        SEMEL_ASSERT(decision.retry() && "the policies of this model go on until everybody is done");
        engine_.after(decision.delay, [this, client] { read(client); });
    }

    ContentionModel model_;
    SeededRandom random_;
    Policy policy_;
    Engine engine_;
    std::vector<Schedule> schedules_;
    std::uint64_t version_ = 0;
    ContentionResult result_;
};

}  // namespace

ContentionResult run(const ContentionModel& model, std::uint64_t seed) { return Contention(model, seed).run(); }

PolicySpec published_policy(Jitter jitter) {
    PolicySpec spec;
    spec.attempts = Policy::attempts_max;
    spec.elapsed = Policy::elapsed_max;
    spec.base = std::chrono::milliseconds(jitter == Jitter::decorrelated ? 5 : 10);
    spec.cap = std::chrono::seconds(2);
    spec.throttled_base = spec.base;
    spec.jitter = jitter;
    return spec;
}

}  // namespace semel::storm
