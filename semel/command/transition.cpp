#include "semel/command/transition.hpp"

namespace semel {

std::string_view name(Applied applied) noexcept {
    switch (applied) {
        case Applied::applied: return "applied";
        case Applied::already_applied: return "already_applied";
        case Applied::stale: return "stale";
        case Applied::invalid: return "invalid";
        case Applied::missing: return "missing";
    }
    SEMEL_ASSERT(false && "an Applied outside its enumeration");
}

Result<Applied> interpret(const GuardedTransition& transition, std::int64_t updated,
                          const std::optional<FoundState>& found) {
    if (updated == 1) return Applied::applied;
    if (updated != 0)
        return fail(Fault::broken, "a guarded transition changed " + std::to_string(updated) + " rows instead of one");
    if (!found) return Applied::missing;
    const auto& expected = transition.expected_version;
    if (found->state == transition.to && expected && found->version > 0 && found->version - 1 == *expected)
        return Applied::already_applied;
    if (expected && found->version != *expected) return Applied::stale;
    if (std::ranges::find(transition.from, found->state) == transition.from.end()) return Applied::invalid;
    // The guard held when it was read and not when it was written: it changed in between.
    return Applied::stale;
}

}  // namespace semel
