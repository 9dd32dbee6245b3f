#pragma once

#include "tests/simulation/process.hpp"

namespace semel::simulation {

/// What a process does from its start until it dies or is stopped.
using Role = void (*)(Process&);

void live_as_client(Process& process);
void live_as_relay(Process& process);
void live_as_ledger_consumer(Process& process);
void live_as_audit_consumer(Process& process);
void live_as_worker(Process& process);
void live_as_sweeper(Process& process);
void live_as_operator(Process& process);
void live_as_retention(Process& process);

/// Pauses of one who has nothing to do: longer and longer, until there is something or someone rings.
class Idling {
public:
    Idling(Process& process, Bell bell) : process_(&process), bell_(bell) {}
    void rest(bool busy);

private:
    Process* process_;
    Bell bell_;
    Duration pause_ = std::chrono::milliseconds(100);
};

/// Whether a process goes on: it lives, and the run is not over.
[[nodiscard]] bool goes_on(Process& process);

}  // namespace semel::simulation
