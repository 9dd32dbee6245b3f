// What becomes of what a feed gave out.

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/cdc/feed_state.hpp"

namespace semel::cdc {
namespace {

/// A settlement in two: what concerns pending rows, and what concerns the log.
struct SplitSettlement {
    Settlement rows;                          ///< Also what becomes a pending row.
    std::vector<std::int64_t> acknowledged;   ///< Numbers of the window.
    std::vector<FeedControl::Copied> copied;  ///< What becomes a pending row.
    std::vector<std::int64_t> held;           ///< Aggregates that wait from now on.
};

/// Whether there is something to write for it. What is of a stream that has ended comes again.
bool notes(std::int64_t id, bool waits, const Window& window, SplitSettlement& split) {
    if (id >= 0) return true;
    const WindowEvent* event = window.find(-id);
    if (event == nullptr) return false;
    split.copied.push_back({.number = id,
                            .event = event->id,
                            .position = event->position,
                            .aggregate = event->aggregate,
                            .partition = event->partition});
    if (waits) split.held.push_back(event->aggregate);
    return true;
}

SplitSettlement split(const Settlement& settlement, const Window& window) {
    SplitSettlement split;
    for (const PendingRow& one : settlement.acknowledged) {
        if (one.id < 0)
            split.acknowledged.push_back(-one.id);
        else
            split.rows.acknowledged.push_back(one);
    }
    for (const Failure& one : settlement.failures)
        if (notes(one.row.id, true, window, split)) split.rows.failures.push_back(one);
    for (const Parking& one : settlement.parked)
        if (notes(one.row.id, one.blocks, window, split)) split.rows.parked.push_back(one);
    return split;
}

}  // namespace

Status CdcFeed::State::settle(const Settlement& settlement, Deadline deadline) {
    const SplitSettlement parts = split(settlement, window_);
    if (!parts.copied.empty()) {
        if (const Status settled = control_.settle(parts.rows, parts.copied, pending_, deadline); !settled) {
            // Another streams: what concerns the log comes again, from there or from here.
            if (settled.error().fault == Fault::rejected) close();
            return settled;
        }
        SEMEL_FAILPOINT("cdc.set_aside");
        diverted_ += parts.copied.size();
        held_.insert(parts.held.begin(), parts.held.end());
    } else if (!parts.rows.empty()) {
        SEMEL_TRY(pending_.settle(parts.rows, deadline));
    }
    // What has left may have been what others waited behind.
    if (!parts.rows.acknowledged.empty() && !held_.empty()) pending_due_ = now();
    for (const std::int64_t one : parts.acknowledged) window_.settle(one);
    for (const FeedControl::Copied& one : parts.copied) window_.settle(-one.number);
    if (parts.acknowledged.empty()) return {};
    SEMEL_FAILPOINT("cdc.before_confirm");
    confirm();
    SEMEL_FAILPOINT("cdc.after_confirm");
    return {};
}

void CdcFeed::State::confirm() {
    if (!link_ || window_.confirmed() == told_) return;
    told_ = window_.confirmed();
    confirmed_ = told_.value;
    if (const Status told = link_->confirm(told_); !told) {
        log(LogLevel::warning, "relay: " + told.error().describe());
        close();
    }
}

}  // namespace semel::cdc
