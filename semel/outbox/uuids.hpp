#pragma once

#include "semel/base/id.hpp"

#include <span>
#include <string>

namespace semel {

/// Ids with commas between them: how statements take a list of them.
[[nodiscard]] inline std::string uuids(std::span<const Uuid> ids) {
    std::string text;
    for (const Uuid& one : ids) {
        if (!text.empty()) text += ',';
        text += one.text();
    }
    return text;
}

}  // namespace semel
