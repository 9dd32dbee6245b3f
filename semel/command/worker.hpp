#pragma once

#include "semel/command/leased_executor.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace semel {

struct WorkerOptions {
    std::size_t threads = 4;
    /// How often an idle thread looks, unless it is notified. Spread by chance, so that processes do not look together.
    Duration poll = std::chrono::milliseconds(500);
};

/// Executes accepted commands, and those whose next attempt is due, oldest first. Any number of workers may run, in any
/// number of processes: each command is taken by one. What a worker leaves behind when it dies is the sweeper's.
class Worker {
public:
    Worker(LeasedExecutor& executor, const WorkerOptions& options = {});
    /// Stops and waits for the commands that are being executed.
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start();
    void stop();
    /// Something was accepted in this process: do not wait for the next look.
    void notify();

    /// Takes one command that is due and executes it, on the calling thread; false if there is none.
    [[nodiscard]] Result<bool> run_one();

private:
    void run(const std::stop_token& stop);
    /// Takes the oldest that is due.
    [[nodiscard]] Result<std::optional<TakenCommand>> take();

    LeasedExecutor* executor_;
    WorkerOptions options_;
    std::mutex mutex_;
    std::condition_variable_any rung_;
    std::uint64_t rings_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace semel
