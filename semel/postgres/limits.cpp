#include "semel/postgres/limits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace semel::postgres {
namespace {

constexpr std::string_view limits_sql =
    "SELECT set_config('statement_timeout', $1, $5), set_config('lock_timeout', $2, $5), "
    "set_config('idle_in_transaction_session_timeout', $3, $5), "
    "set_config('client_connection_check_interval', $4, $5), set_config('DateStyle', 'ISO', $5), "
    // COMMIT tells only by a WARNING that it did not wait for the standby.
    "set_config('client_min_messages', 'warning', $5), "
    // A COMMIT that is answered before it is durable, or before the standby has it, promises nothing.
    "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN "
    "('off', 'local', 'remote_write') THEN 'on' ELSE current_setting('synchronous_commit') END, $5)";

/// Zero would mean no limit, and the server counts in 32 bits.
std::int64_t milliseconds(Duration duration) noexcept {
    const std::int64_t count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
    return std::clamp<std::int64_t>(count, 1, std::numeric_limits<std::int32_t>::max());
}

/// The next number of the form 2^n or 3 × 2^n.
std::int64_t rounded_up(std::int64_t number) noexcept {
    const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number)));
    const std::int64_t between = power / 4 * 3;
    return number <= between ? between : power;
}

}  // namespace

void Limits::add_to(Pipeline& pipeline, Reach reach) const {
    const std::array<Parameter, 5> parameters{statement, lock, idle_in_transaction, connection_check,
                                              reach == Reach::transaction};
    const Status added = pipeline.add(Step::limits, limits_sql, parameters);
    SEMEL_ASSERT(added);
}

Limits limits_of(const TransactionOptions& transaction, const ConnectOptions& connect, Deadline deadline, Instant now,
                 bool coarse) {
    std::int64_t remaining = std::numeric_limits<std::int32_t>::max();
    if (!deadline.is_never()) remaining = milliseconds(deadline.remaining(now));
    if (coarse) remaining = std::min<std::int64_t>(rounded_up(remaining), std::numeric_limits<std::int32_t>::max());
    return {.statement = std::min(milliseconds(transaction.statement_timeout), remaining),
            .lock = milliseconds(transaction.lock_timeout),
            .idle_in_transaction = milliseconds(connect.idle_in_transaction_timeout),
            .connection_check = milliseconds(connect.connection_check_interval)};
}

}  // namespace semel::postgres
