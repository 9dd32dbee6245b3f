#pragma once

#include "semel/db/session.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/handles.hpp"

#include <memory>

namespace semel::postgres {

class PostgresSession;

/// A caller's own notice receiver. libpq can replace one but not tell its argument, so a caller
/// who installed one names both; it is back in place after `release`.
struct NoticeReceiver {
    void (*receiver)(void* argument, const PGresult* notice) = nullptr;
    void* argument = nullptr;
};

/// A caller's own connection, lent for one transaction. While it is lent the caller keeps off it:
/// it is in pipeline mode, non-blocking, and its notices come here.
///
///     auto lent = BorrowedSession::borrow(connection, deadline);
///     Transaction tx(lent->session(), {}, deadline);
///     …
///     auto outcome = std::move(tx).commit();
///     lent->release(deadline);
///
/// No statement is prepared under a name on it and no setting outlives the transaction. The
/// connection is never closed here. One that could not be brought back in time is shut down, so
/// that its owner finds it broken rather than in the middle of a transaction.
class BorrowedSession {
public:
    /// Refuses (`rejected`) a connection that is not connected, in a transaction, busy with an
    /// asynchronous query or COPY, in pipeline mode, not in UTF-8, or that has a notice receiver
    /// which was not named. Costs one round trip.
    [[nodiscard]] static Result<BorrowedSession> borrow(PGconn* connection, Deadline deadline,
                                                        NoticeReceiver notices = {}, Clock& clock = system_clock());
    BorrowedSession(BorrowedSession&&) noexcept;
    BorrowedSession& operator=(BorrowedSession&&) noexcept;
    /// Releases, giving the server one second where there is a transaction to roll back.
    ~BorrowedSession();

    [[nodiscard]] Session& session() const noexcept;

    /// Rolls back what was not committed and puts the connection's modes back: pipeline off,
    /// blocking as before, the notice receiver. After an Error the connection is broken.
    [[nodiscard]] Status release(Deadline deadline);

private:
    struct Modes {
        bool nonblocking = false;
        NoticeReceiver notices;
    };
    BorrowedSession(PGconn* connection, Modes modes, Clock& clock) noexcept;
    [[nodiscard]] static Status fit_to_borrow(PGconn* connection, const NoticeReceiver& notices);
    [[nodiscard]] Status restore();

    PGconn* connection_;
    Modes modes_;
    Clock* clock_;
    std::unique_ptr<PostgresSession> session_;
};

}  // namespace semel::postgres
