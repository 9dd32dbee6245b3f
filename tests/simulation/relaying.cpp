#include "semel/consumer/consumer.hpp"
#include "semel/idempotency/retention.hpp"
#include "semel/inbox/retention.hpp"
#include "semel/outbox/parked.hpp"
#include "semel/outbox/retention.hpp"
#include "semel/relay/runner.hpp"
#include "tests/simulation/roles.hpp"
#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

namespace semel::simulation {
namespace {

void live_as_consumer(Process& process, std::string_view group) {
    World& world = process.world();
    const auto database = process.open_database();
    BrokerSource source(process, std::string(group));
    ConsumerOptions options;
    options.name = group;
    options.rules.workers = 1;
    options.rules.held_max = 8;
    options.rules.attempts_max = 3;
    const auto handler = [&process, &world, group](ConsumerWork& work) -> Status {
        if (!world.troubles().strikes(Trouble::poison)) return consume(work, group);
        const Status done = consume(work, group);
        switch (process.random().below(3)) {
            case 0: return fail(Fault::rejected, "cannot be understood");
            case 1: return fail(Fault::unavailable, "something else is away");
            default: throw std::runtime_error("a bug of the handler's");
        }
    };
    const auto consumer = Consumer::create(*database, source, std::move(options), handler).value();
    Idling idling(process, Bell::broker);
    // Now and then it is stopped in good order, as for a new version.
    for (std::uint64_t left = 5 + process.random().below(40); left > 0 && goes_on(process); --left) {
        const std::uint64_t before = consumer->report().received;
        consumer->run_until_idle();
        if (!goes_on(process)) return;
        if (world.settling() || process.random().below(20) == 0) {
            const auto parked = consumer->parked().list(100, Deadline::after(process.now(), std::chrono::minutes(1)));
            for (const ParkedMessage& one : parked.value_or(std::vector<ParkedMessage>()))
                std::ignore =
                    consumer->redrive(one.message.id, Deadline::after(process.now(), std::chrono::minutes(1)));
        }
        idling.rest(consumer->report().received != before);
    }
}

}  // namespace

void live_as_ledger_consumer(Process& process) { live_as_consumer(process, consumers[0]); }

void live_as_audit_consumer(Process& process) { live_as_consumer(process, consumers[1]); }

void live_as_relay(Process& process) {
    const auto database = process.open_database();
    BrokerSink sink(process);
    LocalDoorbell doorbell(process);
    RelayOptions options;
    options.rules.batch = 4;
    options.rules.poison_of = {{"order", Poison::park}};
    options.rules.breaker.attempts_min = 4;
    options.rules.attempts_max = process.random().below(2) == 0 ? 1 : 3;
    const auto relay = Relay::create(*database, sink, doorbell, options).value();
    process.be_relay(relay->id().text());
    Idling idling(process, Bell::outbox);
    for (std::uint64_t left = 20 + process.random().below(100); left > 0 && goes_on(process); --left) {
        const std::uint64_t before = relay->report().batches;
        doorbell.ring();
        relay->run_until_idle();
        idling.rest(relay->report().batches != before);
    }
}

void live_as_retention(Process& process) {
    const auto database = process.open_database();
    const auto outbox = OutboxRetention::of(*database).value();
    const auto parked = Parked::of(*database).value();
    while (goes_on(process)) {
        // As often as the run is slow.
        constexpr std::uint64_t slow = 6;
        Duration pause = process.world().pace() > slow ? std::chrono::hours(1) : std::chrono::seconds(30);
        if (process.world().settling()) pause = std::chrono::minutes(1);
        process.sleep_for(pause / 2 + Duration(static_cast<std::int64_t>(
                                          process.random().below(static_cast<std::uint64_t>(pause.count())))));
        if (!goes_on(process)) return;
        const auto soon = [&process] { return Deadline::after(process.now(), std::chrono::minutes(1)); };
        // Someone sends what was set aside once more.
        for (const ParkedEvent& one : parked.list(100, soon()).value_or(std::vector<ParkedEvent>()))
            std::ignore = parked.redrive(one.tenant, one.aggregate, soon());
        if (!goes_on(process)) return;
        std::ignore = apply_retention(*database, {.tombstone = Ledger::tombstone_kept, .batch = 5}, soon());
        std::ignore = apply_inbox_retention(*database, {.window = Ledger::inbox_kept, .batch = 5}, soon());
        const OutboxAudit audit{.id = UuidGenerator(process, process.random()).next(),
                                .action = "prune",
                                .actor = "retention",
                                .detail = "all"};
        Uuid after;
        for (bool more = true; more && goes_on(process);) {
            const auto batch = outbox.prune(Ledger::event_kept, after, 5, audit, soon());
            more = batch.committed() && batch.value().more;
            if (more) after = batch.value().last;
        }
    }
}

}  // namespace semel::simulation
