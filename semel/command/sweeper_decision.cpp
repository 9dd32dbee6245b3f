#include "semel/command/sweeper_decision.hpp"

#include <algorithm>
#include <array>

namespace semel {

std::string_view name(SweepAction action) noexcept {
    constexpr std::array<std::string_view, 4> names{"run", "wait", "fail", "reconcile"};
    return names.at(static_cast<std::size_t>(action));
}

SweepDecision decide(std::int64_t attempts, bool wrote, std::span<const Call> calls, std::int64_t attempts_max,
                     const AskPolicy& policy) {
    Duration wait{};
    const Call* hopeless = nullptr;
    bool outside = wrote;
    for (const Call& call : calls) {
        outside = outside || call.status != CallStatus::failed;
        const CallStep step = next_step(call, policy);
        if (step == CallStep::too_early) wait = std::max(wait, call.ends_in + policy.grace);
        if (step == CallStep::person && hopeless == nullptr) hopeless = &call;
    }
    if (wait > Duration::zero())
        return {.action = SweepAction::wait, .wait = wait, .reason = "a call may still be under way"};
    if (hopeless != nullptr)
        return {.action = SweepAction::reconcile,
                .reason = "only a person can find out what became of the call " + hopeless->name + " to " +
                          hopeless->integration};
    if (attempts < attempts_max) return {};
    if (outside)
        return {.action = SweepAction::reconcile,
                .reason = "it was begun " + std::to_string(attempts) +
                          " times without coming to an end, and something of it has happened"};
    return {.action = SweepAction::fail,
            .reason = "it was begun " + std::to_string(attempts) + " times without coming to an end"};
}

}  // namespace semel
