#pragma once

#include "semel/call/verdict.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace semel {

/// What the sweeper does with a command whose lease ran out.
enum class SweepAction : std::uint8_t {
    run,        ///< Begin the handler anew: its calls ask the other side first.
    wait,       ///< A call may still be under way: keep others away until it is over.
    fail,       ///< It had its attempts, and nothing outside happened.
    reconcile,  ///< Only a person can tell.
};
[[nodiscard]] std::string_view name(SweepAction) noexcept;

struct SweepDecision {
    SweepAction action = SweepAction::run;
    Duration wait{};       ///< By the database's clock, from when the calls were read.
    std::string reason{};  ///< For people.
};

/// The decision, from what the record and the journal say. Pure: times come in with the calls, relative to when they
/// were read.
[[nodiscard]] SweepDecision decide(std::int64_t attempts, bool wrote, std::span<const Call> calls,
                                   std::int64_t attempts_max, const AskPolicy& policy);

}  // namespace semel
