#pragma once

#include "semel/base/id.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orders {

/// One change of one resource, to be told and to be remembered.
struct Change {
    std::string_view kind;  ///< "quote"
    semel::Uuid id;
    std::optional<semel::Uuid> parent{};  ///< Of a task or an asset, its order; of an order, its quote.
    std::string_view event;               ///< "quote.submitted"
    std::string_view from{};              ///< The state before; empty: it did not exist.
    std::string_view to;
    std::int64_t version = 1;  ///< After.
    std::string payload;       ///< Of the event: see handlers/events.hpp and docs/events.
    std::string reason{};      ///< What a person gave for it.
};

/// Writes the event and the line of the audit, in the transaction of the change: one without the other cannot be. Only
/// posts.
void record(semel::Work& work, const Change& change);

}  // namespace orders
