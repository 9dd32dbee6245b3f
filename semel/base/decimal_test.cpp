#include "semel/base/decimal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

namespace semel {
namespace {

Decimal decimal(std::string_view text) {
    auto parsed = Decimal::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *parsed : Decimal();
}
std::string text(const Result<Decimal>& result) { return result ? result->text() : "refused"; }

const std::string nines(38, '9');

/// Any number of up to 38 digits at any scale; extremes often.
rc::Gen<Decimal> any_decimal() {
    return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint64_t>(), rc::gen::arbitrary<std::uint64_t>(),
                                       rc::gen::inRange(0, 39), rc::gen::inRange(0, 39), rc::gen::arbitrary<bool>()),
                        [](const auto& parts) {
                            const auto& [high, low, digits, scale, negative] = parts;
                            Int128 bound = 1;
                            for (int i = 0; i < digits; ++i) bound *= 10;
                            const Int128 value =
                                ((static_cast<Int128>(high >> 1U) << 64U) | static_cast<Int128>(low)) % bound;
                            return *Decimal::of(negative ? -value : value, scale);
                        });
}
/// Small enough that no operation overflows 128 bits, for comparison with plain arithmetic.
rc::Gen<Decimal> small_decimal() {
    return rc::gen::map(
        rc::gen::pair(rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000), rc::gen::inRange(0, 8)),
        [](const auto& parts) { return *Decimal::of(parts.first, parts.second); });
}
/// Of a small one, at scale 8.
Int128 at_scale_8(const Decimal& d) {
    Int128 value = d.coefficient();
    for (int i = d.scale(); i < 8; ++i) value *= 10;
    return value;
}

TEST(Decimal, ReadsEveryFormAndKeepsTheScale) {
    EXPECT_EQ(decimal("-12.50").text(), "-12.50");
    EXPECT_EQ(decimal("3").text(), "3");
    EXPECT_EQ(decimal(".5").text(), "0.5");
    EXPECT_EQ(decimal("5.").text(), "5");
    EXPECT_EQ(decimal("+7").text(), "7");
    EXPECT_EQ(decimal("1e3").text(), "1000");
    EXPECT_EQ(decimal("1.25E1").text(), "12.5");
    EXPECT_EQ(decimal("125e-2").text(), "1.25");
    EXPECT_EQ(decimal("-0.00").text(), "0.00");
    EXPECT_EQ(decimal("000012").text(), "12");
    EXPECT_EQ(decimal("0e9999").text(), "0");
    EXPECT_EQ(decimal("1e-38").text(), "0." + std::string(37, '0') + "1");
    EXPECT_EQ(decimal(nines).text(), nines);
    EXPECT_EQ(decimal("-." + nines).text(), "-0." + nines);
}

TEST(Decimal, RefusesWhatIsNotANumber) {
    for (const char* wrong :
         {"",    "-",  "+",  ".",   "-.",    "e3",   "1e",    "1e+",     "NaN",      "Infinity", "-inf",
          "1,5", " 1", "1 ", "--1", "1.2.3", "0x10", "1e1.5", "1e99999", "1e-99999", "1_000"})
        EXPECT_EQ(Decimal::parse(wrong).error().fault, Fault::rejected) << wrong;
}

TEST(Decimal, RefusesMoreThan38Digits) {
    for (const std::string& wrong : {"1" + std::string(38, '0'), nines + ".0", std::string("1e38"),
                                     std::string("1e-39"), "0." + std::string(38, '0') + "1"})
        EXPECT_FALSE(Decimal::parse(wrong)) << wrong;
    EXPECT_FALSE(Decimal::of(1, -1));
    EXPECT_FALSE(Decimal::of(1, 39));
    Int128 limit = 1;
    for (int i = 0; i < 38; ++i) limit *= 10;
    EXPECT_FALSE(Decimal::of(limit, 0));
    EXPECT_FALSE(Decimal::of(-limit, 0));
    EXPECT_TRUE(Decimal::of(limit - 1, 0));
}

TEST(Decimal, WhatIsWrittenIsReadBackAlike) {
    EXPECT_TRUE(rc::check([] {
        const Decimal d = *any_decimal();
        const Decimal back = *Decimal::parse(d.text());
        RC_ASSERT(back.coefficient() == d.coefficient());
        RC_ASSERT(back.scale() == d.scale());
    }));
}

TEST(Decimal, AddsSubtractsAndMultipliesExactly) {
    EXPECT_EQ(text(decimal("0.1").plus(decimal("0.2"))), "0.3");
    EXPECT_EQ(text(decimal("1.50").minus(decimal("2"))), "-0.50");
    EXPECT_EQ(text(decimal("-1.5").times(decimal("0.20"))), "-0.300");
    EXPECT_TRUE(rc::check([] {
        const Decimal a = *small_decimal();
        const Decimal b = *small_decimal();
        RC_ASSERT(at_scale_8(*a.plus(b)) == at_scale_8(a) + at_scale_8(b));
        RC_ASSERT(at_scale_8(*a.minus(b)) == at_scale_8(a) - at_scale_8(b));
        RC_ASSERT(a.times(b)->coefficient() == a.coefficient() * b.coefficient());
        RC_ASSERT(a.times(b)->scale() == a.scale() + b.scale());
    }));
}

