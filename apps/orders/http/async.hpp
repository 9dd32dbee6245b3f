#pragma once

#include "semel/command/worker.hpp"
#include "semel/http/command_route.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace orders {

/// Who executes what clients do not wait for. Both must outlive the routes.
struct AsyncContext {
    semel::LeasedExecutor& executor;
    semel::Worker& worker;
};

/// What is wrong with a request before it is stored; none: nothing.
using CheckRequest = std::function<std::optional<semel::http::Problem>(const semel::http::Request&)>;

/// The same route for clients who would rather not wait: with `Prefer: respond-async` a request is checked, stored and
/// answered with 202 and the address of its status; a worker executes it. One key is one command either way: a repeat
/// is told where the command stands, or gets its reply once there is one.
[[nodiscard]] semel::http::Route with_async(semel::http::Route route, std::string_view operation, CheckRequest check,
                                            const AsyncContext& async, const semel::http::CommandRoutes& commands);

}  // namespace orders
