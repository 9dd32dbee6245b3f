#pragma once

#include "semel/db/database.hpp"
#include "semel/idempotency/barrier.hpp"
#include "semel/relay/feed.hpp"

#include <memory>
#include <string>

namespace semel {

/// Looks for pending rows, in the partitions that it holds under lease. Any number of relays share them.
class PollingFeed final : public Feed {
public:
    /// The database and the doorbell must outlive it. `name` is for people.
    [[nodiscard]] static Result<std::unique_ptr<PollingFeed>> create(Database& database, Doorbell& doorbell,
                                                                     std::string name, Duration lease);

    [[nodiscard]] Result<Partitions::Tended> tend(Deadline deadline) override { return partitions_.tend(deadline); }
    [[nodiscard]] Result<PendingBatch> read(std::span<const HeldPartition> partitions, std::size_t each,
                                            Deadline deadline) override;
    [[nodiscard]] Status settle(const Settlement& settlement, Deadline deadline) override {
        return pending_.settle(settlement, deadline);
    }
    [[nodiscard]] Status leave(Deadline deadline) override { return partitions_.leave(deadline); }
    [[nodiscard]] Doorbell& doorbell() noexcept override { return *doorbell_; }
    [[nodiscard]] const Uuid& relay() const noexcept override { return partitions_.relay(); }

private:
    PollingFeed(Database& database, Doorbell& doorbell, Partitions partitions, Pending pending,
                const Statements& statements)
        : doorbell_(&doorbell), partitions_(std::move(partitions)), pending_(pending), barrier_(database, statements) {}

    Doorbell* doorbell_;
    Partitions partitions_;
    Pending pending_;
    Barrier barrier_;
};

}  // namespace semel
