#pragma once

#include "semel/http/message.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::http {

/// What answers the requests of one method and path.
struct Route {
    /// Runs on one of the bounded blocking workers. May throw: the client gets INTERNAL_ERROR.
    std::function<Response(Request&)> handle{};
    /// Tried on the event loop first, after authentication; nothing means: queue it for `handle`.
    /// Must not block, or everyone on that loop waits. For liveness and for replies from memory.
    std::function<std::optional<Response>(Request&)> at_once{};
    /// How long a body may be; none: the server's limit.
    std::optional<std::size_t> body_max{};
    /// How long one request may take; none: the server's default. A caller may ask for less.
    std::optional<Duration> deadline{};
    /// Answered without authentication.
    bool open = false;
};

/// Which route answers a request. Filled before the server starts, then only read, by any thread.
class Router {
public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    /// `pattern` is a path whose segments are literal or a variable: "/api/v1/quotes/{id}". A
    /// malformed or repeated one, or a route without `handle` and `at_once`, is a programmer's error.
    /// A literal segment is preferred to a variable.
    void add(std::string_view method, std::string_view pattern, Route route);

    struct Match {
        const Route* route = nullptr;  ///< None: see `allowed`. The route of GET also answers HEAD.
        /// Without a route: the methods that the path has, for `Allow`; empty if there is no such path.
        std::string allowed{};
    };
    /// Finds the route of a path given as decoded segments and fills `request.variables`.
    [[nodiscard]] Match match(std::string_view method, const std::vector<std::string>& segments,
                              Request& request) const;
    /// The route of a path without variables, given as it stands in the request; null if that is not
    /// one. Spares the hot paths their decoding.
    [[nodiscard]] const Route* find_literal(std::string_view method, std::string_view path) const noexcept;

private:
    struct Table;
    std::unique_ptr<Table> table_;
};

}  // namespace semel::http
