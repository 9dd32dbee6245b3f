#include "semel/call/verdict.hpp"

#include "semel/base/mutant.hpp"

#include <array>

namespace semel {

std::string_view name(CallStep step) noexcept {
    constexpr std::array<std::string_view, 6> names{"perform", "answer", "repeat", "query", "too_early", "person"};
    return names.at(static_cast<std::size_t>(step));
}

CallStep next_step(const std::optional<Call>& found, const AskPolicy& policy) noexcept {
    if (!found) return CallStep::perform;
    switch (found->status) {
        case CallStatus::confirmed: return CallStep::answer;
        case CallStatus::failed: return found->may_retry ? CallStep::perform : CallStep::answer;
        case CallStatus::intended:
        case CallStatus::unknown: break;
    }
    if (found->ends_in > -policy.grace && !SEMEL_MUTANT("asked_too_early")) return CallStep::too_early;
    if (found->capability == Capability::neither || found->asks >= policy.asks_max) return CallStep::person;
    if (SEMEL_MUTANT("repeat_without_key")) return CallStep::repeat;
    return found->capability == Capability::takes_key ? CallStep::repeat : CallStep::query;
}

}  // namespace semel
