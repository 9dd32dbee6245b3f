#pragma once

#include <cstdint>

namespace semel::bench {

/// How often the calling thread has called `operator new` so far. Linking this replaces the
/// program's allocation; what C libraries take from malloc is not counted.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace semel::bench
