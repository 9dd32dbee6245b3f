#include "semel/postgres/search.hpp"

#include "semel/postgres/resolver.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

namespace semel::postgres {
namespace {

bool is_socket_path(const std::string& name) { return name.starts_with('/') || name.starts_with('@'); }

/// One search for a server that fits.
class Search {
public:
    Search(const ConnectionString& target, const ConnectOptions& options, const Accept& accept, Clock& clock,
           Deadline deadline)
        : target_(&target), options_(&options), accept_(&accept), clock_(&clock), deadline_(deadline) {}

    Status run() {
        const auto& hosts = target_->hosts;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            Status found = try_host(hosts[i], hosts.size() - i - 1);
            if (found || found.error().fault != Fault::unavailable) return found;
            remember(std::move(found).error());
        }
        return fail(std::move(failure_));
    }

private:
    Status try_host(const Host& host, std::size_t hosts_left) {
        std::vector<std::string> addresses{host.address};
        if (host.address.empty() && !is_socket_path(host.name)) {
            const Deadline until = deadline_.within(clock_->now(), options_->dns_timeout);
            addresses = SEMEL_TRY(resolve_name(host.name, until, *clock_));
        }
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            const auto shares = static_cast<std::int64_t>(hosts_left + addresses.size() - i);
            Status found = try_endpoint({host.name, addresses[i], host.port}, shares);
            if (found || found.error().fault != Fault::unavailable || i + 1 == addresses.size()) return found;
            remember(std::move(found).error());
        }
        SEMEL_ASSERT(false && "a host whose name was resolved has an address");
    }

    Status try_endpoint(const Endpoint& endpoint, std::int64_t shares) {
        const Instant now = clock_->now();
        // One silent address must not use up the time of those behind it.
        const Duration share = deadline_.remaining(now) / shares;
        const Deadline until = deadline_.within(now, std::min(options_->connect_timeout, share));
        ConnectionHandle connection = SEMEL_TRY(connect_to(*target_, endpoint, *options_, until, *clock_));
        return (*accept_)(std::move(connection), endpoint, until);
    }

    void remember(Error error) {
        if (!failure_.message.empty()) error.message = failure_.message + "; " + error.message;
        failure_ = std::move(error);
    }

    const ConnectionString* target_;
    const ConnectOptions* options_;
    const Accept* accept_;
    Clock* clock_;
    Deadline deadline_;
    Error failure_;
};

}  // namespace

Status search_server(const ConnectionString& target, const ConnectOptions& options, const Accept& accept, Clock& clock,
                     Deadline deadline) {
    return Search(target, options, accept, clock, deadline).run();
}

Result<ConnectionHandle> reach_server(const ConnectionString& target, const ConnectOptions& options, Clock& clock,
                                      Deadline deadline) {
    ConnectionHandle found;
    const Accept keep = [&found](ConnectionHandle connection, const Endpoint&, Deadline) -> Status {
        // What the server says unasked is not for the terminal of whoever runs the program.
        PQsetNoticeReceiver(connection.get(), [](void*, const PGresult*) {}, nullptr);
        found = std::move(connection);
        return {};
    };
    SEMEL_TRY(search_server(target, options, keep, clock, deadline));
    return found;
}

}  // namespace semel::postgres
