#pragma once

#include "semel/command/leased_executor.hpp"
#include "tests/simulation/process.hpp"

#include <memory>

namespace semel::simulation {

/// What a process needs to execute commands of every kind.
struct Commanding {
    explicit Commanding(Process& process);

    std::unique_ptr<Database> database;
    Operations operations;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<LeasedExecutor> leased;
};

/// What a leased command stores of its request.
[[nodiscard]] std::string payload_of(std::size_t intent, std::int64_t amount);

}  // namespace semel::simulation