TEST(Decimal, ResultThatFitsWithoutItsTrailingZerosIsGiven) {
    EXPECT_EQ(text(decimal(nines).plus(decimal("0.00"))), nines);
    EXPECT_EQ(text(decimal("9" + std::string(36, '9') + ".5").plus(decimal("0.5"))), "1" + std::string(37, '0'));
    EXPECT_EQ(text(decimal("5e37").times(decimal("0.2"))), "1" + std::string(37, '0'));
    EXPECT_EQ(text(decimal("1e-20").times(decimal("1e20"))), "1." + std::string(20, '0'));
    EXPECT_EQ(text(decimal("5e-38").times(decimal("2"))), "0." + std::string(36, '0') + "10");
    EXPECT_EQ(text(decimal("5e-38").times(decimal("0.2"))), "0." + std::string(37, '0') + "1");
}

TEST(Decimal, ResultThatDoesNotFitIsRefused) {
    EXPECT_EQ(text(decimal(nines).plus(1)), "refused");
    EXPECT_EQ(text(decimal("-" + nines).minus(1)), "refused");
    EXPECT_EQ(text(decimal(nines).plus(decimal("0.5"))), "refused");
    EXPECT_EQ(text(decimal(nines).times(decimal(nines))), "refused");
    EXPECT_EQ(text(decimal("1e-38").times(decimal("0.1"))), "refused");
    EXPECT_EQ(decimal(nines).plus(1).error().fault, Fault::rejected);
}

TEST(Decimal, ArithmeticOnAnythingIsExactOrRefused) {
    EXPECT_TRUE(rc::check([] {
        const Decimal a = *any_decimal();
        const Decimal b = *any_decimal();
        const auto sum = a.plus(b);
        RC_ASSERT(sum.has_value() == b.plus(a).has_value());
        if (sum) {
            RC_ASSERT(*sum == *b.plus(a));
            RC_ASSERT(*sum->minus(b) == a);
        }
        const auto product = a.times(b);
        RC_ASSERT(product.has_value() == b.times(a).has_value());
        if (product) RC_ASSERT(*product == *b.times(a));
        RC_ASSERT(*a.minus(a) == Decimal());
        RC_ASSERT(*a.times(1) == a);
    }));
}

TEST(Decimal, RoundsAsAsked) {
    using enum Rounding;
    EXPECT_EQ(text(decimal("2.5").rounded(0, half_even)), "2");
    EXPECT_EQ(text(decimal("3.5").rounded(0, half_even)), "4");
    EXPECT_EQ(text(decimal("-2.5").rounded(0, half_even)), "-2");
    EXPECT_EQ(text(decimal("2.51").rounded(0, half_even)), "3");
    EXPECT_EQ(text(decimal("2.5").rounded(0, half_up)), "3");
    EXPECT_EQ(text(decimal("-2.5").rounded(0, half_up)), "-3");
    EXPECT_EQ(text(decimal("2.49").rounded(0, half_up)), "2");
    EXPECT_EQ(text(decimal("-2.99").rounded(1, down)), "-2.9");
    EXPECT_EQ(text(decimal("1.005").rounded(2, half_up)), "1.01");
    EXPECT_EQ(text(decimal("1.5").rounded(3, down)), "1.500");
    EXPECT_EQ(text(decimal("0." + nines).rounded(0, half_even)), "1");
    EXPECT_EQ(text(decimal(nines).rounded(1, down)), "refused");
    EXPECT_EQ(text(decimal("1").rounded(-1, down)), "refused");
    EXPECT_EQ(text(decimal("1").rounded(39, down)), "refused");
}

TEST(Decimal, RoundingIsNeverFurtherThanHalfAStep) {
    EXPECT_TRUE(rc::check([] {
        const Decimal d = *any_decimal();
        const int scale = *rc::gen::inRange(0, 37);
        for (const Rounding rounding : {Rounding::half_even, Rounding::half_up}) {
            const auto rounded = d.rounded(scale, rounding);
            if (!rounded) continue;  // More decimal places than fit.
            const Decimal off = *d.minus(*rounded);
            const Decimal half = *Decimal::of(5, scale + 1);
            RC_ASSERT(off <= half);
            RC_ASSERT(off >= *Decimal().minus(half));
        }
    }));
}

TEST(Decimal, ComparesByValueAndNotByScale) {
    EXPECT_EQ(decimal("1.5"), decimal("1.50"));
    EXPECT_EQ(decimal("0"), decimal("-0.000"));
    EXPECT_LT(decimal("-1.51"), decimal("-1.5"));
    EXPECT_LT(decimal("-0.1"), decimal("0"));
    EXPECT_GT(decimal(nines), decimal("0." + nines));
    EXPECT_GT(decimal(nines), decimal("1e-38"));
    EXPECT_LT(decimal("-" + nines), decimal("-." + nines));
    EXPECT_TRUE(rc::check([] {
        const Decimal a = *any_decimal();
        const Decimal b = *any_decimal();
        RC_ASSERT((a < b) == (b > a));
        RC_ASSERT((a == b) == (!(a < b) && !(a > b)));
        if (const auto difference = a.minus(b)) RC_ASSERT((a < b) == difference->negative());
        if (a.scale() < Decimal::scale_max) {
            if (const auto wider = a.rounded(a.scale() + 1, Rounding::down)) RC_ASSERT(*wider == a);
        }
    }));
}

}  // namespace
}  // namespace semel
