#pragma once

#include "semel/cdc/lsn.hpp"
#include "semel/cdc/snapshot.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/outbox/partitions.hpp"
#include "semel/outbox/pending.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace semel::cdc {

/// How events leave.
enum class Mode : std::uint8_t {
    polling,  ///< By pending rows.
    cdc,      ///< Through the log.
    leaving,  ///< No longer through the log, once what went that way has left.
};

/// What the database says about itself as a feed.
struct FeedState {
    Mode mode = Mode::polling;
    std::string slot;
    bool made = false;                         ///< The slot was made and everything before it is taken care of.
    std::optional<std::uint64_t> low_water{};  ///< Below this transaction everything has left or is pending.
    Lsn confirmed{};
    std::string history;                  ///< In which those two count.
    std::optional<std::uint64_t> flip{};  ///< Smaller transactions may still have gone through the log.
    std::int64_t publication = 0;         ///< What the slot was made with.

    bool log_is_logical = false;
    std::string history_now;
    std::optional<std::int64_t> publication_now{};  ///< None: it does not show the outbox.
    bool slot_exists = false;
    bool slot_active = false;
    bool slot_lost = false;  ///< It is there and can give nothing any more, or is someone else's.
    bool streamed = false;   ///< What is appended now goes through the log.

    /// Whether a slot with all that is needed is there.
    [[nodiscard]] bool slot_is_sound() const noexcept {
        return made && slot_exists && !slot_lost && history == history_now && publication == publication_now;
    }
    [[nodiscard]] bool same_server() const noexcept;
};

/// The row that says how events leave, and what is written along with it, on behalf of one relay. Every change but the
/// claim carries the relay's id and fails as a conflict once another streams. Thread-safe.
class FeedControl {
public:
    [[nodiscard]] static Result<FeedControl> of(Database& database, const Uuid& relay, std::string name,
                                                Duration lease);

    [[nodiscard]] Result<FeedState> look(Deadline deadline) const;

    /// Makes this relay the one who may make a slot; false: another is.
    [[nodiscard]] Result<bool> claim(Deadline deadline) const;
    /// Notes that the slot is lost, before another is made: from here on it is unsound, whoever looks.
    [[nodiscard]] Status lose(Deadline deadline) const;
    /// What is known when a slot was just made.
    struct Beginning {
        Lsn start;
        std::string snapshot;
        bool restored = false;  ///< What was streamed before was streamed by another server.
    };
    /// Makes pending what the slot will not bring, and remembers the slot. Returns how many events.
    /// Whether the backfill would see all that it must. Until then it is to be asked again.
    [[nodiscard]] Result<bool> all_visible(const std::string& snapshot, Deadline deadline) const;
    [[nodiscard]] Result<std::int64_t> begin(const FeedState& state, const Beginning& from) const;
    [[nodiscard]] Status drop_slot(const std::string& slot, Deadline deadline) const;
    /// Of a feed that is polled.
    [[nodiscard]] Status drop_leftover(Deadline deadline) const;

    /// Says that the relay streams, stores how far, takes all partitions for another lease and sends a heartbeat into the
    /// log. None: another streams. `takes`: the relay has just got the slot.
    [[nodiscard]] Result<std::optional<Partitions::Tended>> own(std::optional<std::uint64_t> low_water, Lsn confirmed,
                                                                bool takes, Deadline deadline) const;
    /// Turns appends to the log, or away from it.
    [[nodiscard]] Status flip(bool streamed, Deadline deadline) const;
    /// Everything has left the log: polling relays take over.
    [[nodiscard]] Status end(std::uint64_t low_water, Deadline deadline) const;
    [[nodiscard]] Status leave(Deadline deadline) const;

    /// An event of the log that becomes a pending row.
    struct Copied {
        std::int64_t number = 0;  ///< Its id in a settlement, to be replaced by that of its row.
        Uuid event{};
        std::int64_t position = 0;
        std::int64_t aggregate = 0;
        std::int32_t partition = 0;
    };
    /// Copies events of the log to pending rows.
    [[nodiscard]] Status divert(const std::vector<Copied>& events, Deadline deadline) const;
    /// Copies these events to pending rows and settles, in one transaction.
    [[nodiscard]] Status settle(Settlement settlement, const std::vector<Copied>& copied, const Pending& pending,
                                Deadline deadline) const;

    /// Aggregates behind whose events later ones must wait.
    struct Held {
        std::optional<std::set<std::int64_t>> aggregates;  ///< None: more than `max`.
        Snapshot seen;                                     ///< What was taken into account, at least.
    };
    [[nodiscard]] Result<Held> held(std::size_t max, Deadline deadline) const;
    [[nodiscard]] Result<bool> replicated(Deadline deadline) const;

private:
    struct Statements {
        Sql look, claim, backfill, restored, slot_made, slot_drop, polled, own, partitions, heartbeat, seen, flip,
            flip_noted, end, leave, relay_leave, release, fence, plan, copy, pending_of, held, replicated, snapshot,
            visible, lose;
    };
    FeedControl(Database& database, const Statements& statements, const Uuid& relay, std::string name,
                std::int64_t lease_milliseconds);
    [[nodiscard]] Status fence(Transaction& tx) const;
    void post_leave(Transaction& tx) const;
    void post_copy(Transaction& tx, const std::vector<Copied>& events) const;

    Database* database_;
    Statements statements_;
    Uuid relay_;
    std::string name_;
    std::int64_t lease_milliseconds_;
};

}  // namespace semel::cdc
