#pragma once

#include "apps/semel/exit_code.hpp"
#include "semel/storm/plot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace semel::app {

struct SimulateArguments {
    std::string scenario;
    std::uint64_t seed = 1;
    std::uint32_t runs = 20;
    std::uint32_t clients = 0;  ///< 0: as many as the scenario has by itself.
    std::string svg;            ///< A file for the picture; empty: none.
    bool json = false;
};

/// One way to retry, and what came of it.
struct Outlook {
    std::string name;
    std::vector<std::pair<std::string, double>> figures;  ///< By name, the same names for all.
};

/// What one scenario shows.
struct Show {
    std::string lesson;  ///< One sentence.
    std::vector<Outlook> outlooks;
    storm::Chart chart;
};

struct Scenario {
    std::string_view name;
    std::string_view about;
    Show (*play)(const SimulateArguments&);
};
[[nodiscard]] const std::vector<Scenario>& scenarios();

/// Runs the production retry machine with many clients against a modelled server, and draws what came of it.
[[nodiscard]] ExitCode simulate(const SimulateArguments& arguments);
void add_simulate(CLI::App& app, ExitCode& code);

}  // namespace semel::app
