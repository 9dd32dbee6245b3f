// What an operation pays for being retryable when nothing goes wrong.

#include "bench/allocations.hpp"
#include "bench/retry_subject.hpp"

#include <benchmark/benchmark.h>

namespace semel::bench {
namespace {

void measure(benchmark::State& state, const RetryScope RetrySubject::* scope) {
    RetrySubject subject;
    RetrySubject* hidden = &subject;
    benchmark::DoNotOptimize(hidden);
    std::uint64_t n = 0;
    const std::uint64_t before = allocations_of_this_thread();
    for ([[maybe_unused]] auto turn : state) {
        auto result = first_try(*hidden, hidden->*scope, ++n);
        benchmark::DoNotOptimize(result);
    }
    const auto allocations = static_cast<double>(allocations_of_this_thread() - before);
    state.counters["allocations_each"] = allocations / static_cast<double>(n);
}

/// The attempt alone: what is left when the retry is taken away.
void attempt_alone(benchmark::State& state) {
    std::uint64_t n = 0;
    for ([[maybe_unused]] auto turn : state) {
        auto result = Result<std::uint64_t>(++n);
        benchmark::DoNotOptimize(result);
    }
}

void first_try_unguarded(benchmark::State& state) { measure(state, &RetrySubject::bare); }

/// With a budget, a breaker, a deadline and a stop token.
void first_try_guarded(benchmark::State& state) { measure(state, &RetrySubject::guarded); }

BENCHMARK(attempt_alone);
BENCHMARK(first_try_unguarded);
BENCHMARK(first_try_guarded);

}  // namespace
}  // namespace semel::bench

BENCHMARK_MAIN();
