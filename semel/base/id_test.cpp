#include "semel/base/id.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

int byte(const Uuid& id, std::size_t index) { return std::to_integer<int>(id.bytes[index]); }

class UuidGeneratorTest : public ::testing::Test {
protected:
    testing::ManualClock clock_;
    SeededRandom random_{1};
    UuidGenerator generator_{clock_, random_};
};

TEST_F(UuidGeneratorTest, CarriesVersionVariantAndMillisecond) {
    clock_.set_wall(Timestamp(std::chrono::microseconds(0x0190163d8694'000LL + 999)));
    for (int i = 0; i < 100; ++i) {
        const Uuid id = generator_.next();
        EXPECT_EQ(byte(id, 6) >> 4, 7);
        EXPECT_EQ(byte(id, 8) >> 6, 2);
    }
    clock_.set_wall(Timestamp(milliseconds(0x0190163d8694LL)));
    UuidGenerator fresh(clock_, random_);
    EXPECT_EQ(fresh.next().text().substr(0, 13), "0190163d-8694");
}

TEST_F(UuidGeneratorTest, StrictlyIncreasesWhileTheClockStandsStill) {
    Uuid last = generator_.next();
    for (int i = 0; i < 20'000; ++i) {
        const Uuid next = generator_.next();
        ASSERT_LT(last, next) << i;
        last = next;
    }
}

TEST_F(UuidGeneratorTest, StrictlyIncreasesWhenTheClockGoesBack) {
    Uuid last = generator_.next();
    for (int i = 0; i < 1'000; ++i) {
        if (i % 10 == 0) clock_.set_wall(clock_.wall() - hours(1));
        if (i % 25 == 0) clock_.set_wall(clock_.wall() + hours(3));
        const Uuid next = generator_.next();
        ASSERT_LT(last, next) << i;
        last = next;
    }
}

TEST_F(UuidGeneratorTest, CalendarBeforeTheEpochCountsAsTheEpoch) {
    clock_.set_wall(Timestamp(hours(-1)));
    EXPECT_EQ(generator_.next().text().substr(0, 13), "00000000-0000");
}

TEST_F(UuidGeneratorTest, DifferentChanceGivesDifferentIds) {
    SeededRandom other(2);
    UuidGenerator second(clock_, other);
    EXPECT_NE(generator_.next(), second.next());
}

TEST(Uuid, FreshOnesDiffer) {
    std::set<Uuid> seen;
    for (int i = 0; i < 10'000; ++i) seen.insert(new_uuid());
    EXPECT_EQ(seen.size(), 10'000U);
}

TEST(Uuid, ReadsWhatItWritesInEitherCase) {
    const char* text = "0190163d-8694-739b-aea5-966c26f8ad91";
    EXPECT_EQ(Uuid::parse(text)->text(), text);
    EXPECT_EQ(Uuid::parse("0190163D-8694-739B-AEA5-966C26F8AD91")->text(), text);
    EXPECT_EQ(byte(*Uuid::parse(text), 0), 0x01);
    EXPECT_EQ(byte(*Uuid::parse(text), 15), 0x91);
}

TEST(Uuid, RefusesEveryOtherForm) {
    for (const char* wrong : {"", "0190163d", "0190163d8694739baea5966c26f8ad91",
                              "{190163d-8694-739b-aea5-966c26f8ad9}", "0190163d-8694-739b-aea5-966c26f8ad9",
                              "0190163d-8694-739b-aea5-966c26f8ad911", "0190163d-8694-739b-aea5-966c26f8ad9g",
                              "0190163d08694-739b-aea5-966c26f8ad91", "0190163d-8694-739baaea5-966c26f8ad91",
                              "0190163--8694-739b-aea5-966c26f8ad91", " 190163d-8694-739b-aea5-966c26f8ad91"})
        EXPECT_EQ(Uuid::parse(wrong).error().fault, Fault::rejected) << wrong;
}

TEST(Uuid, IsOrderedBytewise) {
    EXPECT_LT(*Uuid::parse("00000000-0000-0000-0000-0000000000ff"),
              *Uuid::parse("00000000-0000-0000-0000-000000000100"));
    EXPECT_LT(*Uuid::parse("7fffffff-ffff-ffff-ffff-ffffffffffff"),
              *Uuid::parse("80000000-0000-0000-0000-000000000000"));
}

}  // namespace
}  // namespace semel
