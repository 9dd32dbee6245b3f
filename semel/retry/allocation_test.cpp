#include "semel/retry/blocking.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations = 0;

void* counted(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

// Replaces the allocation of the whole program, hence a program of its own. Not inlined: GCC would
// see the malloc and the free apart from each other, and take them for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return counted(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace semel {
namespace {

using namespace std::chrono_literals;

class Allocation : public ::testing::Test {
protected:
    template <class F>
    static std::size_t count(F&& run) {
        const std::size_t before = allocations;
        run();
        return allocations - before;
    }

    testing::ManualClock clock;
    SeededRandom random{1};
    Policy policy;
    Budget budget;
    Breaker breaker;
    std::stop_source source;
    RetryScope scope{.budget = &budget,
                     .breaker = &breaker,
                     .deadline = Deadline::after(clock.now(), 1h),
                     .stop = source.get_token(),
                     .repeat = Repeat::safe};
};

TEST_F(Allocation, TheCounterCounts) {
    EXPECT_EQ(count([] {
                  int* volatile kept = new int(1);  // Volatile, or the compiler leaves both out.
                  delete kept;
              }),
              1U);
}

TEST_F(Allocation, AFirstTryThatSucceedsAllocatesNothing) {
    const std::size_t made = count([&] {
        for (int i = 0; i < 1000; ++i) {
            const auto result = retry_blocking(clock, random, policy, scope, [&]() -> Result<int> { return i; });
            if (!result || *result != i) std::abort();
        }
    });
    EXPECT_EQ(made, 0U);
}

TEST_F(Allocation, DecidingAboutAFailureAllocatesNothing) {
    Error error;
    error.fault = Fault::unavailable;
    const std::size_t made = count([&] {
        Schedule schedule(policy, clock.now(), scope.deadline);
        for (int i = 0; i < 10; ++i) {
            static_cast<void>(schedule.on_failure(error, Repeat::safe, clock.now(), budget, breaker, random));
            auto permit = breaker.acquire(clock.now());
            permit.failed(error, clock.now());
        }
    });
    EXPECT_EQ(made, 0U);
}

}  // namespace
}  // namespace semel
