#pragma once

#include "semel/base/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel::simulation {

/// What can go wrong, each kind with a rate of its own that a seed draws.
enum class Trouble : std::uint8_t {
    fail_before,   ///< The database never saw the step.
    fail_after,    ///< The database did it and could not say so.
    conflict,      ///< The database refuses the statement; the transaction can only be rolled back.
    lose_commit,   ///< COMMIT arrived, or not, and nobody knows.
    late_commit,   ///< COMMIT arrives after whoever sent it has given up.
    stall,         ///< A step takes longer than its deadline.
    kill,          ///< The process dies.
    broker_away,   ///< Takes nothing, or delivers nothing.
    broker_lost,   ///< Took it, or not, and the answer got lost.
    broker_twice,  ///< Takes or delivers it twice.
    broker_slow,   ///< Asks for less, or takes longer than it may.
    poison,        ///< A message that is refused, or a handler that fails.
    bank_lost,     ///< The other system did it, or not, and the answer got lost.
    bank_away,     ///< The other system did nothing and says so.
};
inline constexpr std::size_t trouble_count = 14;
[[nodiscard]] std::string_view name(Trouble) noexcept;
[[nodiscard]] std::optional<Trouble> trouble_called(std::string_view name) noexcept;

/// The troubles of one run. A kind that is switched off is still drawn for, so that the rest of the run stays alike.
class Troubles {
public:
    explicit Troubles(Random& random);

    /// Whether it happens now.
    [[nodiscard]] bool strikes(Trouble kind) noexcept;
    void switch_off(Trouble kind) noexcept { off_ |= 1U << static_cast<unsigned>(kind); }
    void stop() noexcept { stopped_ = true; }
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }
    /// How often each struck.
    [[nodiscard]] std::string describe() const;

private:
    Random* random_;
    std::array<std::uint32_t, trouble_count> per_ten_thousand_{};
    std::array<std::uint32_t, trouble_count> struck_{};
    std::uint32_t off_ = 0;
    bool stopped_ = false;
};

}  // namespace semel::simulation
