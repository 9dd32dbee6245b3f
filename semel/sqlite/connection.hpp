#pragma once

#include "semel/base/result.hpp"
#include "semel/db/session.hpp"
#include "semel/retry/phase.hpp"
#include "semel/sqlite/failure.hpp"
#include "semel/sqlite/handle.hpp"
#include "semel/sqlite/statement_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace semel::sqlite {

class Posted;

/// How far one call may go.
struct Limits {
    Deadline deadline;                     ///< Nothing starts, and no read goes on, after it.
    Deadline lock;                         ///< Until when to wait for a lock of another process.
    Duration statement = Duration::max();  ///< Longest single read.
    Access access = Access::read_write;
};

/// The statements that steer a transaction. Only this driver may use them.
enum class Control : std::uint8_t {
    begin,
    begin_immediate,
    commit,
    rollback,
    savepoint,
    rollback_to_savepoint,
    release_savepoint,
};

/// One SQLite connection with its compiled statements. It waits for locks by the clock and the
/// limits of the call, cancels reads at their limit, and never cancels a write: that would roll
/// back the whole transaction, whoever else is in it. Not thread-safe; used by one thread at a
/// time.
class Connection {
public:
    enum class Use : std::uint8_t {
        write,   ///< The one that writes: WAL, synchronous=FULL, foreign keys enforced.
        create,  ///< As `write`, and makes the file if there is none.
        read,    ///< Reads only.
    };
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const std::string& path, Use use,
                                                                  std::size_t statements_max, Clock& clock,
                                                                  const Limits& limits);

    /// Whether a borrowed connection keeps the busy and progress handlers it has.
    enum class Handlers : std::uint8_t { ours, kept };
    /// Works on a connection of the caller's, which must outlive it and is not closed.
    [[nodiscard]] static std::unique_ptr<Connection> borrow(sqlite3* database, Handlers handlers, Clock& clock);

    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Steers the transaction. 0, or SQLite's extended code; `failed` makes an Error of that.
    [[nodiscard]] int control(Control what, const Limits& limits);
    [[nodiscard]] Error failed(int code, Phase phase) const;

    [[nodiscard]] Result<Rows> run(const Statement& statement, const Limits& limits);
    [[nodiscard]] Status run_all(const Posted& statements, const Limits& limits);
    [[nodiscard]] Status run_script(std::string_view script, const Limits& limits);

    /// False once a statement has rolled the transaction back by itself.
    [[nodiscard]] bool in_transaction() const noexcept;
    /// Whether COMMIT would fail on a foreign key that points nowhere.
    [[nodiscard]] bool has_open_foreign_keys() const noexcept;

    /// How many pages the log holds since the last COMMIT told.
    [[nodiscard]] int log_pages() const noexcept { return log_pages_; }
    /// Moves what no reader needs from the log to the file. 0, or SQLite's extended code.
    [[nodiscard]] int checkpoint();

    /// False for a database in memory, which no second connection can reach.
    [[nodiscard]] bool has_file() const noexcept;
    [[nodiscard]] const StatementCache& statements() const noexcept { return cache_; }
    [[nodiscard]] sqlite3* handle() const noexcept { return database_; }

private:
    Connection(DatabaseHandle owned, sqlite3* database, std::size_t statements_max, Clock& clock) noexcept;

    [[nodiscard]] Status configure(Use use, const Limits& limits);
    [[nodiscard]] Result<std::string> setting(std::string_view pragma, const Limits& limits);
    /// Writes the log as it is read, and syncs it. After an fsync that failed the system goes on to show what it could
    /// not write, to processes that start later too; whoever built on that would lose it at the next power cut.
    [[nodiscard]] Status rewrite_log(const Limits& limits);
    void watch(bool cancellable, const Limits& limits);
    [[nodiscard]] Result<Rows> step_through(Prepared& prepared, const Statement& statement);
    [[nodiscard]] Error step_failed(int code, sqlite3_stmt* statement);

    static int on_busy(void* self, int times) noexcept;
    static int on_progress(void* self) noexcept;
    static int on_commit_to_log(void* self, sqlite3*, const char*, int pages) noexcept;
    static int on_prepare(void* self, int action, const char* first, const char* second, const char*,
                          const char*) noexcept;

    DatabaseHandle owned_;
    sqlite3* database_;
    Clock* clock_;
    StatementCache cache_;
    std::array<StatementHandle, 7> controls_;

    // What the handlers go by while a call is under way.
    Deadline lock_until_;
    Deadline cancel_at_;
    Deadline deadline_;
    bool cancelled_ = false;
    bool own_statement_ = false;  ///< The driver itself is preparing or stepping.
    bool handlers_set_ = false;
    int busy_timeout_before_ = 0;  ///< Milliseconds, of a borrowed connection.
    int log_pages_ = 0;
};

}  // namespace semel::sqlite
