#pragma once

#include "apps/orders/domain/refusal.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orders {

/// One step that a kind of thing can take: from which states, to which, and what the world is told. The steps of a kind
/// stand together in its header, so that its whole life can be read there.
struct Step {
    std::array<std::string_view, 4> from;
    std::string_view to;
    std::string_view event;  ///< "quote.submitted"

    [[nodiscard]] bool allowed_from(std::string_view state) const noexcept;
};

/// What is known of a thing when a step is decided.
struct Snapshot {
    std::string_view kind;
    std::string_view state;
    std::int64_t version = 0;
};

/// What stands in the way of a step of a thing that its caller saw at `expected_version`; none: nothing does. The state
/// goes first: whoever is told of a new version would only come back to be told of the state.
[[nodiscard]] std::optional<Refusal> obstacle(const Step& step, const Snapshot& found, std::int64_t expected_version);

}  // namespace orders
