#include "semel/base/random.hpp"

#include "semel/base/assert.hpp"

#include <sys/random.h>

#include <bit>

namespace semel {
namespace {

/// Steele, Lea and Flood's SplitMix64: spreads one seed over a whole state.
std::uint64_t split_mix(std::uint64_t& state) noexcept {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::uint64_t operating_system_seed() noexcept {
    std::uint64_t seed = 0;
    SEMEL_ASSERT(::getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed));
    return seed;
}

class ThreadRandom final : public Random {
public:
    std::uint64_t next() noexcept override {
        thread_local SeededRandom generator(operating_system_seed());
        return generator.next();
    }
};

}  // namespace

std::uint64_t Random::below(std::uint64_t bound) noexcept {
    if (bound <= 1) return 0;
    // The numbers past the last whole multiple of `bound` would favour the small results.
    const std::uint64_t skewed = (0 - bound) % bound;
    for (;;) {
        const std::uint64_t drawn = next();
        if (drawn >= skewed) return drawn % bound;
    }
}

SeededRandom::SeededRandom(std::uint64_t seed) noexcept {
    for (auto& word : state_) word = split_mix(seed);
}

// xoshiro256** by Blackman and Vigna.
std::uint64_t SeededRandom::next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

Random& system_random() noexcept {
    static ThreadRandom random;
    return random;
}

}  // namespace semel
