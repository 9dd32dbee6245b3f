#include "semel/storm/shedding.hpp"

#include "semel/base/random.hpp"
#include "semel/retry/schedule.hpp"
#include "semel/storm/chance.hpp"

#include <algorithm>

namespace semel::storm {
namespace {

Error away() {
    Error error;
    error.fault = Fault::unavailable;
    return error;
}

/// What one client has saved up.
class Purse {
public:
    explicit Purse(const std::optional<Bucket>& bucket) : bucket_(bucket), left_(bucket ? bucket->size : 0) {}

    void first_try() {
        if (bucket_) left_ = std::min(bucket_->size, left_ + bucket_->per_first_try);
    }
    [[nodiscard]] bool spend() {
        if (!bucket_) return true;
        if (left_ <= 1) return false;
        left_ -= 1;
        return true;
    }

private:
    std::optional<Bucket> bucket_;
    double left_;
};

}  // namespace

SheddingResult run(const SheddingModel& model, std::uint64_t seed) {
    SeededRandom random(seed);
    PolicySpec spec;
    spec.attempts = model.attempts;
    spec.base = std::chrono::nanoseconds(1);
    spec.throttled_base = spec.base;
    spec.cap = spec.base;
    const Policy policy = Policy::create(spec).value();
    const std::uint64_t calls_each = std::uint64_t{model.calls_per_second} * model.seconds;
    std::uint64_t succeeded = 0;
    std::uint64_t attempts = 0;
    for (std::uint32_t client = 0; client < model.clients; ++client) {
        Purse purse(model.bucket);
        for (std::uint64_t call = 0; call < calls_each; ++call) {
            purse.first_try();
            Schedule schedule(policy, Instant());
            for (bool again = true; again;) {
                ++attempts;
                const bool failed = uniform(random) < model.failure_rate;
                if (!failed) ++succeeded;
                again = failed &&
                        schedule.on_failure(away(), Repeat::safe, Instant(), nullptr, nullptr, random).retry() &&
                        purse.spend();
            }
        }
    }
    const auto calls = static_cast<double>(calls_each * model.clients);
    return {.success = static_cast<double>(succeeded) / calls, .load = static_cast<double>(attempts) / calls};
}

}  // namespace semel::storm
