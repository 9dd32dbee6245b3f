#include "semel/base/mutant.hpp"

#include <gtest/gtest.h>

namespace {

#if defined(SEMEL_FAILPOINTS)

TEST(Mutant, IsOffUntilItIsSwitchedOnByItsName) {
    EXPECT_FALSE(SEMEL_MUTANT("missing_fence"));
    {
        const semel::mutant::Mutant planted("missing_fence");
        EXPECT_TRUE(SEMEL_MUTANT("missing_fence"));
        EXPECT_FALSE(SEMEL_MUTANT("missing_fences"));
        EXPECT_FALSE(SEMEL_MUTANT(""));
    }
    EXPECT_FALSE(SEMEL_MUTANT("missing_fence"));
}

#else

TEST(Mutant, IsNotCompiledIntoARelease) { static_assert(!SEMEL_MUTANT("missing_fence")); }

#endif

}  // namespace
