#pragma once

#include "semel/db/database.hpp"
#include "semel/relay/doorbell.hpp"
#include "semel/relay/feed.hpp"
#include "semel/relay/machine.hpp"
#include "semel/sink/sink.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace semel {

struct RelayOptions {
    std::string name = "relay";  ///< For people who look at the list of relays.
    RelayRules rules{};
    /// Longest wait for one thing that is asked of the database. A third of the lease at most, so that a renewal which
    /// takes that long still comes in time.
    Duration database_limit = std::chrono::seconds(5);
    /// How long `stop` goes on trying to write down what was published and to give the leases back.
    Duration drain_limit = std::chrono::seconds(10);
};

/// What a relay has done since it was made.
struct RelayReport {
    std::uint64_t batches = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t failed = 0;  ///< Tried, and to be tried again.
    std::uint64_t parked = 0;
    std::uint64_t partitions = 0;  ///< Held now.
};

/// Publishes the events of the outbox to a sink, in the order of their commits per aggregate, each until it was
/// acknowledged. Any number of relays share the work, in any number of processes: each holds its share of the
/// partitions, and takes over those of one that dies once their leases end. A crash may repeat one batch, and loses
/// nothing. No transaction is open while it talks to the sink.
class Relay {
public:
    /// Polls. The database, the sink and the doorbell must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Relay>> create(Database& database, Sink& sink, Doorbell& doorbell,
                                                               RelayOptions options = {});
    /// Takes its events from `feed`, which must have been made with the same lease.
    [[nodiscard]] static Result<std::unique_ptr<Relay>> create(Database& database, Sink& sink,
                                                               std::unique_ptr<Feed> feed, RelayOptions options = {});
    ~Relay() { stop(); }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    /// Works on a thread of its own.
    void start();
    /// Drains: reads nothing more, lets the publish under way end, writes down what became of it, gives the leases
    /// back. For good: a relay that was stopped is not started again.
    void stop();

    /// Does one thing on the calling thread; false if there is nothing to do for now. Not while it is started.
    [[nodiscard]] bool step();
    /// Everything that can leave now, on the calling thread.
    void run_until_idle() {
        while (step()) {}
    }

    [[nodiscard]] RelayReport report() const noexcept;
    [[nodiscard]] const Uuid& id() const noexcept { return feed_->relay(); }

private:
    Relay(Database& database, Sink& sink, std::unique_ptr<Feed> feed, RelayOptions options);

    void run(const std::stop_token& stop);
    void drain();
    /// Does what the machine asks for; a wait is handed back.
    [[nodiscard]] std::optional<relay_action::Wait> act(const RelayAction& action);
    void tend();
    void read(const relay_action::ReadPending& action);
    void publish(const relay_action::Publish& action);
    void settle();
    void leave();
    void database_failed(const Error& error);
    [[nodiscard]] Instant now() const noexcept { return database_->clock().now(); }
    [[nodiscard]] Deadline soon() const noexcept { return Deadline::after(now(), options_.database_limit); }

    Database* database_;
    Sink* sink_;
    RelayOptions options_;
    std::unique_ptr<Feed> feed_;
    RelayMachine machine_;
    std::uint64_t heard_ = 0;
    bool stepped_ = false;  ///< Worked on a caller's thread, and has not drained since.
    std::atomic<std::uint64_t> batches_ = 0;
    std::atomic<std::uint64_t> acknowledged_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    std::atomic<std::uint64_t> parked_ = 0;
    std::atomic<std::uint64_t> held_ = 0;
    std::jthread thread_;
};

}  // namespace semel
