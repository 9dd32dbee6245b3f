// COMMIT cut in every way, a thousand times, at random moments: every answer is committed or not
// committed, and the database says the same.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/fault_proxy.hpp"
#include "semel/testing/postgres_fixture.hpp"
#include "tests/integration/effects.hpp"

#include <array>
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
using testing::ProxyPlan;
using testing::ProxyScope;
using Way = ProxyPlan::Way;
using Side = ProxyPlan::Side;

struct NamedPlan {
    const char* name;
    ProxyPlan plan;
};

constexpr std::array plans{
    NamedPlan{"cut before COMMIT, reset", ProxyPlan::cut_before_commit(Way::reset)},
    NamedPlan{"cut before COMMIT, finish", ProxyPlan::cut_before_commit(Way::finish)},
    NamedPlan{"cut after COMMIT was sent, reset", ProxyPlan::cut_after_commit_sent(Way::reset)},
    NamedPlan{"cut after COMMIT was sent, finish", ProxyPlan::cut_after_commit_sent(Way::finish)},
    NamedPlan{"answer swallowed, reset", ProxyPlan::swallow_commit_answer(Way::reset)},
    NamedPlan{"answer swallowed, finish", ProxyPlan::swallow_commit_answer(Way::finish)},
    NamedPlan{"server cut before COMMIT", ProxyPlan::cut_server_before_commit()},
    NamedPlan{"client cut, server not told", ProxyPlan::cut_client_before_commit()},
    NamedPlan{"COMMIT stalled", ProxyPlan::stall_at_commit(Side::server)},
    NamedPlan{"answer stalled", ProxyPlan::stall_at_commit(Side::client)},
    NamedPlan{"both directions stalled", ProxyPlan::stall_at_commit(Side::both)},
};

struct Tally {
    int committed = 0;
    int not_committed = 0;
    int unknown = 0;
};

class LostCommitTest : public testing::PostgresTest {
protected:
    static constexpr int worker_count = 4;

    static int rounds() { return std::getenv("SEMEL_SOAK") != nullptr ? 10'000 : 1'000; }

    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // No unique key: an effect that happens twice must show.
        ASSERT_TRUE(postgres().sql("CREATE TABLE effect (id text NOT NULL)", database()));
    }

    /// One worker's share: each round cuts one COMMIT through a proxy of the worker's own.
    void cut_commits(int worker, std::map<std::string, Tally>& tallies, std::mutex& mutex) {
        auto proxy = FaultProxy::start(postgres().port(), static_cast<std::uint64_t>(worker) + 1);
        ASSERT_TRUE(proxy) << proxy.error().describe();
        DatabaseOptions options;
        options.pool.size = 2;
        options.breaker.attempts_min = 1000;  // The cuts are ours; the server is well.
        auto opened = open((*proxy)->url(database()), options);
        ASSERT_TRUE(opened) << opened.error().describe();
        SeededRandom random(static_cast<std::uint64_t>(worker) + 100);
        for (int round = worker; round < rounds(); round += worker_count) {
            const NamedPlan& chosen = plans[static_cast<std::size_t>(round) % plans.size()];
            ProxyPlan plan = chosen.plan.delayed(Duration(static_cast<std::int64_t>(random.below(3'000'000))));
            plan.answers_pass = random.below(3) == 0;
            const bool once = random.below(2) == 0;
            const std::string id = new_uuid().text();
            const std::string outcome = one_round(**proxy, *opened->database, plan, once, id);
            // What was stalled may go on its way now, after the answer was given.
            (*proxy)->release();
            (*proxy)->clear_plans();
            check(chosen.name, id, outcome);
            const std::lock_guard guard(mutex);
            Tally& tally = tallies[chosen.name];
            ++(outcome == "committed"       ? tally.committed
               : outcome == "not committed" ? tally.not_committed
                                            : tally.unknown);
            answers_[id] = outcome;
        }
    }

    static std::string one_round(FaultProxy& proxy, Database& database, const ProxyPlan& plan, bool once,
                                 const std::string& id) {
        TransactOptions options;
        options.deadline = Deadline::after(database.clock().now(), 20s);
        options.transaction.commit_timeout = 100ms;
        if (once) options.retry = Policy::once();
        bool armed = false;
        const auto outcome = transact(database, options, [&](Transaction& tx) -> Status {
            SEMEL_TRY(tx.execute("INSERT INTO effect (id) VALUES ($1)", id));
            if (!std::exchange(armed, true)) proxy.set_plan(plan, ProxyScope::next_commit);
            return {};
        });
        if (outcome.unknown()) std::printf("unknown: %s\n", outcome.error().describe().c_str());
        return outcome.committed() ? "committed" : outcome.not_committed() ? "not committed" : "unknown";
    }

    void check(const char* plan, const std::string& id, const std::string& outcome) {
        const std::string effects =
            postgres().scalar("SELECT count(*) FROM effect WHERE id = $1", database(), {id}).value();
        EXPECT_EQ(effects, outcome == "committed" ? "1" : "0") << plan << ": answered " << outcome;
    }

    std::map<std::string, std::string> answers_;
};

TEST_F(LostCommitTest, IsResolvedEveryTimeAndTheAnswerMatchesTheDatabase) {
    std::map<std::string, Tally> tallies;
    std::mutex mutex;
    {
        std::vector<std::jthread> workers;
        for (int worker = 0; worker < worker_count; ++worker)
            workers.emplace_back([&, worker] { cut_commits(worker, tallies, mutex); });
    }
    int total = 0;
    for (const auto& [name, tally] : tallies) {
        std::printf("%-36s committed %4d, not committed %4d, unknown %d\n", name.c_str(), tally.committed,
                    tally.not_committed, tally.unknown);
        EXPECT_EQ(tally.unknown, 0) << name;
        total += tally.committed + tally.not_committed + tally.unknown;
    }
    EXPECT_EQ(total, rounds());
    // Again at the end, when nothing is under way any more: what was not committed never became so.
    expect_answers_match(answers_, count_effects(postgres(), database()));
}

TEST_F(LostCommitTest, InAnyMessageOfTheConversationIsResolvedToo) {
    auto proxy = FaultProxy::start(postgres().port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    for (std::uint64_t message = 1; message <= 40; ++message) {
        // A fresh database each time, so that the conversation is the same from the start.
        DatabaseOptions database_options;
        database_options.breaker.attempts_min = 1000;
        auto opened = open((*proxy)->url(database()), database_options);
        ASSERT_TRUE(opened);
        (*proxy)->set_plan(ProxyPlan::cut_after_message(message), ProxyScope::next_connection);
        const std::string id = new_uuid().text();
        TransactOptions options;
        options.deadline = Deadline::after(opened->database->clock().now(), 20s);
        const auto outcome = transact(*opened->database, options, [&](Transaction& tx) -> Status {
            tx.post("INSERT INTO effect (id) VALUES ($1)", id);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << "message " << message << ": " << outcome.error().describe();
        check("cut after a message", id, "committed");
    }
}

}  // namespace
}  // namespace semel::integration
