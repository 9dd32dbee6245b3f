#pragma once

#include <string>

namespace semel::app {

/// Who does it, for those who ask later: as given, or else whoever runs this, as user@machine.
[[nodiscard]] std::string actor_of(const std::string& given);

}  // namespace semel::app
