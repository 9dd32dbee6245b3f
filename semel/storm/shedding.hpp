#pragma once

#include "semel/retry/policy.hpp"

#include <cstdint>
#include <optional>

namespace semel::storm {

/// A bucket of retries beside each client: a first try puts a little in, a retry takes one out.
struct Bucket {
    double size = 5;
    double per_first_try = 0.1;
};

/// Clients that call a server at a steady rate; each call fails by chance, whatever the load.
struct SheddingModel {
    std::uint32_t clients = 100;
    std::uint32_t calls_per_second = 10;
    std::uint32_t seconds = 30;
    double failure_rate = 0.5;
    std::uint32_t attempts = 1;      ///< The first included.
    std::optional<Bucket> bucket{};  ///< A retry needs more than one whole retry in it.
};

struct SheddingResult {
    double success = 0;  ///< Share of the calls that succeeded in the end.
    double load = 0;     ///< Attempts for each call.
};

[[nodiscard]] SheddingResult run(const SheddingModel& model, std::uint64_t seed);

}  // namespace semel::storm
