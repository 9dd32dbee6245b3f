// How a PostgresSession comes about: whom it talks to, directly or through a pooler, and what it
// will be able to resolve later.

#include "semel/postgres/decode.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/session.hpp"

#include <libpq-fe.h>

#include <charconv>

namespace semel::postgres {
namespace {

constexpr int server_version_min = 140000;  // client_connection_check_interval, xid8 throughout.

constexpr const char* introduction_sql =
    "SELECT pg_backend_pid(), current_setting('transaction_read_only'), "
    "current_setting('default_transaction_isolation')";

}  // namespace

Identity Identity::from(const PGresult* result, int column) {
    return {.history = std::string(field_of(result, column)), .incarnation = std::string(field_of(result, column + 1))};
}

PostgresSession::PostgresSession(ConnectionHandle owned, PGconn* connection, const ConnectOptions& options,
                                 Clock& clock)
    : options_(options),
      clock_(&clock),
      owned_(std::move(owned)),
      borrowed_(owned_ == nullptr),
      pipeline_(connection, clock, options.statements_max) {}

Result<std::unique_ptr<PostgresSession>> PostgresSession::open(ConnectionHandle connection,
                                                               const ConnectOptions& options, Clock& clock,
                                                               Deadline deadline) {
    PGconn* raw = connection.get();
    return start(std::unique_ptr<PostgresSession>(new PostgresSession(std::move(connection), raw, options, clock)),
                 deadline);
}

Result<std::unique_ptr<PostgresSession>> PostgresSession::over(PGconn* borrowed, const ConnectOptions& options,
                                                               Clock& clock, Deadline deadline) {
    return start(std::unique_ptr<PostgresSession>(new PostgresSession(nullptr, borrowed, options, clock)), deadline);
}

Result<std::unique_ptr<PostgresSession>> PostgresSession::start(std::unique_ptr<PostgresSession> session,
                                                                Deadline deadline) {
    SEMEL_TRY(session->introduce(deadline));
    return session;
}

Status PostgresSession::introduce(Deadline deadline) {
    PGconn* connection = pipeline_.wire().connection();
    if (PQserverVersion(connection) < server_version_min)
        return fail(Fault::rejected, "the server is older than PostgreSQL 14");
    // In a segment of its own: where it is not permitted, the session works and cannot resolve.
    pipeline_.add_plain(Step::identity, identity_sql);
    pipeline_.add_sync();
    pipeline_.add_plain(Step::awaited, introduction_sql);
    std::optional<Error> error;
    int process = 0;
    std::string started;
    const Wait wait = pipeline_.exchange(deadline, [&](const Item& item, const PGresult* result) {
        if (item.step == Step::identity && succeeded(result)) {
            can_mark_ = true;
            identity_ = Identity::from(result, 0);
            started = field_of(result, 2);
        } else if (item.step == Step::awaited && succeeded(result)) {
            const std::string_view pid = field_of(result, 0);
            std::from_chars(pid.data(), pid.data() + pid.size(), process);
            writable_ = field_of(result, 1) == "off";
            read_committed_by_default_ = field_of(result, 2) == "read committed";
        } else if (!succeeded(result) && !error && (item.step != Step::identity || !is_plain_error(result))) {
            error = error_from(result, Phase::connect);
        }
    });
    if (wait == Wait::deadline) {
        Error timeout;
        timeout.fault = Fault::unavailable;
        timeout.message = "the server took the connection but did not answer the first question";
        timeout.cause.timeout = Timeout::connect;
        return fail(std::move(timeout));
    }
    if (error) return fail(*std::move(error));
    if (wait != Wait::ready || process == 0)
        return fail(lost_connection(pipeline_.wire().last_words(), Phase::connect));

    // A pooler hands out a process number of its own making.
    direct_ = process == PQbackendPID(connection);
    if (direct_ && !started.empty()) process_.append(std::to_string(process)).append("/").append(started);
    const bool names = options_.prepare == Prepare::named || (options_.prepare == Prepare::automatic && direct_);
    pipeline_.use_names(names && !borrowed_);
    return {};
}

}  // namespace semel::postgres
