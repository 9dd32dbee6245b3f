#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace semel {
namespace {

/// Gives what it was given.
class ScriptedRandom final : public Random {
public:
    explicit ScriptedRandom(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}
    std::uint64_t next() noexcept override { return numbers_.at(at_++); }
    [[nodiscard]] std::size_t drawn() const noexcept { return at_; }

private:
    std::vector<std::uint64_t> numbers_;
    std::size_t at_ = 0;
};

TEST(SeededRandom, FirstNumbersAreFixedForGood) {
    // A seed printed by a failed simulation must replay it in any later version.
    SeededRandom zero(0);
    EXPECT_EQ(zero.next(), 0x99ec5f36cb75f2b4U);
    EXPECT_EQ(zero.next(), 0xbf6e1f784956452aU);
    EXPECT_EQ(zero.next(), 0x1a5f849d4933e6e0U);
}

TEST(SeededRandom, SameSeedSameNumbersOtherSeedOthers) {
    SeededRandom a(42);
    SeededRandom b(42);
    SeededRandom c(43);
    int equal = 0;
    for (int i = 0; i < 1'000; ++i) {
        const auto number = a.next();
        EXPECT_EQ(number, b.next());
        if (number == c.next()) ++equal;
    }
    EXPECT_EQ(equal, 0);
}

TEST(Random, BelowStaysBelow) {
    SeededRandom random(1);
    for (const std::uint64_t bound : {2ULL, 3ULL, 10ULL, 1ULL << 63U, ~0ULL})
        for (int i = 0; i < 1'000; ++i) EXPECT_LT(random.below(bound), bound);
    EXPECT_EQ(random.below(0), 0U);
    EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, BelowThrowsAwayWhatWouldFavourSmallResults) {
    // 2^64 mod 3 is 1, so exactly one number has to go for the rest to fall evenly.
    ScriptedRandom random({0, 1, std::numeric_limits<std::uint64_t>::max()});
    EXPECT_EQ(random.below(3), 1U);
    EXPECT_EQ(random.drawn(), 2U);
    EXPECT_EQ(random.below(3), 0U);
}

TEST(Random, BelowIsEven) {
    SeededRandom random(7);
    std::array<int, 10> counts{};
    for (int i = 0; i < 100'000; ++i) ++counts[random.below(10)];
    for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(SystemRandom, DoesNotRepeatItself) {
    Random& random = system_random();
    EXPECT_NE(random.next(), random.next());
}

}  // namespace
}  // namespace semel
