#pragma once

#include <functional>

namespace semel::postgres {

/// Runs a call that may block for long, such as a name lookup, on a thread of its own that nobody
/// waits for. The call owns everything it touches. At most 32 run at once; false, and nothing is
/// run, when that many are stuck already or no thread can be had.
[[nodiscard]] bool run_in_background(std::function<void()> call);

}  // namespace semel::postgres
