#include "semel/relay/runner.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"
#include "semel/relay/polling_feed.hpp"

#include <algorithm>
#include <utility>

namespace semel {

Result<std::unique_ptr<Relay>> Relay::create(Database& database, Sink& sink, Doorbell& doorbell, RelayOptions options) {
    SEMEL_TRY(check(options.rules));
    auto feed = SEMEL_TRY(PollingFeed::create(database, doorbell, options.name, options.rules.lease));
    return create(database, sink, std::move(feed), std::move(options));
}

Result<std::unique_ptr<Relay>> Relay::create(Database& database, Sink& sink, std::unique_ptr<Feed> feed,
                                             RelayOptions options) {
    SEMEL_TRY(check(options.rules));
    options.database_limit = std::min(options.database_limit, options.rules.lease / 3);
    return std::unique_ptr<Relay>(new Relay(database, sink, std::move(feed), std::move(options)));
}

Relay::Relay(Database& database, Sink& sink, std::unique_ptr<Feed> feed, RelayOptions options)
    : database_(&database),
      sink_(&sink),
      options_(std::move(options)),
      feed_(std::move(feed)),
      machine_(options_.rules, database.random()),
      heard_(feed_->doorbell().rings()) {}

void Relay::start() {
    SEMEL_ASSERT(!thread_.joinable() && "the relay runs already");
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Relay::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    } else if (std::exchange(stepped_, false)) {
        drain();
    }
}

void Relay::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto wait = act(machine_.next(now()));
        if (!wait) continue;
        if (wait->for_bell)
            feed_->doorbell().wait(heard_, wait->until, stop);
        else
            std::ignore = database_->clock().sleep(wait->until, stop);
    }
    drain();
}

void Relay::drain() {
    machine_.drain();
    const Deadline limit = Deadline::after(now(), options_.drain_limit);
    while (!limit.passed(now())) {
        const RelayAction action = machine_.next(now());
        if (std::holds_alternative<relay_action::Finished>(action)) return;
        if (const auto wait = act(action))
            std::ignore = database_->clock().sleep(std::min(wait->until, limit.at()), {});
    }
    log(LogLevel::warning, "relay: stopped before everything was written down; another relay may send events again");
}

bool Relay::step() {
    SEMEL_ASSERT(!thread_.joinable() && "the relay has a thread of its own");
    stepped_ = true;
    const RelayAction action = machine_.next(now());
    return !std::holds_alternative<relay_action::Finished>(action) && !act(action);
}

std::optional<relay_action::Wait> Relay::act(const RelayAction& action) {
    if (const std::uint64_t rings = feed_->doorbell().rings(); rings != heard_) {
        heard_ = rings;
        machine_.ring();
        // Whatever was asked for is still right; a wait for the bell is over.
        if (const auto* wait = std::get_if<relay_action::Wait>(&action); wait != nullptr && wait->for_bell) return {};
    }
    if (const auto* wait = std::get_if<relay_action::Wait>(&action)) return *wait;
    if (std::holds_alternative<relay_action::Tend>(action)) tend();
    if (const auto* one = std::get_if<relay_action::ReadPending>(&action)) read(*one);
    if (const auto* one = std::get_if<relay_action::Publish>(&action)) publish(*one);
    if (std::holds_alternative<relay_action::Settle>(action)) settle();
    if (std::holds_alternative<relay_action::Leave>(action)) leave();
    return std::nullopt;
}

void Relay::tend() {
    const Instant begun = now();
    auto tended = feed_->tend(soon());
    if (!tended) return database_failed(tended.error());
    SEMEL_FAILPOINT("relay.lease_taken");
    machine_.tended(begun, std::move(tended->held), tended->share, now());
    held_ = machine_.held().size();
}

void Relay::read(const relay_action::ReadPending& action) {
    auto batch = feed_->read(action.partitions, action.each, soon());
    if (!batch) return database_failed(batch.error());
    SEMEL_FAILPOINT("relay.after_read");
    if (SEMEL_MUTANT("settled_before_publish")) {
        Settlement early;
        for (const PendingEvent& one : batch->events) early.acknowledged.push_back(one.row);
        std::ignore = feed_->settle(early, soon());
    }
    machine_.read(std::move(batch->events), std::move(batch->messages), now());
}

void Relay::publish(const relay_action::Publish& action) {
    SEMEL_FAILPOINT("relay.before_publish");
    const std::vector<Status> answers = sink_->publish(machine_.batch(), action.deadline);
    SEMEL_FAILPOINT("relay.after_publish");
    machine_.published(answers, now());
    ++batches_;
}

void Relay::settle() {
    SEMEL_FAILPOINT("relay.before_settle");
    const Settlement& settlement = machine_.settlement();
    if (const Status settled = feed_->settle(settlement, soon()); !settled) return database_failed(settled.error());
    SEMEL_FAILPOINT("relay.after_settle");
    acknowledged_ += settlement.acknowledged.size();
    failed_ += settlement.failures.size();
    parked_ += settlement.parked.size();
    for (const Parking& one : settlement.parked) log(LogLevel::warning, "relay: an event is set aside: " + one.reason);
    machine_.settled();
}

void Relay::leave() {
    if (const Status left = feed_->leave(soon()); !left) return database_failed(left.error());
    machine_.left();
    held_ = 0;
}

void Relay::database_failed(const Error& error) {
    log(LogLevel::warning, "relay: " + error.describe());
    machine_.database_failed(now());
}

RelayReport Relay::report() const noexcept {
    return {
        .batches = batches_, .acknowledged = acknowledged_, .failed = failed_, .parked = parked_, .partitions = held_};
}

}  // namespace semel
