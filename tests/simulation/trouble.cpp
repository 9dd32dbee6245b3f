#include "tests/simulation/trouble.hpp"

namespace semel::simulation {
namespace {

constexpr std::array<std::string_view, trouble_count> trouble_names{
    "fail_before", "fail_after",  "conflict",     "lose_commit", "late_commit", "stall",     "kill",
    "broker_away", "broker_lost", "broker_twice", "broker_slow", "poison",      "bank_lost", "bank_away"};
/// Most of each kind, of ten thousand steps that it can strike: more would leave too little that succeeds.
constexpr std::array<std::uint32_t, trouble_count> rate_max{400,  400,  400,  1500, 1500, 250,  400,
                                                            1500, 1500, 1500, 600,  1500, 3000, 2000};

}  // namespace

std::string_view name(Trouble trouble) noexcept { return trouble_names.at(static_cast<std::size_t>(trouble)); }

std::optional<Trouble> trouble_called(std::string_view name) noexcept {
    for (std::size_t i = 0; i < trouble_count; ++i)
        if (trouble_names[i] == name) return static_cast<Trouble>(i);
    return std::nullopt;
}

Troubles::Troubles(Random& random) : random_(&random) {
    // Of each kind none, little or much: a run with one trouble alone shows what a storm of all of them hides.
    for (std::size_t i = 0; i < trouble_count; ++i) {
        constexpr std::array<std::uint32_t, 4> share{0, 10, 40, 100};
        per_ten_thousand_[i] = rate_max[i] * share.at(random.below(share.size())) / 100;
    }
}

bool Troubles::strikes(Trouble kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    const bool struck = random_->below(10'000) < per_ten_thousand_.at(index);
    if (!struck || stopped_ || (off_ & (1U << index)) != 0) return false;
    ++struck_.at(index);
    return true;
}

std::string Troubles::describe() const {
    std::string text;
    for (std::size_t i = 0; i < trouble_count; ++i)
        if (struck_[i] > 0) text += std::string(trouble_names[i]) + " " + std::to_string(struck_[i]) + ", ";
    if (!text.empty()) text.resize(text.size() - 2);
    return text.empty() ? "no trouble" : text;
}

}  // namespace semel::simulation
