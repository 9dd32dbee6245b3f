#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/router.hpp"
#include "semel/retry/deadline.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace semel::http {

struct HealthOptions {
    /// Whether requests can be served: ask the store, briefly. Empty: always.
    std::function<Status(Deadline)> ready{};
    Duration check_limit = std::chrono::milliseconds(500);
    /// How long an answer of `ready` is believed, so that probes cannot become a load.
    Duration keep = std::chrono::seconds(1);
};

/// `/livez` and `/readyz`. The first says that the process turns, and never asks the store: a store
/// that is away is no reason to restart this process. The second says whether to send requests here;
/// from `drain` on it says no, before the server stops accepting. Thread-safe.
class Health {
public:
    Health(HealthOptions options, Clock& clock);

    /// Adds both routes, open to everyone. They keep what they need alive.
    void add_to(Router& router) const;
    void drain() noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace semel::http
