#include "semel/postgres/plain.hpp"

#include "semel/postgres/failure_table.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <algorithm>
#include <array>

namespace semel::postgres {
namespace {

/// A clock that a test moves by hand is looked at again after this long.
constexpr Duration longest_poll = std::chrono::seconds(1);

Error out_of_time() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "the server did not answer in time";
    error.cause.timeout = Timeout::read;
    return error;
}

bool wait_for(PGconn* connection, short events, int wake, Clock& clock, Deadline deadline) {
    std::array<pollfd, 2> files{pollfd{PQsocket(connection), events, 0}, pollfd{wake, POLLIN, 0}};
    if (files[0].fd < 0) return true;
    while (!deadline.passed(clock.now())) {
        const Duration wait = std::min(deadline.remaining(clock.now()), longest_poll);
        const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(wait);
        if (::poll(files.data(), wake < 0 ? 1 : 2, static_cast<int>(rounded_up.count())) <= 0) continue;
        return files[0].revents != 0;
    }
    return false;
}

}  // namespace

bool readable(PGconn* connection, int wake, Clock& clock, Deadline deadline) {
    return wait_for(connection, POLLIN, wake, clock, deadline);
}

Result<ResultHandle> run_plain(PGconn* connection, const char* sql, Clock& clock, Deadline deadline) {
    if (PQsendQuery(connection, sql) == 0) return fail(lost_connection(PQerrorMessage(connection), Phase::transaction));
    ResultHandle last;
    for (;;) {
        const int unsent = PQflush(connection);
        if (unsent < 0) return fail(lost_connection(PQerrorMessage(connection), Phase::transaction));
        while (unsent == 0 && PQisBusy(connection) == 0) {
            ResultHandle next(PQgetResult(connection));
            if (!next) {
                const ExecStatusType status = PQresultStatus(last.get());
                if (status == PGRES_FATAL_ERROR) return fail(error_from(last.get(), Phase::transaction));
                return last;
            }
            last = std::move(next);
            const ExecStatusType status = PQresultStatus(last.get());
            if (status == PGRES_COPY_BOTH || status == PGRES_COPY_IN || status == PGRES_COPY_OUT) return last;
        }
        if (!wait_for(connection, static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN), -1, clock, deadline))
            return fail(out_of_time());
        if (PQconsumeInput(connection) == 0)
            return fail(lost_connection(PQerrorMessage(connection), Phase::transaction));
    }
}

}  // namespace semel::postgres
