#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/breaker.hpp"
#include "semel/retry/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace semel {

/// What becomes of an event that the sink refuses for good. Other aggregates go on in any case. One that was refused before
/// the other side was asked (`is_final`) is not tried again by any of them: `block` parks it.
enum class Poison : std::uint8_t {
    block,  ///< It is tried again for ever, and its aggregate waits behind it.
    park,   ///< It is set aside, and the later events of its aggregate behind it, in order, until a person decides.
    skip,   ///< It alone is set aside; its aggregate goes on without it.
};
[[nodiscard]] std::string_view name(Poison) noexcept;

/// How a relay works.
struct RelayRules {
    /// Events in one publish: what is read, held in memory and, after a crash, perhaps sent twice.
    std::size_t batch = 256;
    /// How long a partition stays with a relay that is not heard of. Renewed three times as often.
    Duration lease = std::chrono::seconds(30);
    /// Longest publish. Less than two thirds of the lease, so that there is time to renew it.
    Duration publish_limit = std::chrono::seconds(10);
    /// How often the outbox is looked at when nobody rings.
    Duration poll = std::chrono::seconds(1);
    /// Delays of an event that was not taken, of a sink and of a database that are away.
    PolicySpec backoff{.base = std::chrono::milliseconds(100), .cap = std::chrono::minutes(1), .jitter = Jitter::equal};
    BreakerSpec breaker;  ///< Of the sink.
    /// An event is set aside after so many attempts, if the last one was refused for good: what is refused today may be
    /// a topic that someone is about to make.
    std::int32_t attempts_max = 3;
    Poison poison = Poison::block;
    std::map<std::string, Poison, std::less<>> poison_of{};  ///< By type of aggregate, where it differs.

    [[nodiscard]] Poison poison_for(std::string_view aggregate_type) const;
};

/// An Error (`rejected`) names what cannot work.
[[nodiscard]] Status check(const RelayRules& rules);

}  // namespace semel
