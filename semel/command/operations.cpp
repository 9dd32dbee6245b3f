#include "semel/command/operations.hpp"

#include <algorithm>

namespace semel {

Status Operations::add(std::string_view name, LeasedHandler handler, const LeasedOptions& options) {
    SEMEL_TRY(Operation::of(name));
    const std::string where = "operation " + std::string(name) + ": ";
    if (!handler) return fail(Fault::rejected, where + "it has no handler");
    if (find(name) != nullptr) return fail(Fault::rejected, where + "it has a handler already");
    if (options.lease < std::chrono::milliseconds(1)) return fail(Fault::rejected, where + "its lease is too short");
    if (options.retention <= Duration::zero()) return fail(Fault::rejected, where + "its replies must be kept");
    if (options.attempts_max < 1) return fail(Fault::rejected, where + "it needs at least one attempt");
    if (options.ask.grace < Duration::zero() || options.ask.asks_max < 1)
        return fail(Fault::rejected,
                    where + "the other side must be asked at least once, after a grace of zero or more");
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
