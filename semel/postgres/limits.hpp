#pragma once

#include "semel/db/session.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/pipeline.hpp"

#include <cstdint>

namespace semel::postgres {

/// What the server is told about one transaction: how long it may take over things, in
/// milliseconds. Also the date style, because timestamps are read in one form only.
struct Limits {
    enum class Reach : std::uint8_t {
        transaction,  ///< Gone with it. The only kind that works through a pooler.
        session,      ///< Until the next change.
    };

    std::int64_t statement = 0;
    std::int64_t lock = 0;
    std::int64_t idle_in_transaction = 0;
    std::int64_t connection_check = 0;

    void add_to(Pipeline& pipeline, Reach reach) const;
    friend bool operator==(const Limits&, const Limits&) = default;
};

/// A statement may take as long as the option says or as the deadline leaves, whichever is less.
/// With `coarse` what the deadline leaves is rounded up to one of few values, so that limits kept
/// on a session seldom change; the deadline itself is kept by our own clock, to the millisecond.
[[nodiscard]] Limits limits_of(const TransactionOptions& transaction, const ConnectOptions& connect, Deadline deadline,
                               Instant now, bool coarse);

}  // namespace semel::postgres
