// A synchronous standby is promoted while commits are under way. The answer may be unknown here (an
// identity resolves that); it is never wrong.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/fault_proxy.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "tests/integration/effects.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using testing::FaultProxy;
using testing::PostgresCluster;

constexpr int worker_count = 8;

/// How the old primary ends.
enum class End { killed, isolated };

struct Answers {
    std::mutex mutex;
    std::map<std::string, std::string> by_id;
    std::atomic<int> committed = 0, not_committed = 0, unknown = 0;

    void add(const std::string& id, const Outcome<>& outcome) {
        const char* word = outcome.committed() ? "committed" : outcome.unknown() ? "unknown" : "not committed";
        ++(outcome.committed() ? committed : outcome.unknown() ? unknown : not_committed);
        const std::lock_guard guard(mutex);
        by_id[id] = word;
    }
};

/// Writes through the proxy until told to stop; every answer is noted.
void write_until(std::stop_token stop, Database& database, Answers& answers) {
    while (!stop.stop_requested()) {
        const std::string id = new_uuid().text();
        TransactOptions options;
        options.deadline = Deadline::after(database.clock().now(), 3s);
        options.transaction.commit_timeout = 500ms;
        options.retry = Policy::once();
        answers.add(id, transact(database, options, [&](Transaction& tx) -> Status {
                        tx.post("INSERT INTO effect (id) VALUES ($1)", id);
                        return {};
                    }));
    }
}

void fail_over(End end, std::uint64_t seed) {
    auto primary = PostgresCluster::start();
    if (!primary) GTEST_SKIP() << primary.error().describe();
    auto standby = primary->add_standby("sb1", true);
    ASSERT_TRUE(standby) << standby.error().describe();
    ASSERT_TRUE(primary->sql("CREATE TABLE effect (id text NOT NULL)"));
    auto proxy = FaultProxy::start(primary->port(), seed);
    ASSERT_TRUE(proxy) << proxy.error().describe();
    DatabaseOptions options;
    options.pool.size = worker_count;
    options.breaker.attempts_min = 1000;
    auto opened = open((*proxy)->url(), options);
    ASSERT_TRUE(opened) << opened.error().describe();

    Answers answers;
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < worker_count; ++i)
            workers.emplace_back([&](std::stop_token stop) { write_until(stop, *opened->database, answers); });
        while (answers.committed < 100) std::this_thread::sleep_for(5ms);
        // In the middle of it all: the primary goes, the address moves, the standby takes over.
        if (end == End::killed) {
            ASSERT_TRUE(primary->kill9());
        }
        (*proxy)->redirect(standby->port());
        const Status promoted = standby->promote();
        (*proxy)->cut_all();
        ASSERT_TRUE(promoted) << promoted.error().describe();
        const int before = answers.committed;
        const Instant limit = system_clock().now() + 20s;
        while (answers.committed < before + 100 && system_clock().now() < limit) std::this_thread::sleep_for(5ms);
        EXPECT_GE(answers.committed, before + 100) << "the new primary was not found";
    }
    std::printf("committed %d, not committed %d, unknown %d\n", answers.committed.load(), answers.not_committed.load(),
                answers.unknown.load());
    expect_answers_match(answers.by_id, count_effects(*standby));
}

int rounds() { return std::getenv("SEMEL_SOAK") != nullptr ? 20 : 2; }

TEST(Failover, AfterThePrimaryWasKilledNeverGivesAWrongAnswer) {
    for (int round = 0; round < rounds() && !::testing::Test::IsSkipped(); ++round)
        fail_over(End::killed, static_cast<std::uint64_t>(round) + 1);
}

TEST(Failover, WhileTheOldPrimaryStillRunsNeverGivesAWrongAnswer) {
    for (int round = 0; round < rounds() && !::testing::Test::IsSkipped(); ++round)
        fail_over(End::isolated, static_cast<std::uint64_t>(round) + 1);
}

}  // namespace
}  // namespace semel::integration
