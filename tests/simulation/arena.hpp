#pragma once

#include "semel/sqlite/store.hpp"
#include "tests/simulation/scheduler.hpp"

#include <memory>

struct sqlite3;

namespace semel::simulation {

/// Where runs take place: a store in memory with the schema in it and nothing else. Making the schema takes longer
/// than a run, so it is made once and copied.
class Arena {
public:
    Arena();
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// A store as if it had just been made, on the scheduler's time. One at a time.
    [[nodiscard]] std::shared_ptr<sqlite::Store> clean_store(Scheduler& scheduler);
    void give_back(std::shared_ptr<sqlite::Store> store);
    /// SQLite's own handle of that store: for those who look on.
    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

private:
    [[nodiscard]] std::shared_ptr<sqlite::Store> open();

    StoreClock clock_;
    sqlite3* model_ = nullptr;
    sqlite3* handle_ = nullptr;
};

/// The one of this program.
[[nodiscard]] Arena& arena();

}  // namespace semel::simulation
