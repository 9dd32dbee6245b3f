#pragma once

#include "semel/postgres/connection_string.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace semel::postgres {

/// Tells the `Listener`s of other processes that something was appended, by NOTIFY on a connection of its own. NOTIFY
/// takes a lock of the whole server at its commit: it is therefore kept out of the transactions that append, and rings
/// that come while one is on its way are one. A ring that cannot be sent is dropped, since relays look by themselves.
class Notifier {
public:
    /// Checks the connection string; connects at the first ring.
    [[nodiscard]] static Result<std::unique_ptr<Notifier>> create(ConnectOptions options,
                                                                  Clock& clock = system_clock());
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;
    ~Notifier();

    /// After the commit. Never blocks on the server. From any thread.
    void ring();

private:
    Notifier(ConnectOptions options, ConnectionString target, Clock& clock);
    void run(const std::stop_token& stop);
    /// Blocks until somebody rings; false when stopped.
    [[nodiscard]] bool await_ring(const std::stop_token& stop);

    ConnectOptions options_;
    ConnectionString target_;
    Clock* clock_;
    std::mutex mutex_;
    std::condition_variable_any rung_;
    bool ringing_ = false;
    std::jthread thread_;  ///< Last, so that it ends first.
};

}  // namespace semel::postgres
