#include "semel/cdc/feed.hpp"

#include "semel/cdc/feed_state.hpp"

namespace semel::cdc {

Result<std::unique_ptr<CdcFeed>> CdcFeed::create(Database& database, CdcOptions options) {
    // Found here rather than in the middle of the night.
    SEMEL_TRY(postgres::parse_connection_string(options.link.connection));
    const Uuid id = UuidGenerator(database.clock(), database.random()).next();
    auto control = SEMEL_TRY(FeedControl::of(database, id, options.name, options.lease));
    const auto pending = SEMEL_TRY(Pending::of(database, id));
    const auto statements = SEMEL_TRY(semel::Statements::from(database.catalogue()));
    return std::unique_ptr<CdcFeed>(new CdcFeed(
        std::make_unique<State>(database, std::move(options), id, std::move(control), pending, statements)));
}

CdcFeed::CdcFeed(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
CdcFeed::~CdcFeed() = default;

Result<Partitions::Tended> CdcFeed::tend(Deadline deadline) { return state_->tend(deadline); }
Result<PendingBatch> CdcFeed::read(std::span<const HeldPartition> partitions, std::size_t each, Deadline deadline) {
    return state_->read(partitions, each, deadline);
}
Status CdcFeed::settle(const Settlement& settlement, Deadline deadline) { return state_->settle(settlement, deadline); }
Status CdcFeed::leave(Deadline deadline) { return state_->leave(deadline); }
Doorbell& CdcFeed::doorbell() noexcept { return state_->bell; }
const Uuid& CdcFeed::relay() const noexcept { return state_->relay(); }
CdcReport CdcFeed::report() const noexcept { return state_->report(); }

CdcReport CdcFeed::State::report() const noexcept {
    return {.streaming = streaming_,
            .slots_lost = slots_lost_,
            .backfilled = backfilled_,
            .diverted = diverted_,
            .received = received_,
            .buffered_max = buffered_max_,
            .confirmed = Lsn{confirmed_}};
}

void CdcFeed::State::Bell::wait(std::uint64_t heard, Instant until, const std::stop_token& stop) {
    if (rings_ != heard) return;
    if (!state_->link_)
        std::ignore = state_->database_->clock().sleep(until, stop);
    else if (state_->link_->wait(until, stop))
        ring();
}

}  // namespace semel::cdc
