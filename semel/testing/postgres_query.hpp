#pragma once

#include "semel/base/result.hpp"

#include <string>
#include <vector>

namespace semel::testing::detail {

/// Connects, runs the statements, closes. The first field of the last result; empty without one.
/// With parameters ($1, $2, …) it must be one statement.
[[nodiscard]] Result<std::string> query(const std::string& url, const std::string& text,
                                        const std::vector<std::string>& parameters = {});

/// Whether a server takes connections there.
[[nodiscard]] bool answers(const std::string& url);

}  // namespace semel::testing::detail
