#pragma once

#include "semel/http/core.hpp"
#include "semel/http/message.hpp"
#include "semel/http/router.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace semel::http {

/// One request on its way through a worker and back. The connection and the worker hold it; between
/// `submit` and `done` only the worker touches it, but for `progress`. A connection that gives up waiting
/// leaves it to the worker.
struct Exchange {
    enum class End : unsigned char {
        handled,
        late,  ///< The deadline passed while it waited; the handler was not started.
    };
    enum class Progress : unsigned char {
        waiting,
        begun,    ///< By the worker: from here on the outcome is the handler's.
        dropped,  ///< By the connection: it will not be begun.
    };

    /// Both sides try; one succeeds, so that nobody is told "not done" of what is being done.
    [[nodiscard]] bool settle(Progress how) noexcept {
        Progress expected = Progress::waiting;
        return progress.compare_exchange_strong(expected, how);
    }

    Request request{};
    Response response{};
    const Route* route = nullptr;
    End end = End::handled;
    std::atomic<Progress> progress{Progress::waiting};
    std::function<void()> done{};  ///< Called by the worker, as the last thing it does with this.
};

/// Runs a handler; what it throws becomes INTERNAL_ERROR and a line in the log.
[[nodiscard]] Response run_handler(Core& core, const Route& route, Request& request);
[[nodiscard]] std::optional<Response> run_at_once(Core& core, const Route& route, Request& request);
/// The answer where a handler failed: it says no more than the correlation id, which the log has too.
[[nodiscard]] Response handler_failed(Core& core, const Request& request, std::string_view why);

/// Threads that run handlers, one at a time each. The queue between them is bounded by whoever
/// submits, by asking `Core::load` first.
class Workers {
public:
    explicit Workers(Core& core);
    /// Drops what is queued; waits for handlers that run.
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    void submit(std::shared_ptr<Exchange> exchange);

private:
    void work(const std::stop_token& stop);

    Core& core_;
    std::mutex mutex_;
    std::condition_variable_any ready_;
    std::deque<std::shared_ptr<Exchange>> queue_;
    std::vector<std::jthread> threads_;
};

}  // namespace semel::http
