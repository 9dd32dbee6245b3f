#include "semel/relay/polling_feed.hpp"

#include <utility>

namespace semel {

Result<std::unique_ptr<PollingFeed>> PollingFeed::create(Database& database, Doorbell& doorbell, std::string name,
                                                         Duration lease) {
    // Chance alone: a relay that comes back is another one, and must not be taken for the owner it once was.
    const Uuid id = UuidGenerator(database.clock(), database.random()).next();
    auto partitions = SEMEL_TRY(Partitions::of(database, id, std::move(name), lease));
    const auto pending = SEMEL_TRY(Pending::of(database, id));
    const auto statements = SEMEL_TRY(Statements::from(database.catalogue()));
    return std::unique_ptr<PollingFeed>(
        new PollingFeed(database, doorbell, std::move(partitions), pending, statements));
}

Result<PendingBatch> PollingFeed::read(std::span<const HeldPartition> partitions, std::size_t each, Deadline deadline) {
    PendingBatch batch = SEMEL_TRY(pending_.read(partitions, each, deadline));
    if (batch.replicated && !batch.events.empty()) SEMEL_TRY(barrier_.pass(deadline));
    return batch;
}

}  // namespace semel
