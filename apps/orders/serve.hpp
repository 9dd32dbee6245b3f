#pragma once

#include "apps/orders/config.hpp"

namespace orders {

/// Brings the schemas up to date, says on standard output where it listens, and serves until SIGTERM or SIGINT; then
/// takes no more requests, finishes those it has, and returns. A second signal ends the process at once. An Error says
/// why it could not begin, or that requests were cut off at the end of the drain time.
///
/// Call it before anything starts a thread: it decides who gets the signals.
[[nodiscard]] semel::Status serve(const Config& config);

}  // namespace orders
