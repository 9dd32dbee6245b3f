#pragma once

#include "semel/db/database.hpp"
#include "semel/idempotency/identity.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace orders {

/// How often replies were given out again, for the audit. Replays are answered from memory, so they are counted there
/// and written down every so often: a process that is killed loses what it counted since, and nothing counts twice.
class ReplayCounter {
public:
    /// The database must outlive it. `every`: how often it writes; it writes once more at its end.
    ReplayCounter(semel::Database& database, semel::Duration every);
    ~ReplayCounter();
    ReplayCounter(const ReplayCounter&) = delete;
    ReplayCounter& operator=(const ReplayCounter&) = delete;

    /// Never waits for the database. Thread-safe.
    void count(const semel::Identity& identity);
    /// Writes what was counted. What cannot be written is counted on; what may have been written is not.
    void write();

private:
    struct Counted {
        std::string tenant;
        std::string command_id;
        std::int64_t replays = 0;
    };
    using Counts = std::map<semel::Digest, Counted>;

    [[nodiscard]] Counts take();
    void put_back(const Counts& counts);

    semel::Database* database_;
    std::mutex mutex_;
    Counts counts_;
    std::jthread thread_;
};

}  // namespace orders
