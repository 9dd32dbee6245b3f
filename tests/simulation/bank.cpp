#include "tests/simulation/bank.hpp"

#include "tests/simulation/world.hpp"

#include <algorithm>

namespace semel::simulation {
namespace {

Error bank_says(Fault fault, std::string_view message) {
    Error error;
    error.fault = fault;
    error.message = message;
    return error;
}

CallResponse receipt(std::string_view business_key) {
    return {.status = 200, .body = "paid " + std::string(business_key)};
}

}  // namespace

Integration Bank::integration(Process& process, Capability capability) {
    Integration integration;
    integration.name = "bank";
    integration.capability = capability;
    integration.perform = [this, &process, capability](const CallRequest& request, Deadline deadline) {
        return perform(process, capability, request, deadline);
    };
    integration.query = [this, &process](const CallQuestion& question, Deadline) { return query(process, question); };
    integration.start_within = std::chrono::seconds(5);
    integration.duration_max = std::chrono::seconds(60);
    return integration;
}

int Bank::paid(std::string_view business_key) const {
    const auto found = paid_.find(business_key);
    return found == paid_.end() ? 0 : found->second;
}

void Bank::forget(std::string_view business_key) {
    if (const auto found = paid_.find(business_key); found != paid_.end()) paid_.erase(found);
    if (const auto found = refuses_.find(business_key); found != refuses_.end()) refuses_.erase(found);
}

void Bank::pay(Capability capability, const CallRequest& request) {
    if (capability == Capability::takes_key && !known_.insert(request.external_request_id).second) {
        paid_.try_emplace(request.business_key, 1);
        return;
    }
    if (++paid_[request.business_key] > 1) world_->violate(1, "the bank paid " + request.business_key + " twice");
}

Result<CallResponse> Bank::perform(Process& process, Capability capability, const CallRequest& request,
                                   Deadline deadline) {
    process.travel();
    Troubles& troubles = world_->troubles();
    if (process.killed()) return fail(bank_says(Fault::unknown, "the process is dead"));
    if (deadline.passed(process.now())) return fail(bank_says(Fault::unavailable, "too late to begin"));
    if (troubles.strikes(Trouble::bank_away)) return fail(bank_says(Fault::unavailable, "the bank is closed"));
    const bool fresh = paid(request.business_key) == 0 && !flying_.contains(request.business_key);
    if (fresh && troubles.strikes(Trouble::poison)) refuses_.insert(request.business_key);
    // A repeat may be refused before its key is looked at.
    if (!fresh && (troubles.strikes(Trouble::poison) || troubles.strikes(Trouble::bank_away)))
        return fail(bank_says(Fault::rejected, "over the limit"));
    if (fresh && refuses_.contains(request.business_key)) return fail(bank_says(Fault::rejected, "no such customer"));

    const bool lost = troubles.strikes(Trouble::bank_lost);
    const bool pays = !lost || process.random().below(2) == 0;
    // Mostly seconds; now and then as long as a call may take.
    const std::uint64_t longest = process.random().below(8) == 0 ? 58'000 : 3'000;
    const Duration takes = std::chrono::milliseconds(process.random().below(longest));
    const Instant done = std::min(process.now() + takes, deadline.at());
    if (pays) {
        flying_.insert(request.business_key);
        // What nobody was told of may be made, or show, much later.
        const Duration late = lost ? Duration(std::chrono::seconds(process.random().below(600))) : Duration();
        world_->scheduler().spawn("payment", done + late, [this, capability, request] {
            flying_.erase(flying_.find(request.business_key));
            pay(capability, request);
        });
    }
    const auto waiting = calls_.insert(request.business_key);
    process.pause(done - process.now() + std::chrono::milliseconds(1));
    const bool dead = process.killed();
    calls_.erase(waiting);
    if (dead) return fail(bank_says(Fault::unknown, "the process is dead"));
    if (lost) return fail(bank_says(Fault::unknown, "the answer got lost"));
    return receipt(request.business_key);
}

Result<std::optional<CallResponse>> Bank::query(Process& process, const CallQuestion& question) {
    process.travel();
    if (process.killed()) return fail(bank_says(Fault::unavailable, "the process is dead"));
    if (world_->troubles().strikes(Trouble::bank_away))
        return fail(bank_says(Fault::unavailable, "the bank is closed"));
    if (paid(question.business_key) == 0) return std::nullopt;
    return receipt(question.business_key);
}

}  // namespace semel::simulation
