#pragma once

#include "semel/db/catalogue.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace semel::simulation {

/// A bug that can be switched on by its name.
struct PlantedBug {
    std::string_view name;
    std::string_view what;  ///< What it does wrong.
    /// Who is to catch it: empty for the simulation, else the program and the test of it.
    std::string_view program = {};
    std::string_view test = {};
    bool slow = false;  ///< Needs hundreds of seeds: left to `make sim-mutants`.

    [[nodiscard]] constexpr bool simulated() const noexcept { return program.empty(); }
};
[[nodiscard]] std::span<const PlantedBug> planted_bugs() noexcept;
/// None: there is no such bug.
[[nodiscard]] const PlantedBug* find_planted(std::string_view name) noexcept;

/// SQLite's statements, those of the bug that is switched on put in place of the right ones.
[[nodiscard]] Catalogue planted_catalogue();

}  // namespace semel::simulation
