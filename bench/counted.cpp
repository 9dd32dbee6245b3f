#include "bench/counted.hpp"

#include "bench/allocations.hpp"

#include <valgrind/callgrind.h>

namespace semel::bench {

Result<std::uint64_t> step_until(const Step& step, std::uint64_t operations) {
    // Most steps of a relay publish nothing, but never as many in a row.
    constexpr int idle_max = 1'000;
    std::uint64_t done = 0;
    for (int idle = 0; done < operations;) {
        const std::uint64_t more = SEMEL_TRY(step());
        idle = more == 0 ? idle + 1 : 0;
        if (idle > idle_max) return fail(Fault::unavailable, "there is nothing left to do");
        done += more;
    }
    return done;
}

Result<Sample> count_steps(const std::string& name, const Step& step, std::uint64_t operations) {
    const Instant begun = system_clock().now();
    const std::uint64_t allocated = allocations_of_this_thread();
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    const Result<std::uint64_t> done = step_until(step, operations);
    CALLGRIND_DUMP_STATS_AT(name.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
    if (!done) return fail(done.error());
    Sample sample{.transactions = *done,
                  .seconds = std::chrono::duration<double>(system_clock().now() - begun).count(),
                  .each = {}};
    sample.each["allocations"] =
        static_cast<double>(allocations_of_this_thread() - allocated) / static_cast<double>(*done);
    return sample;
}

}  // namespace semel::bench
