#include "semel/command/operations.hpp"

#include <algorithm>

namespace semel {

namespace {

bool in_bounds(Duration limit) noexcept { return limit >= Duration::zero() && limit <= limit_max; }

}  // namespace

Status Operations::add(std::string_view name, LeasedHandler handler, const LeasedOptions& options) {
    SEMEL_TRY(Operation::of(name));
    const std::string where = "operation " + std::string(name) + ": ";
    if (!handler) return fail(Fault::rejected, where + "it has no handler");
    if (find(name) != nullptr) return fail(Fault::rejected, where + "it has a handler already");
    if (options.lease < std::chrono::milliseconds(1)) return fail(Fault::rejected, where + "its lease is too short");
    if (options.lease > limit_max) return fail(Fault::rejected, where + "its lease is longer than 30 days");
    if (options.retention <= Duration::zero()) return fail(Fault::rejected, where + "its replies must be kept");
    if (options.attempts_max < 1) return fail(Fault::rejected, where + "it needs at least one attempt");
    if (options.ask.grace < Duration::zero() || options.ask.asks_max < 1)
        return fail(Fault::rejected,
                    where + "the other side must be asked at least once, after a grace of zero or more");
    const PolicySpec& backoff = options.backoff;
    if (!in_bounds(options.ask.grace) || !in_bounds(backoff.base) || !in_bounds(backoff.throttled_base) ||
        !in_bounds(backoff.cap) || !in_bounds(options.in_progress_wait))
        return fail(Fault::rejected, where + "its grace, delays and waits are from zero to 30 days");
    operations_.emplace(std::string(name), LeasedOperation{.handler = std::move(handler), .options = options});
    lease_max_ = std::max(lease_max_, options.lease);
    if (!names_.empty()) names_.push_back('\n');
    names_ += name;
    return {};
}

const LeasedOperation* Operations::find(std::string_view name) const {
    const auto found = operations_.find(name);
    return found == operations_.end() ? nullptr : &found->second;
}

}  // namespace semel
