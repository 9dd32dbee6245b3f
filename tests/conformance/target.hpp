#pragma once

#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/pgbouncer.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace semel::conformance {

/// Every way to a database that must answer alike.
enum class Target { sqlite, postgres, pgbouncer };

inline const char* name(Target target) {
    switch (target) {
        case Target::sqlite: return "sqlite";
        case Target::postgres: return "postgres";
        case Target::pgbouncer: return "pgbouncer";
    }
    return "";
}

/// Base of the suites that every target runs, each test in an empty database with Semel's schema.
class ConformanceTest : public ::testing::TestWithParam<Target> {
protected:
    void SetUp() override {
        if (GetParam() == Target::sqlite) {
            auto made = testing::TempDir::make("conformance");
            ASSERT_TRUE(made) << made.error().describe();
            directory_.emplace(*std::move(made));
            address_ = "sqlite:" + (directory_->path() / "store.db").string();
        } else {
            const auto shared = testing::shared_postgres();
            if (!shared) GTEST_SKIP() << shared.error().describe();
            const auto made = (*shared)->fresh_database();
            ASSERT_TRUE(made) << made.error().describe();
            address_ = *made;
        }
        if (GetParam() == Target::pgbouncer) put_bouncer_in_front();
        if (IsSkipped() || HasFatalFailure()) return;
        open_database();
    }

    void put_bouncer_in_front() {
        auto* server = *testing::shared_postgres();
        auto started = testing::PgBouncer::start(*server);
        if (!started) GTEST_SKIP() << started.error().describe();
        bouncer_.emplace(*std::move(started));
        address_ = bouncer_->url(std::string_view(address_).substr(address_.rfind('/') + 1));
    }

    void open_database() {
        auto made = driver(address_);
        ASSERT_TRUE(made) << made.error().describe();
        driver_ = *std::move(made);
        DatabaseOptions options;
        options.catalogue = driver_.catalogue;
        database = Database::create(driver_.connect, options).value();
        const auto migrated =
            migrate(*database, "semel", driver_.schema, Deadline::after(now(), std::chrono::seconds(30)));
        ASSERT_TRUE(migrated) << migrated.error().describe();
    }

    [[nodiscard]] static Instant now() { return system_clock().now(); }
    [[nodiscard]] static Deadline soon() { return Deadline::after(now(), std::chrono::seconds(10)); }

    /// Runs statements in a transaction of their own.
    void run(std::string_view script) {
        const auto outcome = transact(*database, [&](Transaction& tx) { return tx.run_script(script); });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }

    [[nodiscard]] std::int64_t count(Sql sql) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
            return SEMEL_TRY(tx.execute(sql)).scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }

    std::optional<testing::TempDir> directory_;
    std::optional<testing::PgBouncer> bouncer_;
    std::string address_;
    Driver driver_;
    std::unique_ptr<Database> database;
};

/// For INSTANTIATE_TEST_SUITE_P.
inline const char* target_name(const ::testing::TestParamInfo<Target>& target) { return name(target.param); }

/// Asks until it is so; false: not within 20 seconds.
inline bool eventually(const std::function<bool()>& so) {
    const Instant limit = system_clock().now() + std::chrono::seconds(20);
    while (!so()) {
        if (system_clock().now() > limit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace semel::conformance
