// How a feed comes to stream, stays the one who does, and stops.

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/cdc/feed_state.hpp"
#include "semel/outbox/append.hpp"

#include <algorithm>
#include <utility>

namespace semel::cdc {
namespace {

Error not_logical() {
    Error error;
    error.fault = Fault::rejected;
    error.message = "the server's log does not show changes: wal_level is not logical";
    error.cause.hint = "set wal_level = logical and restart the server, or switch the outbox back to polling";
    return error;
}

Error not_published() {
    Error error;
    error.fault = Fault::rejected;
    error.message = "the publication semel_outbox does not show the inserts of semel.outbox_event";
    error.cause.hint =
        "switch the outbox to cdc once more, which mends it; what it did not show is then sent from the table";
    return error;
}

/// Looks again soon: it has nothing, and might.
Partitions::Tended standing_by() { return {.held = {}, .share = partition_count}; }

}  // namespace

Result<Partitions::Tended> CdcFeed::State::tend(Deadline deadline) {
    auto tended = tend_stream(deadline);
    // A server that shuts down waits for whoever streams, until all that it sent was confirmed; it answers nobody else by
    // then. What is not settled comes again.
    if (!tended && tended.error().fault != Fault::rejected) close();
    return tended;
}

Result<Partitions::Tended> CdcFeed::State::tend_stream(Deadline deadline) {
    const FeedState state = SEMEL_TRY(control_.look(deadline));
    if (state.mode == Mode::polling) {
        SEMEL_TRY(stand_aside(state, deadline));
        return standing_by();
    }
    said_standing_by_ = false;
    if (!state.log_is_logical) return fail(not_logical());
    if (!state.publication_now) return fail(not_published());
    // A slot that was dropped under a stream, or a publication that was made anew, is noticed here at the latest.
    if (link_ && !state.slot_is_sound()) close();
    if (!link_ && !SEMEL_TRY(open(state, deadline))) return standing_by();
    auto owned = SEMEL_TRY(control_.own(window_.low_water(), window_.confirmed(), took_, deadline));
    SEMEL_FAILPOINT("cdc.owned");
    if (!owned) {
        close();
        return standing_by();
    }
    took_ = false;
    streaming_ = true;
    if (const Status alive = link_->confirm(window_.confirmed()); !alive) {
        close();
        return fail(alive.error());
    }
    SEMEL_TRY(turn(state, deadline));
    if (!link_) return standing_by();
    // More than there is, so that it is asked again soon: it waits for transactions to end.
    if (state.mode == Mode::leaving) owned->share = partition_count + 1;
    return *std::move(owned);
}

Result<bool> CdcFeed::State::open(const FeedState& state, Deadline deadline) {
    if (!state.slot_is_sound() || maker_ || made_) return make(state, deadline);
    if (state.slot_active) return false;
    Link link = SEMEL_TRY(Link::connect(options_.link, database_->clock(), deadline));
    // What this relay remembers of another history says nothing about this one.
    if (std::exchange(history_, state.history) != state.history) window_ = Window(window_.next());
    const Lsn from = std::max(state.confirmed, window_.confirmed());
    if (SEMEL_TRY(link.start(state.slot, from, deadline)) == Link::Started::busy) return false;
    SEMEL_FAILPOINT("cdc.started");
    link_.emplace(std::move(link));
    window_.restart();
    window_.start_at(from);
    relations_.clear();
    held_.clear();
    hold_all_ = false;
    phase_ = state.mode == Mode::leaving ? Phase::leaving : Phase::draining;
    took_ = true;
    bell.ring();
    return true;
}

Result<bool> CdcFeed::State::make(const FeedState& state, Deadline deadline) {
    if (!SEMEL_TRY(control_.claim(deadline))) {
        // Another makes it; what was begun here counts no more.
        maker_.reset();
        made_.reset();
        return false;
    }
    if (state.made) {
        maker_.reset();
        made_.reset();
        if (!SEMEL_MUTANT("cdc.loss_not_noted")) SEMEL_TRY(control_.lose(deadline));
        SEMEL_FAILPOINT("cdc.lost");
        ++slots_lost_;
        log(LogLevel::error,
            "relay: the slot " + state.slot + " is lost; a new one is made, and what may not have left is sent again");
    }
    if (!made_) {
        if (!maker_) {
            if (state.slot_exists) SEMEL_TRY(control_.drop_slot(state.slot, deadline));
            maker_.emplace(SEMEL_TRY(Link::connect(options_.link, database_->clock(), deadline)));
        }
        auto slot = maker_->make_slot(state.slot, deadline);
        // The server waits for transactions that are open; so do we, and go on when we are asked again.
        if (slot && !*slot) return false;
        maker_.reset();
        made_ = SEMEL_TRY(std::move(slot));
        SEMEL_FAILPOINT("cdc.slot_made");
    }
    if (!SEMEL_TRY(control_.all_visible(made_->snapshot, deadline))) return false;
    const FeedControl::Beginning from{
        .start = made_->start, .snapshot = made_->snapshot, .restored = !state.same_server()};
    const std::int64_t copied = SEMEL_TRY(control_.begin(state, from));
    SEMEL_FAILPOINT("cdc.begun");
    made_.reset();
    backfilled_ += static_cast<std::uint64_t>(copied);
    history_.clear();
    log(LogLevel::info,
        "relay: streams from " + from.start.text() + "; " + std::to_string(copied) + " events are sent from the table");
    FeedState begun = state;
    begun.confirmed = from.start;
    begun.made = true;
    begun.slot_exists = true;
    begun.slot_active = false;
    begun.slot_lost = false;
    begun.history = begun.history_now;
    begun.publication = begun.publication_now.value_or(0);
    return open(begun, deadline);
}

Status CdcFeed::State::turn(const FeedState& state, Deadline deadline) {
    if (state.mode == Mode::cdc) {
        if (state.streamed) return {};
        SEMEL_TRY(control_.flip(true, deadline));
        SEMEL_FAILPOINT("cdc.turned");
        return {};
    }
    // From now on no pending row is looked at: one of those that come may be younger than what the log still has.
    phase_ = Phase::leaving;
    if (state.streamed || !state.flip) {
        SEMEL_TRY(control_.flip(false, deadline));
        SEMEL_FAILPOINT("cdc.turned_back");
        return {};
    }
    const std::uint64_t low_water = window_.low_water().value_or(0);
    if (low_water < *state.flip && !SEMEL_MUTANT("cdc.end_early")) return {};
    SEMEL_TRY(control_.end(low_water, deadline));
    SEMEL_FAILPOINT("cdc.ended");
    close();
    log(LogLevel::info, "relay: everything has left the log; the outbox is polled from now on");
    return control_.drop_leftover(deadline);
}

Status CdcFeed::State::stand_aside(const FeedState& state, Deadline deadline) {
    close();
    if (!std::exchange(said_standing_by_, true))
        log(LogLevel::info, "relay: the outbox is polled; stands by until it is switched to cdc");
    if (state.slot_exists && !state.slot_active) return control_.drop_leftover(deadline);
    return {};
}

void CdcFeed::State::close() noexcept {
    link_.reset();
    window_.restart();
    streaming_ = false;
    took_ = false;
}

Status CdcFeed::State::leave(Deadline deadline) {
    confirm();
    maker_.reset();
    made_.reset();
    close();
    return control_.leave(deadline);
}

}  // namespace semel::cdc
