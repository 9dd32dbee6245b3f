#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/policy.hpp"

#include <cstddef>
#include <cstdint>

namespace semel {

/// How a consumer works.
struct ConsumerRules {
    /// Messages handled at once, each on a thread and a session of its own. What people ask to be redriven is handled on one
    /// thread and session more.
    std::size_t workers = 4;
    /// Messages held at once, those being handled included. At this many the source is paused, until half of them are
    /// done.
    std::size_t held_max = 256;
    /// A message is parked when so many attempts were begun and none succeeded. Failures that are not its own (the
    /// database is away, a dependency asks for less) do not count.
    std::int32_t attempts_max = 5;
    /// Delays before a message is tried again, and before anything is tried after the database was away.
    PolicySpec backoff{.base = std::chrono::milliseconds(100), .cap = std::chrono::minutes(1), .jitter = Jitter::equal};
    /// Longest wait for messages in one call of the source, so that it is called again and again.
    Duration poll = std::chrono::seconds(1);
    /// How often it is looked whether a person has asked for a parked message to be handled once more.
    Duration redrive_poll = std::chrono::seconds(2);
};

/// An Error (`rejected`) names what cannot work.
[[nodiscard]] Status check(const ConsumerRules& rules);

/// Whether a failure says something about the message, and so counts as one of its attempts.
[[nodiscard]] bool blames_message(const Error& error) noexcept;
/// Whether a failure says that nothing can be handled for now, whatever the message.
[[nodiscard]] bool stops_everything(const Error& error) noexcept;

}  // namespace semel
