#pragma once

#include "bench/harness.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace semel::bench {

/// Does some of what is counted, and says how many operations that was.
using Step = std::function<Result<std::uint64_t>()>;

/// Steps until at least so many operations are done; how many it were.
[[nodiscard]] Result<std::uint64_t> step_until(const Step& step, std::uint64_t operations);

/// The same, with the allocations of the calling thread per operation. Under callgrind, the instructions of the whole process
/// meanwhile are dumped under `name`, and nothing else is looked at if it was started with --instr-atstart=no.
[[nodiscard]] Result<Sample> count_steps(const std::string& name, const Step& step, std::uint64_t operations);

}  // namespace semel::bench
