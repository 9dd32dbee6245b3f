#pragma once

#include "semel/db/session.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/postgres/identity.hpp"
#include "semel/postgres/limits.hpp"
#include "semel/postgres/pipeline.hpp"
#include "semel/retry/phase.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace semel::postgres {

/// A session over libpq in pipeline mode. `begin` and `post` send nothing; each flush is one round
/// trip, the first carries BEGIN and the transaction's limits.
///
/// A marked transaction costs one round trip for its statements, with the mark behind them, and
/// one for COMMIT, which is sent only after the first was answered and the server is in the
/// transaction. An unmarked or read-only one goes out with its COMMIT in a single flush.
///
/// When the deadline passes while a statement runs, the server is asked to cancel it and the
/// session is closed. Once COMMIT was sent nothing is cancelled: no answer is `Unknown`.
///
/// On a direct connection the limits are kept on the session and sent when they change; a
/// statement of the caller's that SETs them without LOCAL is not undone. Behind a pooler they
/// travel with each transaction.
class PostgresSession final : public Session {
public:
    /// Takes over a connection that is ready, and learns in one round trip whom it talks to.
    [[nodiscard]] static Result<std::unique_ptr<PostgresSession>> open(ConnectionHandle connection,
                                                                       const ConnectOptions& options, Clock& clock,
                                                                       Deadline deadline);
    /// The same over a connection that stays its owner's: see borrow.hpp.
    [[nodiscard]] static Result<std::unique_ptr<PostgresSession>> over(PGconn* borrowed, const ConnectOptions& options,
                                                                       Clock& clock, Deadline deadline);

    [[nodiscard]] Status begin(const TransactionOptions& options, Deadline deadline) override;
    void post(const Statement& statement) override;
    void post_ahead(const Statement& statement) override;
    [[nodiscard]] Result<Rows> look(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Result<Rows> execute(const Statement& statement, Deadline deadline) override;
    [[nodiscard]] Status flush(Deadline deadline) override;
    [[nodiscard]] Status run_script(std::string_view script, Deadline deadline) override;
    [[nodiscard]] Outcome<> commit(Deadline deadline) override;
    [[nodiscard]] Status rollback(Deadline deadline) override;
    [[nodiscard]] Mark mark() const override;
    [[nodiscard]] Result<Resolution> resolve(const Mark& mark, Deadline deadline) override;
    [[nodiscard]] Status reset(Deadline deadline) override;
    [[nodiscard]] SessionState state() const noexcept override { return state_; }
    [[nodiscard]] Dialect dialect() const noexcept override { return Dialect::postgres; }

    /// How many times it waited for the server.
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return pipeline_.round_trips(); }
    /// False behind a pooler.
    [[nodiscard]] bool direct() const noexcept { return direct_; }
    /// Whether the server took writes when the session was opened.
    [[nodiscard]] bool writable() const noexcept { return writable_; }
    [[nodiscard]] bool names_statements() const noexcept { return pipeline_.uses_names(); }

private:
    /// What came back from one flush.
    struct Turn {
        Rows rows;
        std::optional<Error> error;   ///< The first; one of the transaction rather than one ahead of it.
        bool error_is_final = false;  ///< The server answered it and goes on listening.
        bool error_is_ahead = false;  ///< It answers the limits ahead of BEGIN: the transaction runs all the same.
        std::string commit_tag;
        bool ran_outside = false;  ///< BEGIN began nothing, or a statement of the caller's committed.
    };
    /// What each transaction's mark has of its own; `mark` adds what is the same for all of the session.
    struct TakenMark {
        bool taken = false;
        std::uint64_t transaction = 0;
        std::optional<Identity> identity;  ///< Behind a pooler, where each transaction may run on another server.
    };

    PostgresSession(ConnectionHandle owned, PGconn* connection, const ConnectOptions& options, Clock& clock);
    [[nodiscard]] static Result<std::unique_ptr<PostgresSession>> start(std::unique_ptr<PostgresSession> session,
                                                                        Deadline deadline);
    [[nodiscard]] Status introduce(Deadline deadline);

    [[nodiscard]] Status queue(Step step, const Statement& statement);
    [[nodiscard]] std::string_view expecting(const Statement& statement);
    void queue_limits(Deadline deadline);
    void queue_begin(const char* sql);
    void queue_session_limits(const Limits& limits);
    void queue_mark();
    [[nodiscard]] bool wants_mark() const noexcept;
    /// Whether statements can be sent now; else the Error that says why not.
    [[nodiscard]] Status usable(Deadline deadline);

    [[nodiscard]] Result<Rows> send_and_wait(Deadline deadline);
    [[nodiscard]] Wait exchange(Turn& turn, Deadline deadline);
    void take(const Item& item, const PGresult* result, Turn& turn);
    void take_mark(const PGresult* result);
    [[nodiscard]] Error failed(const Item& item, const PGresult* result, Phase phase);
    /// The Error of a turn that went wrong, and the state that the session is in afterwards.
    [[nodiscard]] Error give_up(Wait wait, Turn& turn, Deadline deadline);
    [[nodiscard]] Outcome<> send_commit(Deadline deadline, bool just_answered);
    [[nodiscard]] Outcome<> commit_outcome(Wait wait, Turn& turn, Deadline deadline);
    void ended() noexcept;
    void close() noexcept;

    ConnectOptions options_;
    Clock* clock_;
    ConnectionHandle owned_;
    bool borrowed_;
    Pipeline pipeline_;
    SessionState state_ = SessionState::idle;

    bool direct_ = false;
    bool writable_ = false;
    bool can_mark_ = false;
    bool read_committed_by_default_ = false;
    Identity identity_;
    std::string process_;
    std::optional<Limits> limits_queued_;    ///< To become those of the session itself.
    std::optional<Limits> limits_in_force_;  ///< On the session itself, where they are known.

    TransactionOptions transaction_;
    std::size_t begin_items_ = 0;  ///< Queued up to and with BEGIN and its limits.
    bool begun_ = false;           ///< The server has answered BEGIN.
    bool posted_ = false;          ///< Something is queued behind BEGIN.
    bool mark_current_ = false;    ///< Nothing was sent since the mark was taken.
    bool in_doubt_ = false;        ///< COMMIT was sent and not answered.
    TakenMark mark_;
    Status queue_failure_;  ///< Of a post that could not be encoded.
    Status first_failure_;  ///< Of the transaction: why it can only be rolled back.
    std::map<std::string, std::string, std::less<>> expecting_;  ///< Wrapped texts by what they wrap.
};

}  // namespace semel::postgres
