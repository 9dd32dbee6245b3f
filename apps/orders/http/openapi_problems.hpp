#pragma once

#include "apps/orders/http/api.hpp"

#include <map>
#include <string_view>
#include <vector>

namespace orders {

/// The codes of problems by status, each once, in the order in which they were added.
using ProblemCodes = std::map<unsigned, std::vector<std::string_view>>;

/// What any request at all may be answered with, whatever its route.
[[nodiscard]] ProblemCodes problems_of_every_request();
[[nodiscard]] ProblemCodes problems_of(const CommandEntry& entry);
[[nodiscard]] ProblemCodes problems_of(const ReadEntry& entry);
[[nodiscard]] ProblemCodes problems_of(const MessageEntry& entry);

}  // namespace orders
