#include "semel/retry/policy.hpp"

#include <array>
#include <utility>

namespace semel {
namespace {

/// In the largest unit that is exact: "20ms", "90s", "2h".
std::string text_of(Duration duration) {
    static constexpr std::array units = {
        std::pair{Duration(std::chrono::hours(1)), "h"},
        std::pair{Duration(std::chrono::seconds(1)), "s"},
        std::pair{Duration(std::chrono::milliseconds(1)), "ms"},
        std::pair{Duration(std::chrono::microseconds(1)), "us"},
        std::pair{Duration(1), "ns"},
    };
    if (duration == Duration::zero()) return "0s";
    for (const auto& [unit, suffix] : units) {
        if (duration % unit == Duration::zero()) return std::to_string(duration / unit) + suffix;
    }
    return {};
}

tl::unexpected<Error> wrong(std::string_view field, const std::string& allowed, const std::string& given) {
    return fail(Fault::rejected, "retry policy: " + std::string(field) + " must be " + allowed + ", not " + given);
}

tl::unexpected<Error> wrong(std::string_view field, const std::string& allowed, Duration given) {
    return wrong(field, allowed, text_of(given));
}

}  // namespace

std::string_view name(Jitter jitter) noexcept {
    switch (jitter) {
        case Jitter::none: return "none";
        case Jitter::full: return "full";
        case Jitter::equal: return "equal";
        case Jitter::decorrelated: return "decorrelated";
    }
    SEMEL_ASSERT(false && "a Jitter outside its enumeration");
}

Result<Policy> Policy::create(const PolicySpec& spec) {
    constexpr Duration zero{};
    if (spec.attempts < 1 || spec.attempts > attempts_max) {
        return wrong("attempts", "from 1 to " + std::to_string(attempts_max), std::to_string(spec.attempts));
    }
    if (spec.elapsed <= zero || spec.elapsed > elapsed_max) {
        return wrong("elapsed", "more than 0s and at most " + text_of(elapsed_max), spec.elapsed);
    }
    if (spec.cap <= zero || spec.cap > cap_max) {
        return wrong("cap", "more than 0s and at most " + text_of(cap_max), spec.cap);
    }
    if (spec.base <= zero || spec.base > spec.cap) {
        return wrong("base", "more than 0s and at most the cap of " + text_of(spec.cap), spec.base);
    }
    if (spec.throttled_base < spec.base || spec.throttled_base > spec.cap) {
        return wrong("throttled_base", "from the base of " + text_of(spec.base) + " to the cap of " + text_of(spec.cap),
                     spec.throttled_base);
    }
    if (spec.jitter > Jitter::decorrelated) {
        return wrong("jitter", "none, full, equal or decorrelated", std::to_string(std::to_underlying(spec.jitter)));
    }
    if (spec.expected_attempt < zero || spec.expected_attempt > elapsed_max) {
        return wrong("expected_attempt", "from 0s to " + text_of(elapsed_max), spec.expected_attempt);
    }
    Policy policy;
    policy.spec_ = spec;
    return policy;
}

std::string Policy::text() const {
    if (spec_.attempts == 1) return "1 attempt";
    std::string text = std::to_string(spec_.attempts) + " attempts in " + text_of(spec_.elapsed);
    text += ", delays from " + text_of(spec_.base) + " (throttled " + text_of(spec_.throttled_base) + ") to " +
            text_of(spec_.cap);
    text.append(", ").append(name(spec_.jitter)).append(" jitter");
    if (spec_.expected_attempt != Duration::zero()) {
        text += ", an attempt expected to take " + text_of(spec_.expected_attempt);
    }
    return text;
}

}  // namespace semel
