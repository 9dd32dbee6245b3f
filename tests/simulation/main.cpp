#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"
#include "tests/simulation/campaign.hpp"
#include "tests/simulation/mutants.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace semel::simulation;

int list_mutants() {
    for (const PlantedBug& bug : planted_bugs())
        std::printf("%s\t%s\t%s\t%s\n", std::string(bug.name).c_str(),
                    bug.simulated() ? "simulation" : std::string(bug.program).c_str(), std::string(bug.test).c_str(),
                    std::string(bug.what).c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs the whole protocol as many simulated processes from one seed, and checks what must hold."};
    CampaignOptions options;
    std::string mutant;
    bool list = false;
    app.add_option("--seed", options.seed, "The first seed");
    app.add_option("--seeds", options.seeds, "How many seeds, from that one on");
    app.add_option("--steps", options.steps, "Steps of each run, before the troubles stop");
    app.add_option("--mutant", mutant, "Switches a planted bug on");
    std::vector<std::string> without;
    app.add_option("--without", without, "Troubles that do not strike");
    app.add_option("--tell-every", options.tell_every, "Prints how far it is after so many runs");
    app.add_flag("--list-mutants", list, "Prints the planted bugs and who is to catch each");
    app.add_flag("--verbose", options.trace, "Prints what happens");
    app.add_flag("!--no-shrink", options.shrink, "Does not make a violation smaller");
    CLI11_PARSE(app, argc, argv);
    if (list) return list_mutants();
    if (!options.trace) semel::set_log_sink({});
    if (!mutant.empty() && find_planted(mutant) == nullptr) {
        std::fprintf(stderr, "there is no planted bug called %s; see --list-mutants\n", mutant.c_str());
        return 2;
    }
    for (const std::string& one : without) {
        const auto trouble = trouble_called(one);
        if (!trouble) {
            std::fprintf(stderr, "there is no trouble called %s\n", one.c_str());
            return 2;
        }
        options.without.push_back(*trouble);
    }
    options.mutant = mutant;
    std::optional<semel::mutant::Mutant> planted;
    if (!mutant.empty()) planted.emplace(mutant);
    const CampaignReport report = run_campaign(options);
    std::fputs(describe(report, options).c_str(), stdout);
    return report.violation ? 1 : 0;
}
