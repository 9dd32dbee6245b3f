#include "semel/postgres/borrow.hpp"

#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/session.hpp"

#include <libpq-fe.h>

#include <sys/socket.h>

#include <string_view>
#include <utility>

namespace semel::postgres {
namespace {

/// The receiver every connection starts with. Asked of a connection that never connects.
PQnoticeReceiver default_receiver() {
    static const PQnoticeReceiver receiver = [] {
        const ConnectionHandle nowhere(PQconnectStart("port=0"));
        return PQsetNoticeReceiver(nowhere.get(), nullptr, nullptr);
    }();
    return receiver;
}

}  // namespace

BorrowedSession::BorrowedSession(PGconn* connection, Modes modes, Clock& clock) noexcept
    : connection_(connection), modes_(modes), clock_(&clock) {}

BorrowedSession::BorrowedSession(BorrowedSession&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      modes_(other.modes_),
      clock_(other.clock_),
      session_(std::move(other.session_)) {}

BorrowedSession& BorrowedSession::operator=(BorrowedSession&& other) noexcept {
    std::swap(connection_, other.connection_);
    std::swap(modes_, other.modes_);
    std::swap(clock_, other.clock_);
    std::swap(session_, other.session_);
    return *this;
}

BorrowedSession::~BorrowedSession() {
    constexpr Duration farewell = std::chrono::seconds(1);
    if (connection_ != nullptr) (void)release(Deadline::after(clock_->now(), farewell));
}

Session& BorrowedSession::session() const noexcept {
    SEMEL_ASSERT(session_ != nullptr && "the connection was released");
    return *session_;
}

Status BorrowedSession::fit_to_borrow(PGconn* connection, const NoticeReceiver& notices) {
    if (connection == nullptr || PQstatus(connection) != CONNECTION_OK)
        return fail(Fault::rejected, "borrow: the connection is not connected");
    if (PQpipelineStatus(connection) != PQ_PIPELINE_OFF)
        return fail(Fault::rejected, "borrow: the connection is in pipeline mode");
    switch (PQtransactionStatus(connection)) {
        case PQTRANS_IDLE: break;
        case PQTRANS_ACTIVE:
            return fail(
                Fault::rejected,
                "borrow: the connection is busy: a query or COPY is not finished, or its results were not read");
        case PQTRANS_INTRANS:
        case PQTRANS_INERROR: return fail(Fault::rejected, "borrow: the connection is in a transaction of its owner's");
        case PQTRANS_UNKNOWN: return fail(Fault::rejected, "borrow: the connection is broken");
    }
    const char* encoding = PQparameterStatus(connection, "client_encoding");
    if (encoding == nullptr || std::string_view(encoding) != "UTF8")
        return fail(Fault::rejected, "borrow: the connection's client_encoding is not UTF8");
    const PQnoticeReceiver installed = PQsetNoticeReceiver(connection, nullptr, nullptr);
    const PQnoticeReceiver expected = notices.receiver != nullptr ? notices.receiver : default_receiver();
    if (installed != expected)
        return fail(Fault::rejected,
                    "borrow: the connection has a notice receiver that was not named; libpq could not put it back");
    return {};
}

Result<BorrowedSession> BorrowedSession::borrow(PGconn* connection, Deadline deadline, NoticeReceiver notices,
                                                Clock& clock) {
    SEMEL_TRY(fit_to_borrow(connection, notices));
    if (notices.receiver == nullptr) notices.receiver = default_receiver();
    BorrowedSession lent(connection, {PQisnonblocking(connection) == 1, notices}, clock);
    auto session = PostgresSession::over(connection, ConnectOptions{}, clock, deadline);
    // Destroying `lent` puts the modes back.
    if (!session) return fail(std::move(session).error().within("borrow"));
    lent.session_ = *std::move(session);
    return lent;
}

Status BorrowedSession::release(Deadline deadline) {
    if (connection_ == nullptr) return {};
    Status undone;
    if (session_ != nullptr && session_->state() != SessionState::idle) undone = session_->rollback(deadline);
    const bool whole = undone && (session_ == nullptr || session_->state() == SessionState::idle);
    session_.reset();
    Status restored = restore();
    if (!whole || !restored) {
        // Half-way in a conversation it is of no use to anyone.
        (void)::shutdown(PQsocket(connection_), SHUT_RDWR);
        (void)PQconsumeInput(connection_);
    }
    connection_ = nullptr;
    if (!undone) return undone;
    if (!whole) return fail(Fault::unavailable, "release: the connection was lost during the transaction");
    return restored;
}

Status BorrowedSession::restore() {
    PQsetNoticeReceiver(connection_, modes_.notices.receiver, modes_.notices.argument);
    const bool pipeline_off = PQexitPipelineMode(connection_) == 1;
    const bool blocking_back = PQsetnonblocking(connection_, modes_.nonblocking ? 1 : 0) == 0;
    if (PQstatus(connection_) != CONNECTION_OK)
        return fail(lost_connection(PQerrorMessage(connection_), Phase::transaction));
    if (!pipeline_off || !blocking_back)
        return fail(Fault::unavailable, "release: answers of the server's are outstanding");
    return {};
}

}  // namespace semel::postgres
