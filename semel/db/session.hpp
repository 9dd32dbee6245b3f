#pragma once

#include "semel/base/outcome.hpp"
#include "semel/base/result.hpp"
#include "semel/db/rows.hpp"
#include "semel/db/sql.hpp"
#include "semel/db/value.hpp"
#include "semel/retry/deadline.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace semel {

enum class Dialect : std::uint8_t { sqlite, postgres, mariadb };
[[nodiscard]] std::string_view name(Dialect) noexcept;

enum class Isolation : std::uint8_t { read_committed, repeatable_read, serializable };
enum class Access : std::uint8_t { read_write, read_only };

/// How one transaction runs. SQLite is always serializable; the limits mean the same everywhere.
struct TransactionOptions {
    Isolation isolation = Isolation::read_committed;
    Access access = Access::read_write;
    /// Longest wait for a lock that someone else holds (SQLite: for the writer's turn).
    Duration lock_timeout = std::chrono::seconds(5);
    /// Longest single statement, on top of the deadline.
    Duration statement_timeout = std::chrono::seconds(30);
    /// Longest wait for the answer to COMMIT once it was sent; it never takes more than half of the
    /// time that is left, so that the other half can be used to find out what became of it. Must be
    /// longer than the slowest COMMIT (deferred triggers, a distant standby). SQLite cannot lose the
    /// answer and waits until the deadline.
    Duration commit_timeout = std::chrono::seconds(5);
    /// Fetch a mark before COMMIT, so that a lost answer can be resolved; COMMIT then goes out in
    /// a flush of its own. Off only where an identity resolves instead.
    bool marked = true;
};

struct Statement {
    Sql sql;
    std::span<const Parameter> parameters;
    /// Fails (`conflict`, code SM006) when the statement changes another number of rows.
    std::optional<std::int64_t> expected_rows;
};

/// Enough to ask later, on another session, what became of a transaction.
struct Mark {
    bool taken = false;             ///< False: the transaction was lost before it could be marked.
    std::uint64_t transaction = 0;  ///< Its number in that history; 0: it wrote nothing.
    std::string history;            ///< Whose history: PostgreSQL's system identifier and timeline.
    std::string incarnation;        ///< Unchanged means no crash in between.
    std::string process;            ///< The server process that is ours alone; empty behind a pooler.
};

/// What became of a marked transaction.
enum class Resolution : std::uint8_t {
    committed,
    not_committed,  ///< And never will be.
    unknown,        ///< This server cannot tell.
};

enum class SessionState : std::uint8_t {
    idle,         ///< Ready to begin.
    transaction,  ///< Between begin and commit or rollback.
    failed,       ///< In a transaction that can only be rolled back.
    closed,       ///< Of no more use.
};

/// One conversation with a database: the seam that every driver implements and every fake fakes.
/// One thread at a time. An Error from `execute`, `flush` or `begin` with `state() == failed`
/// leaves a transaction that can only be rolled back; with `closed` it is gone.
class Session {
public:
    virtual ~Session() = default;

    /// Starts a transaction. May be deferred to the first flush, together with its limits.
    [[nodiscard]] virtual Status begin(const TransactionOptions&, Deadline) = 0;
    /// Queues a statement for the next flush. Copies its parameters. An error of it surfaces at
    /// that flush (`execute`, `flush` or `commit`).
    virtual void post(const Statement&) = 0;
    /// As `post`, ahead of everything that is queued. Only while nothing of the transaction was sent.
    virtual void post_ahead(const Statement&) = 0;
    /// Sends what is queued, then the statement, and waits for all answers.
    [[nodiscard]] virtual Result<Rows> execute(const Statement&, Deadline) = 0;
    /// Sends what is queued and waits for all answers.
    [[nodiscard]] virtual Status flush(Deadline) = 0;
    /// Runs several statements separated by semicolons, without parameters: migrations.
    [[nodiscard]] virtual Status run_script(std::string_view script, Deadline) = 0;
    /// Runs one statement that only reads, by itself and outside any transaction: one round trip. It sees
    /// what was committed before it began.
    [[nodiscard]] virtual Result<Rows> look(const Statement&, Deadline) = 0;
    /// Sends what is queued and commits. `NotCommitted` is definite; a commit that was sent and
    /// not answered is `Unknown`.
    [[nodiscard]] virtual Outcome<> commit(Deadline) = 0;
    /// Undoes the transaction. An Error with `conflict` means that what the transaction read has
    /// been undone too (SQLite's group commit), so nothing may be concluded from it.
    [[nodiscard]] virtual Status rollback(Deadline) = 0;

    /// The mark of the transaction that was last begun.
    [[nodiscard]] virtual Mark mark() const = 0;
    /// Finds out, on this session, what became of another session's transaction.
    [[nodiscard]] virtual Result<Resolution> resolve(const Mark&, Deadline) = 0;

    /// Makes an idle session of one that was handed back in mid-transaction, or checks that an
    /// idle one still answers. After an Error it is closed.
    [[nodiscard]] virtual Status reset(Deadline) = 0;

    [[nodiscard]] virtual SessionState state() const noexcept = 0;
    [[nodiscard]] virtual Dialect dialect() const noexcept = 0;
};

}  // namespace semel
