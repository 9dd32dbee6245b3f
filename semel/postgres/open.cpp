#include "semel/postgres/open.hpp"

#include "semel/postgres/search.hpp"
#include "semel/postgres/session.hpp"

#include <utility>

namespace semel::postgres {
namespace {

bool wants_primary(const ConnectionString& string, const ConnectOptions& options) {
    const Target target = options.target == Target::automatic ? string.target : options.target;
    return target == Target::read_write || (target == Target::automatic && string.hosts.size() > 1);
}

Error not_the_primary(const Endpoint& endpoint) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "connect to " + endpoint.text() + ": the server takes no writes, it is not the primary";
    error.cause.code = "25006";
    return error;
}

Result<std::unique_ptr<Session>> open_session(const ConnectionString& target, const ConnectOptions& options,
                                              Clock& clock, Deadline deadline) {
    std::unique_ptr<Session> session;
    const Accept accept = [&](ConnectionHandle connection, const Endpoint& endpoint, Deadline until) -> Status {
        auto opened = PostgresSession::open(std::move(connection), options, clock, until);
        if (!opened) return fail(std::move(opened).error().within("connect to " + endpoint.text()));
        if (wants_primary(target, options) && !(*opened)->writable()) return fail(not_the_primary(endpoint));
        session = *std::move(opened);
        return {};
    };
    SEMEL_TRY(search_server(target, options, accept, clock, deadline));
    return session;
}

}  // namespace

Result<Connect> connector(ConnectOptions options, Clock& clock) {
    ConnectionString target = SEMEL_TRY(parse_connection_string(options.connection));
    return Connect([target = std::move(target), options = std::move(options), &clock](Deadline deadline) {
        return open_session(target, options, clock, deadline);
    });
}

}  // namespace semel::postgres
