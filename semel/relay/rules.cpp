#include "semel/relay/rules.hpp"

#include <array>

namespace semel {

std::string_view name(Poison poison) noexcept {
    constexpr std::array<std::string_view, 3> names{"block", "park", "skip"};
    return names.at(static_cast<std::size_t>(poison));
}

Poison RelayRules::poison_for(std::string_view aggregate_type) const {
    const auto found = poison_of.find(aggregate_type);
    return found == poison_of.end() ? poison : found->second;
}

Status check(const RelayRules& rules) {
    constexpr std::size_t batch_max = 10'000;
    const auto refuse = [](std::string message) { return fail(Fault::rejected, "relay: " + std::move(message)); };
    if (rules.batch < 1 || rules.batch > batch_max) return refuse("batch must be from 1 to 10,000");
    if (rules.lease < std::chrono::milliseconds(100) || rules.lease > std::chrono::hours(1))
        return refuse("lease must be from 100 ms to an hour");
    if (rules.publish_limit <= Duration::zero() || rules.publish_limit * 3 > rules.lease * 2)
        return refuse("publish_limit must be more than zero and at most two thirds of the lease");
    if (rules.poll <= Duration::zero()) return refuse("poll must be more than zero");
    if (rules.attempts_max < 1) return refuse("attempts_max must be at least 1");
    SEMEL_TRY(Policy::create(rules.backoff));
    SEMEL_TRY(Breaker::create(rules.breaker));
    return {};
}

}  // namespace semel
