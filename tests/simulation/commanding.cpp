#include "tests/simulation/commanding.hpp"

#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

#include <cstdio>
#include <utility>

namespace semel::simulation {
namespace {

struct Asked {
    std::size_t intent = 0;
    std::int64_t amount = 0;
};

Asked asked_in(std::string_view payload) {
    unsigned long long intent = 0;
    long long amount = 0;
    SEMEL_ASSERT(std::sscanf(std::string(payload).c_str(), "%llu %lld", &intent, &amount) == 2);
    return {.intent = static_cast<std::size_t>(intent), .amount = amount};
}

/// Notes it, has the bank pay, writes it down.
Result<Finish> pay(Process& process, LeasedWork& work) {
    World& world = process.world();
    const Asked asked = asked_in(work.payload_text());
    const Intent intent = world.ledger().intents().at(asked.intent);  // Others are added while it waits.
    constexpr std::array capabilities{Capability::takes_key, Capability::queryable, Capability::neither};
    // By the key, so that it is the same in every run of the handler.
    const Capability capability = capabilities.at(asked.intent % capabilities.size());
    if (asked.intent % 2 == 0) {
        const auto note = [&asked](Transaction& tx) -> Result<std::string> {
            tx.post("INSERT INTO sim_note (intent) VALUES ($1)", static_cast<std::int64_t>(asked.intent));
            return "noted";
        };
        SEMEL_TRY(work.transact("note", note));
    }
    if (world.troubles().strikes(Trouble::poison)) return fail(Fault::unavailable, "something else is away");
    if (world.troubles().strikes(Trouble::stall)) process.pause(std::chrono::seconds(process.random().below(90)));
    const std::string business_key = intent.tenant + "/" + intent.key;
    const Integration bank = world.bank().integration(process, capability);
    SEMEL_TRY(work.call("pay", bank, business_key, work.payload_text()));
    const Transfer transfer{.intent = asked.intent, .from = intent.from, .to = intent.to, .amount = asked.amount};
    return Finish([transfer](Work& last) { return transfer_paid(last, transfer); });
}

}  // namespace

std::string payload_of(std::size_t intent, std::int64_t amount) {
    return std::to_string(intent) + " " + std::to_string(amount);
}

Commanding::Commanding(Process& process) : database(process.open_database()) {
    LeasedOptions options;
    options.retention = Ledger::record_kept;
    options.lease = std::chrono::seconds(30);
    options.attempts_max = 6;
    options.ask = {.grace = std::chrono::seconds(5), .asks_max = 3};
    const LeasedHandler handler = [&process](LeasedWork& work) { return pay(process, work); };
    SEMEL_ASSERT(operations.add("pay", handler, options));
    ExecutorOptions how;
    // With a cache most repeats would never reach the database.
    if (process.random().below(4) != 0) how.cache_bytes = 0;
    how.on_executed = [&process] { process.world().scheduler().ring(Bell::outbox); };
    executor = Executor::create(*database, how).value();
    leased = LeasedExecutor::create(*executor, operations).value();
}

}  // namespace semel::simulation
