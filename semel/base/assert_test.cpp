#include "semel/base/assert.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(AssertDeathTest, AbortsAndSaysWhatWasExpectedAndWhere) {
    const int stock = -1;
    EXPECT_DEATH(SEMEL_ASSERT(stock >= 0), "assert_test.cpp:[0-9]+: assertion failed: stock >= 0");
}

TEST(Assert, LooksOnceAndGoesOn) {
    int looked = 0;
    SEMEL_ASSERT(++looked == 1);
    EXPECT_EQ(looked, 1);
}

}  // namespace
}  // namespace semel
