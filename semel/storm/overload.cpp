#include "semel/storm/overload.hpp"

#include "semel/base/random.hpp"
#include "semel/retry/schedule.hpp"
#include "semel/storm/chance.hpp"
#include "semel/storm/engine.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace semel::storm {
namespace {

/// One call of one client, as long as anything of it is under way.
struct Call {
    Schedule schedule;
    Breaker::Permit permit{};
    std::uint32_t attempt = 0;  ///< The one that is waited for.
    bool over = false;
};
using CallHandle = std::shared_ptr<Call>;

Error unanswered() {
    Error error;
    error.fault = Fault::unknown;
    error.cause.timeout = Timeout::read;
    return error;
}

class Overload {
public:
    Overload(const OverloadModel& model, std::uint64_t seed) : model_(model), random_(seed), policy_(policy_of(model)) {
        if (model.budget) budget_ = std::make_unique<Budget>(*model.budget);
        if (model.breaker) breaker_ = std::make_unique<Breaker>(*model.breaker);
        result_.seconds.resize(static_cast<std::size_t>(std::ceil(model.seconds)));
    }

    OverloadResult run() {
        arrive();
        for (std::size_t second = 0; second < result_.seconds.size(); ++second)
            engine_.after(std::chrono::seconds(second + 1) - Duration(1),
                          [this, second] { result_.seconds[second].concurrent = concurrent_; });
        engine_.run(Instant() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(model_.seconds)));
        return std::move(result_);
    }

private:
    static Policy policy_of(const OverloadModel& model) {
        PolicySpec spec = model.policy.value_or(
            PolicySpec{.base = Duration(1), .cap = Duration(1), .throttled_base = Duration(1), .jitter = Jitter::none});
        spec.attempts = model.attempts;
        spec.elapsed = std::chrono::hours(1);
        return Policy::create(spec).value();
    }

    OverloadSecond* second() {
        const auto place = static_cast<std::size_t>(engine_.seconds());
        return place < result_.seconds.size() ? &result_.seconds[place] : nullptr;
    }
    void count(std::uint32_t OverloadSecond::* what) {
        if (OverloadSecond* now = second()) ++(now->*what);
    }

    /// Calls know nothing of each other.
    void arrive() {
        const bool spike = model_.spike.holds(engine_.seconds());
        const double rate = spike ? model_.spike_calls_per_second : model_.calls_per_second;
        const Duration mean = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate));
        engine_.after(exponential(mean, random_), [this] {
            begin();
            arrive();
        });
    }

    void begin() {
        count(&OverloadSecond::calls);
        if (budget_) budget_->on_attempt(engine_.now());
        send(std::make_shared<Call>(Call{.schedule = Schedule(policy_, engine_.now())}));
    }

    void send(const CallHandle& call) {
        if (breaker_) {
            call->permit = breaker_->acquire(engine_.now());
            if (!call->permit) return;
        }
        count(&OverloadSecond::attempts);
        const std::uint32_t attempt = ++call->attempt;
        engine_.after(exponential(model_.leg, random_), [this, call, attempt] { serve(call, attempt); });
        engine_.after(model_.timeout, [this, call, attempt] {
            if (!call->over && call->attempt == attempt) failed(call);
        });
    }

    /// How long the server goes on standing still.
    [[nodiscard]] Duration standstill() const {
        if (!model_.outage.holds(engine_.seconds())) return Duration::zero();
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(model_.outage.to - engine_.seconds()));
    }

    void serve(const CallHandle& call, std::uint32_t attempt) {
        ++concurrent_;
        engine_.after(standstill() + model_.latency + concurrent_ * model_.latency_each, [this, call, attempt] {
            --concurrent_;
            engine_.after(exponential(model_.leg, random_), [this, call, attempt] { answered(call, attempt); });
        });
    }

    void answered(const CallHandle& call, std::uint32_t attempt) {
        if (call->over || call->attempt != attempt) return;
        call->over = true;
        call->permit.succeeded();
        count(&OverloadSecond::successes);
    }

    void failed(const CallHandle& call) {
        const Error error = unanswered();
        call->permit.failed(error, engine_.now());
        // A late answer to what was given up is of no use.
        ++call->attempt;
        const Decision decision =
            call->schedule.on_failure(error, Repeat::safe, engine_.now(), budget_.get(), breaker_.get(), random_);
        if (!decision.retry()) {
            call->over = true;
            return;
        }
        engine_.after(decision.delay, [this, call] { send(call); });
    }

    OverloadModel model_;
    SeededRandom random_;
    Policy policy_;
    Engine engine_;
    std::unique_ptr<Budget> budget_;
    std::unique_ptr<Breaker> breaker_;
    std::uint32_t concurrent_ = 0;
    OverloadResult result_;
};

}  // namespace

OverloadResult run(const OverloadModel& model, std::uint64_t seed) { return Overload(model, seed).run(); }

double OverloadResult::success_at_the_end() const noexcept {
    std::uint64_t calls = 0;
    std::uint64_t successes = 0;
    for (std::size_t second = seconds.size() * 3 / 4; second < seconds.size(); ++second) {
        calls += seconds[second].calls;
        successes += seconds[second].successes;
    }
    return calls == 0 ? 0 : static_cast<double>(successes) / static_cast<double>(calls);
}

std::optional<std::size_t> OverloadResult::recovered_after(double since) const noexcept {
    constexpr std::size_t window = 10;
    std::optional<std::size_t> found;
    for (std::size_t second = seconds.size() - std::min(window, seconds.size()) + 1;
         second-- > static_cast<std::size_t>(since);) {
        std::uint64_t calls = 0;
        std::uint64_t successes = 0;
        for (std::size_t at = second; at < second + window; ++at) {
            calls += seconds[at].calls;
            successes += seconds[at].successes;
        }
        if (successes * 5 < calls * 4) break;
        found = second;
    }
    return found;
}

}  // namespace semel::storm
