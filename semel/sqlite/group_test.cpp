#include "semel/sqlite/group.hpp"

#include "semel/sqlite/member.hpp"

#include <gtest/gtest.h>

namespace semel::sqlite {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{1h};

TEST(Group, AdmitsUpToItsNumberOfMembers) {
    Group group(2, 1s);
    Member first, second, third;
    group.open(start);
    group.join(first);
    ASSERT_TRUE(group.admits(second, start));
    group.join(second);
    EXPECT_FALSE(group.admits(third, start));
    EXPECT_EQ(group.close().size(), 2U);
    EXPECT_TRUE(group.admits(third, start));
}

TEST(Group, AdmitsNobodyOnceItIsTooOld) {
    Group group(100, 10ms);
    Member first, second;
    group.open(start);
    EXPECT_TRUE(group.admits(first, start + 1h)) << "an empty group holds nobody up";
    group.join(first);
    EXPECT_TRUE(group.admits(second, start + 9ms));
    EXPECT_FALSE(group.admits(second, start + 10ms));
}

TEST(Group, KeepsApartWhoMustBeAlone) {
    Group group(100, 1s);
    Member alone, other;
    alone.alone = true;
    group.open(start);
    group.join(other);
    EXPECT_FALSE(group.admits(alone, start));
    (void)group.close();
    group.open(start);
    group.join(alone);
    EXPECT_FALSE(group.admits(other, start));
}

TEST(Group, RunsAsManyTransactionsAloneAsWereDestroyed) {
    Group group(100, 1s);
    Member member, other;
    group.stand_alone(2);
    for (int i = 0; i < 2; ++i) {
        group.open(start);
        group.join(member);
        EXPECT_FALSE(group.admits(other, start)) << i;
        (void)group.close();
    }
    group.open(start);
    group.join(member);
    EXPECT_TRUE(group.admits(other, start));
}

}  // namespace
}  // namespace semel::sqlite
