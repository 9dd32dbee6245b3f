#pragma once

#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/deadline.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace semel::postgres {

/// What `Notifier` sends. Anyone who appends by SQL may send it too, after COMMIT.
inline constexpr const char* notify_statement = "NOTIFY semel_outbox";

/// Hears the `Notifier`s of other processes, and calls `heard`. On a thread and a connection of its own, which it makes
/// again when it breaks.
///
/// Behind a pooler LISTEN may succeed and nothing ever arrive. So it first sends something to itself on a second
/// connection, and what does not arrive is said in the log, once, with the remedy. Relays look by themselves then.
class Listener {
public:
    /// Checks the connection string. `heard` must not block.
    [[nodiscard]] static Result<std::unique_ptr<Listener>> start(ConnectOptions options, std::function<void()> heard,
                                                                 Clock& clock = system_clock());
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    /// Whether it hears: it has heard itself on the connection that it has now.
    [[nodiscard]] bool hears() const noexcept { return hears_; }

private:
    Listener(ConnectOptions options, ConnectionString target, std::function<void()> heard, Clock& clock);
    void run(const std::stop_token& stop);
    /// Until the connection breaks or it is stopped.
    [[nodiscard]] Status listen(const std::stop_token& stop);
    void stay(ConnectionHandle connection, const std::stop_token& stop);
    [[nodiscard]] bool take_notices(PGconn* connection);

    ConnectOptions options_;
    ConnectionString target_;
    std::function<void()> heard_;
    Clock* clock_;
    int wake_;  ///< An eventfd, written to when it is stopped.
    std::atomic<bool> hears_ = false;
    std::jthread thread_;  ///< Last, so that it ends first.
};

/// Whether a notification that is sent on one connection arrives on another; the reason if not. For `semel doctor` too.
[[nodiscard]] Status check_listening(PGconn* listening, const ConnectionString& target, const ConnectOptions& options,
                                     Clock& clock, Deadline deadline);

/// The same on two connections of its own.
[[nodiscard]] Status check_listening(const ConnectOptions& options, Clock& clock, Deadline deadline);

}  // namespace semel::postgres
