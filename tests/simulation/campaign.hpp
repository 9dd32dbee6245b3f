#pragma once

#include "tests/simulation/world.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace semel::simulation {

struct CampaignOptions {
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;
    std::uint64_t steps = 400;
    std::string mutant{};
    std::vector<Trouble> without{};
    bool trace = false;
    bool shrink = true;
    std::uint64_t tell_every = 0;  ///< Prints how far it is after so many runs; 0: never.
};

struct CampaignReport {
    std::optional<Violation> violation;
    RunPlan failed{};        ///< The run that did, made as small as it could be.
    std::uint64_t runs = 0;  ///< Until then.
    std::uint64_t steps = 0;
    std::uint64_t effects = 0;
    std::uint64_t events = 0;
    Duration simulated{};
    std::string troubles{};  ///< Of the last run.
};

/// Runs one seed after the other until one violates an invariant.
[[nodiscard]] CampaignReport run_campaign(const CampaignOptions& options);
/// Fewer steps and fewer troubles, while the same invariant is violated.
[[nodiscard]] RunPlan shrunk(const RunPlan& plan, const Violation& violation);
/// For people, with the one command that shows a violation again.
[[nodiscard]] std::string describe(const CampaignReport& report, const CampaignOptions& options);

}  // namespace semel::simulation
