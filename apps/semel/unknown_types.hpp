#pragma once

#include "semel/contract/contracts.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <string>

namespace semel::app {

/// `--unknown-types`, for verbs that hold events against contracts.
inline CLI::Option* add_unknown_types(CLI::App& verb, UnknownTypes& target) {
    static const std::map<std::string, UnknownTypes> named{{"refuse", UnknownTypes::refuse},
                                                           {"allow", UnknownTypes::allow}};
    return verb
        .add_option("--unknown-types", target, "Of events whose type has no contract: refuse (if not given) or allow")
        ->transform(CLI::CheckedTransformer(named).description("refuse|allow"));
}

}  // namespace semel::app
