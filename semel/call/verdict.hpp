#pragma once

#include "semel/call/call.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace semel {

/// How patiently an outcome is sought.
struct AskPolicy {
    /// On top of the time at which a call is over: clocks tick differently, and packets take their time.
    Duration grace = std::chrono::seconds(5);
    /// How often the other side is asked in vain (or a keyed call repeated in vain) before a person is.
    std::int64_t asks_max = 5;
    friend constexpr bool operator==(const AskPolicy&, const AskPolicy&) = default;
};

/// What to do about a call that a handler asks for, given what the journal says.
enum class CallStep : std::uint8_t {
    perform,    ///< Nobody did: store the intent and make it.
    answer,     ///< It was done, or refused for good: give the stored answer.
    repeat,     ///< It may have been done, and the other side takes our key: make it again under the same one.
    query,      ///< It may have been done: ask the other side.
    too_early,  ///< It may be under way: wait until it is over for certain.
    person,     ///< Nobody can tell but a person.
};
[[nodiscard]] std::string_view name(CallStep) noexcept;

/// Without an idempotency key over there nothing that was once intended is ever made a second time: that the other
/// side knows nothing of it is no proof that it never will.
[[nodiscard]] CallStep next_step(const std::optional<Call>& found, const AskPolicy& policy) noexcept;

}  // namespace semel
