#pragma once

#include <array>
#include <cstdint>

namespace semel {

/// The one source of chance. An instance serves one thread at a time unless it says otherwise.
class Random {
public:
    virtual ~Random() = default;
    [[nodiscard]] virtual std::uint64_t next() noexcept = 0;

    /// Uniform in [0, bound); 0 if bound is 0. Unbiased.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept;
};

/// The same seed gives the same numbers on every machine.
class SeededRandom final : public Random {
public:
    explicit SeededRandom(std::uint64_t seed) noexcept;
    [[nodiscard]] std::uint64_t next() noexcept override;

private:
    std::array<std::uint64_t, 4> state_;
};

/// Seeded by the operating system, one generator per thread behind it: safe to share.
/// Not for secrets.
[[nodiscard]] Random& system_random() noexcept;

}  // namespace semel
