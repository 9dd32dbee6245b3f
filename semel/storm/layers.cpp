#include "semel/storm/layers.hpp"

#include "semel/base/random.hpp"
#include "semel/retry/schedule.hpp"

namespace semel::storm {
namespace {

std::uint64_t call(const LayersModel& model, const Policy& policy, std::uint32_t layer, Random& random) {
    if (layer == model.layers) return 1;
    const RetryOwner owner = model.one_owner && layer > 0 ? RetryOwner::outer : RetryOwner::here;
    Schedule schedule(policy, Instant(), Deadline::never(), owner);
    Error away;
    away.fault = Fault::unavailable;
    std::uint64_t calls = 0;
    do {
        calls += call(model, policy, layer + 1, random);
    } while (schedule.on_failure(away, Repeat::safe, Instant(), nullptr, nullptr, random).retry());
    return calls;
}

}  // namespace

std::uint64_t calls_at_the_end(const LayersModel& model) {
    PolicySpec spec;
    spec.attempts = model.attempts;
    SeededRandom random(1);
    return call(model, Policy::create(spec).value(), 0, random);
}

}  // namespace semel::storm
