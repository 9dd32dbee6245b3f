#pragma once

#include "semel/call/integration.hpp"
#include "tests/simulation/process.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace semel::simulation {

/// Another system that pays, by business key. It may do so after its caller has died, up to the call's deadline.
class Bank {
public:
    explicit Bank(World& world) : world_(&world) {}

    /// The bank as one process reaches it.
    [[nodiscard]] Integration integration(Process& process, Capability capability);

    [[nodiscard]] int paid(std::string_view business_key) const;
    /// Whether someone who lives waits for its answer.
    [[nodiscard]] bool under_way(std::string_view business_key) const { return calls_.contains(business_key); }
    /// A payment that a call asked for has still to be made.
    [[nodiscard]] bool will_pay(std::string_view business_key) const { return flying_.contains(business_key); }
    void forget(std::string_view business_key);

private:
    [[nodiscard]] Result<CallResponse> perform(Process& process, Capability capability, const CallRequest& request,
                                               Deadline deadline);
    [[nodiscard]] Result<std::optional<CallResponse>> query(Process& process, const CallQuestion& question);
    void pay(Capability capability, const CallRequest& request);

    World* world_;
    std::map<std::string, int, std::less<>> paid_;
    std::set<std::string> known_;  ///< Idempotency keys.
    std::set<std::string, std::less<>> refuses_;
    std::multiset<std::string, std::less<>> calls_;
    std::multiset<std::string, std::less<>> flying_;
};

}  // namespace semel::simulation
