#pragma once

#include "semel/http/command_route.hpp"
#include "semel/webhook/signature.hpp"

#include <string>
#include <vector>

namespace orders {

/// Another system that tells us what became of the things we asked it for.
struct Integration {
    std::string name;                             ///< In the path of its callbacks.
    std::string tenant;                           ///< Whose things it speaks of.
    std::vector<semel::webhook::Secret> secrets;  ///< Any of them: the old and the new one while they change.
};

/// Knows a callback's sender by its signature, and the callback by the sender's own id for it: delivered again, under a
/// new timestamp, it is the same command. The clock must outlive it.
[[nodiscard]] semel::http::Identify by_signature(const std::vector<Integration>& integrations, semel::Clock& clock);

}  // namespace orders
