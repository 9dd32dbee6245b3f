// What a feed gives out: first what is pending, then what the log brings.

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/cdc/feed_state.hpp"

#include <algorithm>
#include <utility>

namespace semel::cdc {
namespace {

/// How often the server is asked whether there is a synchronous standby.
constexpr Duration replicated_known_for = std::chrono::seconds(1);
/// Messages of the log in one read, whatever they are: the lease must be tended in between.
constexpr std::size_t messages_max = 20'000;
/// The header of an envelope, in front of the message.
constexpr std::size_t envelope_bytes = 25;

/// An event of the log goes by a number below zero, so that no pending row can be meant.
PendingEvent pending_of(const WindowEvent& event) {
    return {.row = {.id = -event.number, .position = event.position, .partition = event.partition},
            .aggregate = event.aggregate};
}

}  // namespace

Result<PendingBatch> CdcFeed::State::read(std::span<const HeldPartition> partitions, std::size_t each,
                                          Deadline deadline) {
    if (!link_) {
        SEMEL_TRY(tend(deadline));
        if (!link_) return PendingBatch{};
    }
    if (phase_ == Phase::draining && SEMEL_MUTANT("cdc.stream_before_drain")) {
        phase_ = Phase::streaming;
        pending_due_ = now() + options_.poll;
    }
    if (phase_ == Phase::draining) return drain(partitions, each, deadline);
    const std::size_t limit = each * partitions.size();
    PendingBatch batch;
    if (phase_ == Phase::streaming && now() >= pending_due_)
        SEMEL_TRY(look_at_pending(partitions, each, batch, deadline));
    const std::size_t room = limit - std::min(limit, batch.events.size());
    if (const Status received = receive(room); !received) {
        close();
        return fail(received.error());
    }
    SEMEL_TRY(give_out(room, batch, deadline));
    if (!batch.events.empty()) SEMEL_TRY(wait_for_standby(deadline));
    confirm();
    return batch;
}

Result<PendingBatch> CdcFeed::State::drain(std::span<const HeldPartition> partitions, std::size_t each,
                                           Deadline deadline) {
    PendingBatch batch = SEMEL_TRY(pending_.read(partitions, each, deadline));
    if (!batch.events.empty()) {
        if (batch.replicated) SEMEL_TRY(barrier_.pass(deadline));
        return batch;
    }
    // What is left waits for its next attempt, or is parked: what follows it in the log will wait behind it.
    SEMEL_TRY(look_at_held(deadline));
    phase_ = Phase::streaming;
    pending_due_ = now() + options_.poll;
    bell.ring();
    return batch;
}

Status CdcFeed::State::look_at_pending(std::span<const HeldPartition> partitions, std::size_t each, PendingBatch& batch,
                                       Deadline deadline) {
    batch = SEMEL_TRY(pending_.read(partitions, each, deadline));
    pending_due_ = now() + options_.poll;
    if (batch.events.size() >= each) pending_due_ = now();
    if (held_.empty() && !hold_all_ && batch.events.empty()) return {};
    return look_at_held(deadline);
}

Status CdcFeed::State::look_at_held(Deadline deadline) {
    auto held = SEMEL_TRY(control_.held(options_.held_max, deadline));
    hold_all_ = !held.aggregates;
    held_ = std::move(held.aggregates).value_or(std::set<std::int64_t>());
    std::vector<std::int64_t> seen;
    window_.each_unsettled([&](WindowEvent& one) {
        if (!one.seen_with) return true;
        if (held.seen.ended(*one.seen_with))
            seen.push_back(one.number);
        else
            held_.insert(one.aggregate);
        return true;
    });
    for (const std::int64_t one : seen) window_.settle(one);
    return {};
}

Status CdcFeed::State::receive(std::size_t events) {
    for (std::size_t messages = 0; window_.size() < events && window_.bytes() < options_.batch_bytes_max; ++messages) {
        if (messages == messages_max) break;
        auto bytes = SEMEL_TRY(link_->next());
        if (!bytes) return {};
        SEMEL_TRY(take(*std::move(bytes)));
    }
    // There may be more than the socket would tell.
    bell.ring();
    return {};
}

Status CdcFeed::State::take(CopyBytes bytes) {
    const auto envelope = SEMEL_TRY(pgoutput::open_envelope(bytes.view()));
    if (const auto* alive = std::get_if<pgoutput::Keepalive>(&envelope)) {
        window_.idle(alive->end);
        return alive->reply_now ? link_->confirm(window_.confirmed()) : Status();
    }
    const auto change = SEMEL_TRY(decoder_.decode(std::get<pgoutput::Data>(envelope).message));
    if (const auto* row = std::get_if<pgoutput::Insert>(&change)) return take_row(*row, std::move(bytes));
    if (std::holds_alternative<pgoutput::Begin>(change)) window_.begin();
    if (const auto* commit = std::get_if<pgoutput::Commit>(&change)) window_.commit(commit->end);
    if (const auto* note = std::get_if<pgoutput::Note>(&change); note != nullptr && note->prefix == "semel.cdc")
        window_.heartbeat(SEMEL_TRY(parse_transaction(note->content)));
    if (const auto* relation = std::get_if<pgoutput::Relation>(&change)) {
        auto& columns = relations_[relation->id];
        columns.reset();
        if (EventColumns::is_outbox(*relation))
            columns = std::make_shared<const EventColumns>(SEMEL_TRY(EventColumns::of(*relation)));
    }
    return {};
}

Status CdcFeed::State::take_row(const pgoutput::Insert& row, CopyBytes bytes) {
    const auto relation = relations_.find(row.relation);
    if (relation == relations_.end()) return fail(Fault::broken, "the server sent a row of an unknown relation");
    if (relation->second == nullptr) return {};
    StreamedEvent event = SEMEL_TRY(StreamedEvent::from(row, *relation->second));
    WindowEvent kept{.id = event.message.id,
                     .aggregate = event.aggregate,
                     .position = event.message.position,
                     .partition = event.message.partition};
    if (event.streamed) {
        ++received_;
        kept.bytes = std::move(bytes);
        kept.columns = relation->second;
        kept.fresh = std::move(event.message);
    } else {
        // Until its pending row has left, the later ones of its aggregate wait behind it; until everyone can see that row,
        // so do we.
        kept.seen_with = event.transaction;
        held_.insert(event.aggregate);
        pending_due_ = now();
    }
    window_.add(std::move(kept));
    buffered_max_ = std::max<std::uint64_t>(buffered_max_, window_.size());
    return {};
}

Message CdcFeed::State::message_of(WindowEvent& event) {
    if (event.fresh) return *std::exchange(event.fresh, std::nullopt);
    const auto change = decoder_.decode(event.bytes.view().substr(envelope_bytes));
    SEMEL_ASSERT(change && "it was read before");
    auto read = StreamedEvent::from(std::get<pgoutput::Insert>(*change), *event.columns);
    SEMEL_ASSERT(read && "it was read before");
    return std::move(read->message);
}

Status CdcFeed::State::give_out(std::size_t events, PendingBatch& batch, Deadline deadline) {
    std::vector<FeedControl::Copied> diverted;
    std::vector<std::int64_t> passed;
    window_.each_unsettled([&](WindowEvent& one) {
        if (one.seen_with) {
            // Whoever polls after us finds its row, and nothing is sent from here any more that could overtake it.
            if (phase_ == Phase::leaving) passed.push_back(one.number);
            return true;
        }
        if (is_held(one.aggregate)) {
            diverted.push_back({.number = -one.number,
                                .event = one.id,
                                .position = one.position,
                                .aggregate = one.aggregate,
                                .partition = one.partition});
            return true;
        }
        if (events == 0) return true;
        --events;
        batch.events.push_back(pending_of(one));
        batch.messages.push_back(message_of(one));
        if (SEMEL_MUTANT("cdc.confirm_before_settle")) passed.push_back(one.number);
        return true;
    });
    for (const std::int64_t one : passed) window_.settle(one);
    if (diverted.empty()) return {};
    if (const Status copied = control_.divert(diverted, deadline); !copied) {
        // Another may stream meanwhile; whoever does, what is here is given out again from what is confirmed.
        if (copied.error().fault == Fault::rejected) close();
        return copied;
    }
    SEMEL_FAILPOINT("cdc.diverted");
    diverted_ += diverted.size();
    for (const FeedControl::Copied& one : diverted) {
        held_.insert(one.aggregate);
        window_.settle(-one.number);
    }
    pending_due_ = std::min(pending_due_, now() + options_.poll);
    return {};
}

Status CdcFeed::State::wait_for_standby(Deadline deadline) {
    if (now() >= replicated_due_) {
        replicated_ = SEMEL_TRY(control_.replicated(deadline));
        replicated_due_ = now() + replicated_known_for;
    }
    return replicated_ && !SEMEL_MUTANT("cdc.no_barrier") ? barrier_.pass(deadline) : Status();
}

}  // namespace semel::cdc
