#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/proxy_plan.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace semel::testing {

/// A TCP proxy on loopback in front of a PostgreSQL server, which cuts or stalls conversations at
/// chosen messages. It answers requests for encryption with "no", so a client must not insist on
/// TLS. Its thread ends and all connections close with this object. Thread-safe.
class FaultProxy {
public:
    /// Listens at once. `seed` decides the random delays.
    [[nodiscard]] static Result<std::unique_ptr<FaultProxy>> start(int upstream_port, std::uint64_t seed = 1);
    ~FaultProxy();
    FaultProxy(const FaultProxy&) = delete;
    FaultProxy& operator=(const FaultProxy&) = delete;

    [[nodiscard]] int port() const noexcept;
    [[nodiscard]] std::string url(std::string_view database = "postgres", std::string_view user = "postgres") const;

    /// Takes effect before it returns. A plan for the next connection or commit replaces one that
    /// has not been used.
    void set_plan(const ProxyPlan& plan, ProxyScope scope);
    /// Forgets all plans; what is stalled stays so.
    void clear_plans();
    /// Lets go what is stalled.
    void release();
    /// Cuts every connection there is now.
    void cut_all();

    /// True: nobody listens, connections are refused. Returns when it is so.
    void refuse_connections(bool refuse);
    /// True: connections are accepted and never answered; such a one stays mute for good.
    void accept_and_ignore(bool ignore);
    /// Where new connections go from now on, as when an address moves to a promoted standby.
    void redirect(int upstream_port);

    [[nodiscard]] ProxyCounters counters() const;
    /// Waits until the counters satisfy; false: not within `limit`.
    [[nodiscard]] bool await(const std::function<bool(const ProxyCounters&)>& satisfied, Duration limit) const;

private:
    class Loop;
    explicit FaultProxy(std::unique_ptr<Loop> loop) noexcept;
    std::unique_ptr<Loop> loop_;
};

}  // namespace semel::testing
