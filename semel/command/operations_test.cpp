#include "semel/command/operations.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

LeasedHandler handler() {
    return [](LeasedWork&) -> Result<Finish> { return Finish(Reply{}); };
}

template <class F>
Status added_with(F&& change) {
    Operations operations;
    LeasedOptions options;
    change(options);
    return operations.add("transfer", handler(), options);
}

TEST(Operations, TakesLimitsFromZeroTo30Days) {
    EXPECT_TRUE(added_with([](LeasedOptions&) {}));
    EXPECT_TRUE(added_with([](LeasedOptions& options) {
        options.lease = limit_max;
        options.ask.grace = limit_max;
        options.backoff.cap = limit_max;
        options.in_progress_wait = Duration::zero();
    }));
}

TEST(Operations, RefusesLimitsThatCannotWorkOrWouldOverflow) {
    constexpr Duration tick(1);
    for (const Duration wrong : {-tick, limit_max + tick, Duration::max(), Duration::min()}) {
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.lease = wrong; }));
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.ask.grace = wrong; }));
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.backoff.base = wrong; }));
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.backoff.throttled_base = wrong; }));
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.backoff.cap = wrong; }));
        EXPECT_FALSE(added_with([wrong](LeasedOptions& options) { options.in_progress_wait = wrong; }));
    }
    EXPECT_FALSE(added_with([](LeasedOptions& options) { options.lease = Duration::zero(); }));
    EXPECT_FALSE(added_with([](LeasedOptions& options) { options.retention = Duration::zero(); }));
    EXPECT_FALSE(added_with([](LeasedOptions& options) { options.attempts_max = 0; }));
    EXPECT_FALSE(added_with([](LeasedOptions& options) { options.ask.asks_max = 0; }));
}

}  // namespace
}  // namespace semel
