#include "tests/simulation/campaign.hpp"

#include <algorithm>
#include <cstdio>

namespace semel::simulation {
namespace {

RunReport run_one(const RunPlan& plan) {
    World world(plan);
    return world.run();
}

bool violates(const RunPlan& plan, int invariant) {
    const RunReport report = run_one(plan);
    return report.violation && report.violation->invariant == invariant;
}

}  // namespace

CampaignReport run_campaign(const CampaignOptions& options) {
    CampaignReport campaign;
    for (std::uint64_t i = 0; i < options.seeds; ++i) {
        const RunPlan plan{
            .seed = options.seed + i, .steps = options.steps, .without = options.without, .trace = options.trace};
        RunReport report = run_one(plan);
        ++campaign.runs;
        campaign.steps += report.steps;
        campaign.effects += report.effects;
        campaign.events += report.events;
        campaign.simulated += report.simulated;
        campaign.troubles = std::move(report.troubles);
        if (options.tell_every > 0 && campaign.runs % options.tell_every == 0) {
            std::fputs(describe(campaign, options).c_str(), stdout);
            std::fflush(stdout);
        }
        if (!report.violation) continue;
        campaign.violation = report.violation;
        campaign.failed = options.shrink && !options.trace ? shrunk(plan, *report.violation) : plan;
        return campaign;
    }
    return campaign;
}

RunPlan shrunk(const RunPlan& plan, const Violation& violation) {
    RunPlan best = plan;
    best.trace = false;
    best.steps = std::min(best.steps, violation.step);
    if (!violates(best, violation.invariant)) best.steps = plan.steps;
    for (std::size_t i = 0; i < trouble_count; ++i) {
        RunPlan smaller = best;
        smaller.without.push_back(static_cast<Trouble>(i));
        if (violates(smaller, violation.invariant)) best = smaller;
    }
    for (std::uint64_t step = best.steps / 2; step > 0;) {
        RunPlan smaller = best;
        smaller.steps -= std::min(step, smaller.steps);
        if (smaller.steps > 0 && violates(smaller, violation.invariant))
            best = smaller;
        else
            step /= 2;
    }
    return best;
}

std::string describe(const CampaignReport& report, const CampaignOptions& options) {
    const double hours = std::chrono::duration<double, std::ratio<3600>>(report.simulated).count();
    std::string text = std::to_string(report.runs) + " runs, " + std::to_string(report.steps) + " steps, " +
                       std::to_string(report.effects) + " effects, " + std::to_string(report.events) + " events, " +
                       std::to_string(hours / 24 / 365) + " simulated years; the last run: " + report.troubles + "\n";
    if (!report.violation) return text + "no violation\n";
    text += "VIOLATION of invariant " + std::to_string(report.violation->invariant) + " at seed " +
            std::to_string(report.failed.seed) + ", step " + std::to_string(report.violation->step) + ": " +
            report.violation->text + "\n";
    text += "again: build/bin/simulation --seed " + std::to_string(report.failed.seed) + " --steps " +
            std::to_string(report.failed.steps);
    for (const Trouble one : report.failed.without) text += " --without " + std::string(name(one));
    if (!options.mutant.empty()) text += " --mutant " + options.mutant;
    return text + " --verbose\n";
}

}  // namespace semel::simulation
