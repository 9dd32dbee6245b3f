#include "semel/command/leased_settle.hpp"
#include "semel/command/sweeper.hpp"
#include "semel/command/worker.hpp"
#include "tests/simulation/commanding.hpp"
#include "tests/simulation/roles.hpp"
#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

#include <algorithm>

namespace semel::simulation {

void live_as_worker(Process& process) {
    Commanding commanding(process);
    Worker worker(*commanding.leased);
    Idling idling(process, Bell::work);
    while (goes_on(process)) {
        const auto ran = worker.run_one();
        idling.rest(ran && *ran);
    }
}

void live_as_sweeper(Process& process) {
    Commanding commanding(process);
    Sweeper sweeper(*commanding.leased);
    Idling idling(process, Bell::work);
    while (goes_on(process)) {
        const auto report = sweeper.sweep();
        idling.rest(report && report->total() > 0);
    }
}

/// Settles what needs a person, once it is certain what the bank has done.
void live_as_operator(Process& process) {
    World& world = process.world();
    const auto database = process.open_database();
    while (goes_on(process)) {
        const Duration pause = world.settling() ? Duration(std::chrono::minutes(3)) : Duration(std::chrono::hours(3));
        process.sleep_for(pause / 2 + Duration(static_cast<std::int64_t>(
                                          process.random().below(static_cast<std::uint64_t>(pause.count())))));
        if (!goes_on(process)) return;
        const Deadline soon = Deadline::after(process.now(), std::chrono::minutes(1));
        const auto found = unresolved(*database, soon);
        if (!found) continue;
        for (const UnresolvedCommand& one : found->commands) {
            if (!goes_on(process)) return;
            const std::string business_key = one.tenant + "/" + one.key;
            if (world.bank().will_pay(business_key)) continue;
            const bool paid = world.bank().paid(business_key) > 0;
            const LeasedSettlement settlement = paid ? LeasedSettlement::confirmed : LeasedSettlement::failed;
            // The model lets a person have the last word; it must know before the database does.
            for (Intent& intent : world.ledger().intents())
                if (intent.tenant + "/" + intent.key == business_key) intent.settled = true;
            std::ignore = settle(*database, one.command_id, settlement,
                                 {.status = paid ? shop_created : shop_refused, .body = "settled"},
                                 {.who = "operator", .reason = "asked the bank"}, soon, Ledger::record_kept);
        }
        for (const UnresolvedCall& one : found->calls) {
            if (!goes_on(process)) return;
            if (!finished(one.command_state) || world.bank().will_pay(one.business_key)) continue;
            const bool paid = world.bank().paid(one.business_key) > 0;
            std::ignore =
                settle_call(*database, one.call_id, paid ? LeasedSettlement::confirmed : LeasedSettlement::failed,
                            {.who = "operator", .reason = "asked the bank"}, soon);
        }
    }
}

}  // namespace semel::simulation
