#include "apps/semel/simulate.hpp"

#include "apps/semel/report.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

namespace semel::app {
namespace {

nlohmann::ordered_json json_of(const SimulateArguments& arguments, const Show& show) {
    auto outlooks = nlohmann::ordered_json::array();
    for (const Outlook& one : show.outlooks) {
        nlohmann::ordered_json entry{{"name", one.name}};
        for (const auto& [figure, value] : one.figures) entry["figures"][figure] = value;
        outlooks.push_back(std::move(entry));
    }
    return {{"scenario", arguments.scenario},
            {"seed", arguments.seed},
            {"runs", arguments.runs},
            {"lesson", show.lesson},
            {"ways", outlooks}};
}

void print_show(const Show& show) {
    std::size_t widest = 0;
    for (const Outlook& one : show.outlooks) widest = std::max(widest, one.name.size());
    std::string table = fmt::format("{:{}}", "", widest);
    if (!show.outlooks.empty())
        for (const auto& [figure, value] : show.outlooks.front().figures) table += "  " + figure;
    table += "\n";
    for (const Outlook& one : show.outlooks) {
        table += fmt::format("{:{}}", one.name, widest);
        for (const auto& [figure, value] : one.figures)
            table += fmt::format("  {:>{}.{}f}", value, figure.size(), value < 10 ? 2 : 0);
        table += "\n";
    }
    std::printf("%s\n\n%s\n%s", show.lesson.c_str(), table.c_str(), storm::text_of(show.chart).c_str());
}

Status write_picture(const std::string& file, const Show& show) {
    if (file.empty()) return {};
    std::ofstream stream(file, std::ios::binary);
    stream << storm::svg_of(show.chart);
    stream.close();
    if (!stream) return fail(Fault::rejected, "the picture cannot be written to " + file);
    return {};
}

Result<ExitCode> play(const SimulateArguments& arguments) {
    const auto found = std::ranges::find(scenarios(), arguments.scenario, &Scenario::name);
    SEMEL_ASSERT(found != scenarios().end() && "the command line has checked it");
    const Show show = found->play(arguments);
    SEMEL_TRY(write_picture(arguments.svg, show));
    if (arguments.json)
        std::puts(json_of(arguments, show).dump(2).c_str());
    else
        print_show(show);
    return ExitCode::ok;
}

}  // namespace

ExitCode simulate(const SimulateArguments& arguments) { return report("simulate", play(arguments), arguments.json); }

void add_simulate(CLI::App& app, ExitCode& code) {
    const auto arguments = std::make_shared<SimulateArguments>();
    CLI::App* simulate =
        app.add_subcommand("simulate", "What retries do to a server: many clients against a model, drawn");
    std::vector<std::string> names;
    std::string footer = "Scenarios:";
    for (const Scenario& one : scenarios()) {
        names.emplace_back(one.name);
        footer += fmt::format("\n  {:11} {}", one.name, one.about);
    }
    simulate->footer(footer +
                     "\nThe same seed gives the same figures on every machine. Nothing but this process is loaded.");
    simulate->add_option("scenario", arguments->scenario, "Which one")->required()->check(CLI::IsMember(names));
    simulate->add_option("--seed", arguments->seed, "Of chance")->capture_default_str();
    simulate->add_option("--runs", arguments->runs, "How often; figures are means")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    simulate->add_option("--clients", arguments->clients, "How many, in scenarios that count them")
        ->check(CLI::Range(1, 10'000));
    simulate->add_option("--svg", arguments->svg, "Write the picture to this file");
    simulate->add_flag("--json", arguments->json, "Answer in JSON");
    simulate->callback([arguments, &code] { code = app::simulate(*arguments); });
}

}  // namespace semel::app
