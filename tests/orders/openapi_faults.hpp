#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace orders::testing {

/// What is wrong with an OpenAPI document in itself: references that lead nowhere, variables that are not declared or
/// declared and not there, ids given twice, operations without a success, schemas that nobody uses or that a reader
/// would stumble over. Empty: nothing.
[[nodiscard]] std::vector<std::string> faults_of(const nlohmann::json& document);

}  // namespace orders::testing
