#pragma once

#include "semel/base/result.hpp"
#include "semel/nats/link.hpp"
#include "semel/nats/source.hpp"

#include <cstdint>

namespace semel::nats {

/// What a consumer has delivered.
struct DurableView {
    std::uint64_t newest = 0;         ///< The last sequence in the stream.
    std::int64_t unacknowledged = 0;  ///< Up to there.
};

/// The consumer of a source is there afterwards, as the options want it. Rejected: there is no such stream or consumer, or it
/// is of another kind.
[[nodiscard]] Result<DurableView> find_or_make_durable(const Link& link, const NatsSourceOptions& options);

}  // namespace semel::nats
