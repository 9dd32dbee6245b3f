#include "semel/retry/policy.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;

TEST(Policy, DefaultsAreValid) {
    EXPECT_EQ(Policy::create({}).value(), Policy());
    static_assert(Policy().spec().attempts == 5);
}

TEST(Policy, OnceIsASingleAttempt) {
    static_assert(Policy::once().spec().attempts == 1);
    EXPECT_TRUE(Policy::create(Policy::once().spec()).has_value());
    EXPECT_EQ(Policy::once().text(), "1 attempt");
}

TEST(Policy, PrintsEverythingItDecidesBy) {
    EXPECT_EQ(Policy().text(), "5 attempts in 30s, delays from 20ms (throttled 500ms) to 2s, full jitter");
    const PolicySpec spec{.attempts = 3,
                          .elapsed = 2h,
                          .base = 1500us,
                          .cap = 90s,
                          .throttled_base = 1501ns + 1500us,
                          .jitter = Jitter::decorrelated,
                          .expected_attempt = 5ms};
    EXPECT_EQ(Policy::create(spec)->text(),
              "3 attempts in 2h, delays from 1500us (throttled 1501501ns) to 90s, decorrelated jitter, "
              "an attempt expected to take 5ms");
}

struct Mistake {
    const char* field;
    std::function<void(PolicySpec&)> make;
};

class PolicyMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(PolicyMistake, IsAnErrorThatNamesTheFieldAndWhatIsAllowed) {
    PolicySpec spec;
    GetParam().make(spec);
    const auto policy = Policy::create(spec);
    ASSERT_FALSE(policy.has_value());
    EXPECT_EQ(policy.error().fault, Fault::rejected);
    EXPECT_TRUE(policy.error().message.starts_with("retry policy: " + std::string(GetParam().field) + " must be "))
        << policy.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, PolicyMistake,
    ::testing::Values(Mistake{"attempts", [](auto& spec) { spec.attempts = 0; }},
                      Mistake{"attempts", [](auto& spec) { spec.attempts = 1001; }},
                      Mistake{"elapsed", [](auto& spec) { spec.elapsed = 0s; }},
                      Mistake{"elapsed", [](auto& spec) { spec.elapsed = Duration::max(); }},
                      Mistake{"cap", [](auto& spec) { spec.cap = 0s; }},
                      Mistake{"cap", [](auto& spec) { spec.cap = 2h; }},
                      Mistake{"base", [](auto& spec) { spec.base = 0s; }},
                      Mistake{"base", [](auto& spec) { spec.base = -1ms; }},
                      Mistake{"base", [](auto& spec) { spec.base = 3s; }},
                      Mistake{"throttled_base", [](auto& spec) { spec.throttled_base = 1ms; }},
                      Mistake{"throttled_base", [](auto& spec) { spec.throttled_base = 3s; }},
                      Mistake{"jitter", [](auto& spec) { spec.jitter = static_cast<Jitter>(9); }},
                      Mistake{"expected_attempt", [](auto& spec) { spec.expected_attempt = -1ns; }},
                      Mistake{"expected_attempt", [](auto& spec) { spec.expected_attempt = Duration::max(); }}));

}  // namespace
}  // namespace semel
