#pragma once

#include "semel/command/executor.hpp"

#include <thread>

namespace orders {

/// Notes in the background that the time of quotes has passed, as long as it lives. Each is a command of its own, whose
/// key is the quote and its version: however many instances find the same quote, one of them expires it. What fails is
/// told to the log; the next pass makes up for it. A quote whose time has passed counts as expired before that already.
class ExpiryRunner {
public:
    /// The executor must outlive it.
    ExpiryRunner(semel::Executor& executor, semel::Duration every);

private:
    std::jthread thread_;
};

}  // namespace orders
