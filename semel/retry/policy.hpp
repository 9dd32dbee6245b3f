#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

/// How chance spreads the delays, so that clients that failed together do not return together.
enum class Jitter : std::uint8_t {
    none,          ///< The full exponential delay. Only where nobody else retries.
    full,          ///< Uniform from zero to the exponential delay.
    equal,         ///< Half of the exponential delay, plus up to the other half.
    decorrelated,  ///< Uniform from the base to three times the delay before.
};

[[nodiscard]] std::string_view name(Jitter) noexcept;

/// What a Policy is made of.
struct PolicySpec {
    /// Attempts in all, the first included.
    std::uint32_t attempts = 5;
    /// No attempt starts later than this after the first.
    Duration elapsed = std::chrono::seconds(30);
    /// The exponential delay starts here and doubles.
    Duration base = std::chrono::milliseconds(20);
    /// No delay is longer, not even one that the other side asked for.
    Duration cap = std::chrono::seconds(2);
    /// Where the delay starts after the other side asked for less.
    Duration throttled_base = std::chrono::milliseconds(500);
    Jitter jitter = Jitter::full;
    /// How long an attempt is expected to take: one that would not fit before the deadline is not
    /// started. Zero if nothing is known.
    Duration expected_attempt{};

    friend constexpr bool operator==(const PolicySpec&, const PolicySpec&) = default;
};

/// How often, how long and how patiently to retry: a plain value, valid by construction. It holds
/// no progress; that is the Schedule's.
class Policy {
public:
    static constexpr std::uint32_t attempts_max = 1000;
    static constexpr Duration cap_max = std::chrono::hours(1);
    static constexpr Duration elapsed_max = std::chrono::days(30);

    /// The defaults of PolicySpec.
    constexpr Policy() noexcept = default;
    /// An Error (`rejected`) names the field that is wrong and what it may be.
    [[nodiscard]] static Result<Policy> create(const PolicySpec& spec);
    /// A single attempt.
    [[nodiscard]] static constexpr Policy once() noexcept {
        Policy policy;
        policy.spec_.attempts = 1;
        return policy;
    }

    [[nodiscard]] constexpr const PolicySpec& spec() const noexcept { return spec_; }
    /// "5 attempts in 30s, delays from 20ms (throttled 500ms) to 2s, full jitter".
    [[nodiscard]] std::string text() const;

    friend constexpr bool operator==(const Policy&, const Policy&) = default;

private:
    PolicySpec spec_;
};

}  // namespace semel
