#pragma once

#include "semel/base/mutant.hpp"
#include "semel/cdc/control.hpp"
#include "semel/cdc/feed.hpp"
#include "semel/cdc/pgoutput.hpp"
#include "semel/cdc/row.hpp"
#include "semel/idempotency/barrier.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace semel::cdc {

/// What a CdcFeed is made of: how it comes to stream (feed_open.cpp), what it gives out (feed_read.cpp) and what becomes
/// of that (feed_settle.cpp).
class CdcFeed::State {
public:
    State(Database& database, CdcOptions options, const Uuid& relay, FeedControl control, Pending pending,
          const semel::Statements& statements)
        : database_(&database),
          options_(std::move(options)),
          relay_(relay),
          control_(std::move(control)),
          pending_(pending),
          barrier_(database, statements) {}

    [[nodiscard]] Result<Partitions::Tended> tend(Deadline deadline);
    [[nodiscard]] Result<PendingBatch> read(std::span<const HeldPartition> partitions, std::size_t each,
                                            Deadline deadline);
    [[nodiscard]] Status settle(const Settlement& settlement, Deadline deadline);
    [[nodiscard]] Status leave(Deadline deadline);
    [[nodiscard]] CdcReport report() const noexcept;
    [[nodiscard]] const Uuid& relay() const noexcept { return relay_; }

    /// The socket is the bell.
    class Bell final : public Doorbell {
    public:
        explicit Bell(State& state) noexcept : state_(&state) {}
        [[nodiscard]] std::uint64_t rings() const override { return rings_; }
        void wait(std::uint64_t heard, Instant until, const std::stop_token& stop) override;
        void ring() noexcept { ++rings_; }

    private:
        State* state_;
        std::uint64_t rings_ = 0;
    };
    Bell bell{*this};

private:
    enum class Phase : std::uint8_t {
        draining,   ///< Pending rows first: they are older than what the log has for us.
        streaming,  ///< The log, and pending rows as they come up.
        leaving,    ///< The log alone, all of it to pending rows, for those who poll after us.
    };

    // feed_open.cpp
    [[nodiscard]] Result<Partitions::Tended> tend_stream(Deadline deadline);
    [[nodiscard]] Result<bool> open(const FeedState& state, Deadline deadline);
    [[nodiscard]] Result<bool> make(const FeedState& state, Deadline deadline);
    [[nodiscard]] Status turn(const FeedState& state, Deadline deadline);
    void close() noexcept;
    [[nodiscard]] Status stand_aside(const FeedState& state, Deadline deadline);

    // feed_read.cpp
    [[nodiscard]] Result<PendingBatch> drain(std::span<const HeldPartition> partitions, std::size_t each,
                                             Deadline deadline);
    [[nodiscard]] Status look_at_pending(std::span<const HeldPartition> partitions, std::size_t each,
                                         PendingBatch& batch, Deadline deadline);
    /// Which aggregates are held back.
    [[nodiscard]] Status look_at_held(Deadline deadline);
    [[nodiscard]] Status receive(std::size_t events);
    [[nodiscard]] Status take(CopyBytes bytes);
    [[nodiscard]] Status take_row(const pgoutput::Insert& row, CopyBytes bytes);
    [[nodiscard]] Message message_of(WindowEvent& event);
    [[nodiscard]] Status give_out(std::size_t events, PendingBatch& batch, Deadline deadline);
    [[nodiscard]] Status wait_for_standby(Deadline deadline);
    [[nodiscard]] bool is_held(std::int64_t aggregate) const {
        return phase_ == Phase::leaving || hold_all_ || (held_.contains(aggregate) && !SEMEL_MUTANT("cdc.overtake"));
    }

    // feed_settle.cpp
    void confirm();

    [[nodiscard]] Instant now() const noexcept { return database_->clock().now(); }

    Database* database_;
    CdcOptions options_;
    Uuid relay_;
    FeedControl control_;
    Pending pending_;
    Barrier barrier_;

    std::string history_;                ///< In which the window's places count.
    std::optional<Link> link_;           ///< Streams.
    std::optional<Link> maker_;          ///< Waits for a new slot.
    std::optional<Link::NewSlot> made_;  ///< The new slot, until what it will not bring is taken care of.
    bool took_ = false;                  ///< Has got the slot and not yet said so.
    Phase phase_ = Phase::draining;
    Window window_;
    pgoutput::Decoder decoder_;
    std::map<std::uint32_t, std::shared_ptr<const EventColumns>> relations_;  ///< Null: of no interest.
    std::set<std::int64_t> held_;  ///< Aggregates with an event that is pending, or parked and blocks.
    bool hold_all_ = false;        ///< There are too many to name: whatever comes through the log becomes pending.
    Instant pending_due_{};
    Instant replicated_due_{};
    bool replicated_ = false;
    Lsn told_{};  ///< What the server was last told.
    bool said_standing_by_ = false;
    std::atomic<bool> streaming_ = false;
    std::atomic<std::uint64_t> slots_lost_ = 0;
    std::atomic<std::uint64_t> backfilled_ = 0;
    std::atomic<std::uint64_t> diverted_ = 0;
    std::atomic<std::uint64_t> received_ = 0;
    std::atomic<std::uint64_t> confirmed_ = 0;
    std::atomic<std::uint64_t> buffered_max_ = 0;
};

}  // namespace semel::cdc
