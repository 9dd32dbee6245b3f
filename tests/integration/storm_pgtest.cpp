// Many threads, few rows: deadlocks and serialization failures by the thousand. Every command ends
// committed or with a typed reason, and the accounts say the same as the answers.

#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_fixture.hpp"
#include "tests/integration/bank.hpp"

#include <atomic>
#include <cstdio>
#include <thread>

namespace semel::integration {
namespace {

constexpr int thread_count = 16;
constexpr int transfers_per_thread = 60;

struct Storm {
    Isolation isolation;
    const char* name;
};

class StormTest : public testing::PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // A deadlock is looked for after this long; the default of a second would be most of the test.
        // tidy: allow(sql-concatenation): ALTER DATABASE takes no parameters, and the name is the fixture's own.
        const std::string often = "ALTER DATABASE " + PostgresTest::database() + " SET deadlock_timeout = '20ms'";
        const auto quick = postgres().sql(often);
        ASSERT_TRUE(quick) << quick.error().describe();
        DatabaseOptions options;
        options.pool.size = thread_count;
        auto opened = open(url(), options);
        ASSERT_TRUE(opened) << opened.error().describe();
        database = std::move(opened->database);
        const auto migrated = migrate(*database, "semel", opened->schema, Deadline::never());
        ASSERT_TRUE(migrated) << migrated.error().describe();
        create_bank(*database);
    }

    std::unique_ptr<Database> database;
};

/// Takes both rows' locks in the order given, so that opposite transfers meet in a deadlock.
Status move_money_locking(Transaction& tx, const Transfer& transfer) {
    SEMEL_TRY(tx.execute("SELECT 1 FROM account WHERE id = $1 FOR UPDATE", transfer.source));
    SEMEL_TRY(tx.execute("SELECT 1 FROM account WHERE id = $1 FOR UPDATE", transfer.target));
    return move_money(tx, transfer);
}

void run_storm(Database& database, Isolation isolation, Status (*body)(Transaction&, const Transfer&)) {
    std::atomic<std::int64_t> committed = 0;
    std::atomic<std::int64_t> stopped = 0;
    std::atomic<std::int64_t> attempts = 0;
    std::atomic<int> untyped = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < thread_count; ++thread)
            threads.emplace_back([&, thread] {
                SeededRandom random(static_cast<std::uint64_t>(thread) + 1);
                TransactOptions options;
                options.transaction.isolation = isolation;
                options.retry = Policy::create({.attempts = 30,
                                                .cap = std::chrono::milliseconds(200),
                                                .throttled_base = std::chrono::milliseconds(100)})
                                    .value();
                for (int n = 0; n < transfers_per_thread; ++n) {
                    Transfer transfer{new_uuid(), static_cast<int>(random.below(account_count)), 0, 1};
                    transfer.target = static_cast<int>(
                        (static_cast<std::uint64_t>(transfer.source) + 1 + random.below(account_count - 1)) %
                        account_count);
                    const auto outcome = transact(database, options, [&](Transaction& tx) {
                        ++attempts;
                        return body(tx, transfer);
                    });
                    if (outcome.committed())
                        ++committed;
                    else {
                        if (stopped++ == 0) std::printf("the first to stop: %s\n", outcome.error().describe().c_str());
                        if (outcome.unknown() || outcome.error().cause.stop == Stop::none) ++untyped;
                    }
                }
            });
    }
    const Totals after = totals(database);
    std::printf("committed %ld, stopped %ld, attempts %ld\n", committed.load(), stopped.load(), attempts.load());
    EXPECT_EQ(committed + stopped, thread_count * transfers_per_thread);
    EXPECT_EQ(untyped, 0) << "a command ended without a typed reason";
    EXPECT_EQ(after.money, account_count * opening_balance);
    EXPECT_EQ(after.transfers, committed) << "an answer and the database disagree";
    EXPECT_GT(attempts, committed.load()) << "the storm was no storm: nothing was ever rerun";
    EXPECT_GT(committed, 0);
    EXPECT_EQ(database.pool().usage().in_use, 0U);
}

TEST_F(StormTest, OfDeadlocksEndsWithEveryCommandAnsweredAndMoneyConserved) {
    run_storm(*database, Isolation::read_committed, move_money_locking);
}

TEST_F(StormTest, OfSerializationFailuresEndsWithEveryCommandAnsweredAndMoneyConserved) {
    run_storm(*database, Isolation::serializable, move_money);
}

TEST_F(StormTest, OfRepeatableReadConflictsEndsWithEveryCommandAnsweredAndMoneyConserved) {
    run_storm(*database, Isolation::repeatable_read, move_money);
}

}  // namespace
}  // namespace semel::integration
