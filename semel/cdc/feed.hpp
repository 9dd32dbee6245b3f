#pragma once

#include "semel/cdc/link.hpp"
#include "semel/relay/feed.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace semel {
class Database;
}  // namespace semel

namespace semel::cdc {

struct CdcOptions {
    LinkOptions link;            ///< To the same database, directly.
    std::string name = "relay";  ///< For people who look at the list of relays.
    /// As in the rules of the relay that uses the feed.
    Duration lease = std::chrono::seconds(30);
    /// How often pending rows are looked for: those that could not leave through the log, and what people send again.
    Duration poll = std::chrono::seconds(1);
    /// Events of the log that are given out together end at so many bytes, however many they are.
    std::size_t batch_bytes_max = 8 * 1024 * 1024;
    /// How many aggregates are held back by name, behind an event that is pending or parked: a few megabytes. With more,
    /// whatever comes through the log becomes pending.
    std::size_t held_max = 50'000;
};

/// What a feed has done since it was made.
struct CdcReport {
    bool streaming = false;
    std::uint64_t slots_lost = 0;
    std::uint64_t backfilled = 0;  ///< Events that became pending since a slot was lost.
    std::uint64_t diverted =
        0;  ///< Events of the log that became pending: they could not leave, or must wait behind one.
    std::uint64_t received = 0;      ///< Events of the log.
    std::uint64_t buffered_max = 0;  ///< Most events of the log that were in memory at once.
    Lsn confirmed{};
};

/// Takes events from the log of a PostgreSQL server, as soon as their transactions have committed. One relay streams at a
/// time; others stand by, and one of them takes over when its connection ends. Also sends whatever is pending.
///
/// An event that does not leave at once becomes pending, and the later ones of its aggregate follow it there, so that the
/// log is never held up. The server may forget a transaction once all of its events are settled, and all before it. Where
/// there is a synchronous standby, an event is given out only after a transaction that began after it came has waited
/// for the standby.
///
/// A slot that is gone, or is another server's, is made anew: loudly, and everything that may not have left is sent
/// again. As long as the outbox is in the mode `polling` the feed stands by.
class CdcFeed final : public Feed {
public:
    /// Talks to nobody yet. The database must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<CdcFeed>> create(Database& database, CdcOptions options);
    ~CdcFeed() override;

    [[nodiscard]] Result<Partitions::Tended> tend(Deadline deadline) override;
    [[nodiscard]] Result<PendingBatch> read(std::span<const HeldPartition> partitions, std::size_t each,
                                            Deadline deadline) override;
    [[nodiscard]] Status settle(const Settlement& settlement, Deadline deadline) override;
    [[nodiscard]] Status leave(Deadline deadline) override;
    [[nodiscard]] Doorbell& doorbell() noexcept override;
    [[nodiscard]] const Uuid& relay() const noexcept override;

    /// From any thread.
    [[nodiscard]] CdcReport report() const noexcept;

private:
    class State;
    explicit CdcFeed(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::cdc
