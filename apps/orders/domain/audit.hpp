#pragma once

#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace orders {

/// Who changed what, when, by which command, from which state and version to which: written with the change.
struct AuditEntry {
    semel::Uuid id;
    semel::Timestamp at{};
    std::string caller;
    std::string operation;
    std::string command_id;
    std::string correlation_id;
    std::string kind;  ///< Of the resource: "quote".
    semel::Uuid resource_id;
    std::optional<semel::Uuid> parent_id{};  ///< Of a task or an asset, its order; of an order, its quote.
    std::string from_state{};                ///< Empty: it did not exist.
    std::string to_state;
    std::int64_t version = 1;  ///< After; it was one less before.
    std::int64_t attempt = 1;  ///< Of the caller's, as it says.
    std::int64_t runs = 1;     ///< How often the transaction was run until it committed.
    std::string reason{};
    std::int64_t position = 0;  ///< Given by the store: of one resource in the order of its changes.
    std::int64_t replays = 0;   ///< How often the reply was asked for again; only where it was read.
    std::optional<semel::Timestamp> last_replay{};
};

}  // namespace orders
