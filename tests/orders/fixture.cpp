#include "tests/orders/fixture.hpp"

namespace orders::testing {

Blocker::Blocker(semel::Database& database, Target target, std::string lock_script) {
    thread_ = std::jthread([this, &database, target, script = std::move(lock_script)] {
        semel::TransactOptions options;
        options.transaction.statement_timeout = std::chrono::minutes(1);
        const auto outcome = semel::transact(database, options, [&](semel::Transaction& tx) -> semel::Status {
            // In SQLite a write that changes nothing takes the only writer's place all the same.
            const std::string_view in_sqlite = "DELETE FROM orders_case WHERE tenant = 'nobody'";
            SEMEL_TRY(tx.run_script(target == Target::sqlite ? in_sqlite : std::string_view(script)));
            std::unique_lock lock(mutex_);
            held_ = true;
            changed_.notify_all();
            changed_.wait(lock, [this] { return released_; });
            return {};
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
    });
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return held_; });
    EXPECT_TRUE(held_);
}

void Blocker::release() {
    {
        const std::lock_guard lock(mutex_);
        released_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

}  // namespace orders::testing
