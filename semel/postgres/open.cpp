#include "semel/postgres/open.hpp"

#include "semel/postgres/connect.hpp"
#include "semel/postgres/resolver.hpp"
#include "semel/postgres/session.hpp"

#include <algorithm>
#include <utility>

namespace semel::postgres {
namespace {

bool is_socket_path(const std::string& name) { return name.starts_with('/') || name.starts_with('@'); }

/// One search for a server that fits.
class Search {
public:
    Search(const ConnectionString& target, const ConnectOptions& options, Clock& clock, Deadline deadline)
        : target_(&target), options_(&options), clock_(&clock), deadline_(deadline) {}

    Result<std::unique_ptr<Session>> run() {
        const auto& hosts = target_->hosts;
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            auto found = try_host(hosts[i], hosts.size() - i - 1);
            if (found) return found;
            if (found.error().fault != Fault::unavailable) return found;
            remember(std::move(found).error());
        }
        return fail(std::move(failure_));
    }

private:
    Result<std::unique_ptr<Session>> try_host(const Host& host, std::size_t hosts_left) {
        std::vector<std::string> addresses{host.address};
        if (host.address.empty() && !is_socket_path(host.name)) {
            const Deadline until = deadline_.within(clock_->now(), options_->dns_timeout);
            addresses = SEMEL_TRY(resolve_name(host.name, until, *clock_));
        }
        Result<std::unique_ptr<Session>> found;
        for (std::size_t i = 0; i < addresses.size(); ++i) {
            const auto shares = static_cast<std::int64_t>(hosts_left + addresses.size() - i);
            found = try_endpoint({host.name, addresses[i], host.port}, shares);
            if (found || found.error().fault != Fault::unavailable) return found;
            if (i + 1 < addresses.size()) remember(std::move(found).error());
        }
        return found;
    }

    Result<std::unique_ptr<Session>> try_endpoint(const Endpoint& endpoint, std::int64_t shares) {
        const Instant now = clock_->now();
        // One silent address must not use up the time of those behind it.
        const Duration share = deadline_.remaining(now) / shares;
        const Deadline until = deadline_.within(now, std::min(options_->connect_timeout, share));
        ConnectionHandle connection = SEMEL_TRY(connect_to(*target_, endpoint, *options_, until, *clock_));
        auto opened = PostgresSession::open(std::move(connection), *options_, *clock_, until);
        if (!opened) return fail(std::move(opened).error().within("connect to " + endpoint.text()));
        if (wants_primary() && !(*opened)->writable()) {
            Error error;
            error.fault = Fault::unavailable;
            error.message = "connect to " + endpoint.text() + ": the server takes no writes, it is not the primary";
            error.cause.code = "25006";
            return fail(std::move(error));
        }
        return std::unique_ptr<Session>(*std::move(opened));
    }

    [[nodiscard]] bool wants_primary() const {
        Target target = options_->target;
        if (target == Target::automatic) target = target_->target;
        return target == Target::read_write || (target == Target::automatic && target_->hosts.size() > 1);
    }

    void remember(Error error) {
        if (!failure_.message.empty()) error.message = failure_.message + "; " + error.message;
        failure_ = std::move(error);
    }

    const ConnectionString* target_;
    const ConnectOptions* options_;
    Clock* clock_;
    Deadline deadline_;
    Error failure_;
};

}  // namespace

Result<Connect> connector(ConnectOptions options, Clock& clock) {
    ConnectionString target = SEMEL_TRY(parse_connection_string(options.connection));
    return Connect([target = std::move(target), options = std::move(options), &clock](Deadline deadline) {
        return Search(target, options, clock, deadline).run();
    });
}

}  // namespace semel::postgres
