#include "apps/orders/domain/step.hpp"

#include <algorithm>

namespace orders {
namespace {

std::string spoken(const Step& step) {
    std::string text;
    for (const std::string_view state : step.from) {
        if (state.empty()) continue;
        if (!text.empty()) text += " or ";
        text += state;
    }
    return text;
}

}  // namespace

bool Step::allowed_from(std::string_view state) const noexcept {
    return !state.empty() && std::ranges::find(from, state) != from.end();
}

std::optional<Refusal> obstacle(const Step& step, const Snapshot& found, std::int64_t expected_version) {
    if (!step.allowed_from(found.state))
        return WrongState{.kind = std::string(found.kind),
                          .state = std::string(found.state),
                          .version = found.version,
                          .needed = spoken(step)};
    if (found.version != expected_version) return Stale{.kind = std::string(found.kind), .version = found.version};
    return std::nullopt;
}

}  // namespace orders
