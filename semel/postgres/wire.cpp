#include "semel/postgres/wire.hpp"

#include "semel/base/assert.hpp"
#include "semel/postgres/background.hpp"
#include "semel/postgres/failure_table.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <algorithm>
#include <cstring>

namespace semel::postgres {
namespace {

/// No wait on the socket is longer: data that TLS has already read does not show there, and a
/// clock other than the machine's may have moved.
constexpr Duration wait_slice = std::chrono::milliseconds(100);

constexpr int text_results = 0;
constexpr int binary_results = 1;

}  // namespace

Wire::Wire(PGconn* connection, Clock& clock) : connection_(connection), clock_(&clock) {
    PQsetNoticeReceiver(connection_, &Wire::on_notice, this);
    PQsetnonblocking(connection_, 1);
    const bool entered = PQenterPipelineMode(connection_) == 1;
    SEMEL_ASSERT(entered || PQstatus(connection_) != CONNECTION_OK);
}

void Wire::on_notice(void* wire, const PGresult* notice) {
    auto& self = *static_cast<Wire*>(wire);
    const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity == nullptr) return;
    if (std::strcmp(severity, "WARNING") == 0) {
        ++self.warnings_;
        self.last_warning_ = PQresultErrorMessage(notice);
    } else if (std::strcmp(severity, "FATAL") == 0 || std::strcmp(severity, "PANIC") == 0) {
        // Errors that arrive while nothing is asked come as notices.
        self.fatal_code_ = sqlstate_of(notice);
        self.fatal_text_ = PQresultErrorMessage(notice);
    }
}

bool Wire::send(const char* sql, const Arguments& arguments) {
    return PQsendQueryParams(connection_, sql, arguments.count, nullptr, arguments.values, arguments.lengths,
                             arguments.formats, text_results) == 1;
}

bool Wire::send_prepare(const char* name, const char* sql) {
    return PQsendPrepare(connection_, name, sql, 0, nullptr) == 1;
}

bool Wire::send_prepared(const char* name, const Arguments& arguments, Format results) {
    return PQsendQueryPrepared(connection_, name, arguments.count, arguments.values, arguments.lengths,
                               arguments.formats, results == Format::binary ? binary_results : text_results) == 1;
}

bool Wire::send_sync() { return PQpipelineSync(connection_) == 1; }

bool Wire::wait_for_socket(bool to_write, Deadline deadline) {
    const Instant now = clock_->now();
    if (deadline.passed(now)) return false;
    pollfd socket{PQsocket(connection_), static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN), 0};
    if (socket.fd < 0) return true;
    const Duration wait = std::min(deadline.remaining(now), wait_slice);
    const auto rounded_up = std::chrono::ceil<std::chrono::milliseconds>(wait);
    (void)::poll(&socket, 1, static_cast<int>(rounded_up.count()));
    return true;
}

Wait Wire::drain_output(Deadline deadline) {
    for (;;) {
        const int unsent = PQflush(connection_);
        if (unsent == 0) return Wait::ready;
        if (unsent < 0) return Wait::lost;
        if (!wait_for_socket(true, deadline)) return Wait::deadline;
        if (PQconsumeInput(connection_) == 0) return Wait::lost;
    }
}

Wait Wire::await(Deadline deadline) {
    for (;;) {
        if (PQisBusy(connection_) == 0) return Wait::ready;
        // A failed write says nothing yet: the server may have told the reason, so read on.
        const bool unsent = PQflush(connection_) == 1;
        if (!wait_for_socket(unsent, deadline)) return Wait::deadline;
        if (PQconsumeInput(connection_) == 0) return PQisBusy(connection_) == 0 ? Wait::ready : Wait::lost;
    }
}

ResultHandle Wire::take() { return ResultHandle(PQgetResult(connection_)); }

bool Wire::send_script(const char* script) {
    return PQexitPipelineMode(connection_) == 1 && PQsendQuery(connection_, script) == 1;
}

bool Wire::end_script() { return PQenterPipelineMode(connection_) == 1; }

bool Wire::alive() {
    if (PQstatus(connection_) != CONNECTION_OK) return false;
    pollfd socket{PQsocket(connection_), POLLIN, 0};
    if (::poll(&socket, 1, 0) == 0) return true;
    // Something came unasked: a notice, or the end. Reading it also parses a farewell.
    bool read = PQconsumeInput(connection_) == 1;
    (void)PQisBusy(connection_);
    if (read && ::poll(&socket, 1, 0) > 0) read = PQconsumeInput(connection_) == 1;
    return read && PQstatus(connection_) == CONNECTION_OK && fatal_code_.empty();
}

void Wire::cancel() {
    PGcancel* request = PQgetCancel(connection_);
    if (request == nullptr) return;
    const bool started = run_in_background([request] {
        char reason[256];
        (void)PQcancel(request, reason, sizeof reason);
        PQfreeCancel(request);
    });
    if (!started) PQfreeCancel(request);
}

std::string Wire::last_words() const {
    return fatal_text_.empty() ? std::string(PQerrorMessage(connection_)) : fatal_text_;
}

}  // namespace semel::postgres
