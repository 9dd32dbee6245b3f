// The answer to COMMIT is lost: cut in every way and at every message. One effect, one reply, never a wrong answer.

#include "semel/base/failpoint.hpp"
#include "semel/testing/fault_proxy.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

using testing::FaultProxy;
using testing::ProxyPlan;
using testing::ProxyScope;
using Way = ProxyPlan::Way;
using Side = ProxyPlan::Side;

constexpr std::array plans{ProxyPlan::cut_before_commit(Way::reset),     ProxyPlan::cut_before_commit(Way::finish),
                           ProxyPlan::cut_after_commit_sent(Way::reset), ProxyPlan::cut_after_commit_sent(Way::finish),
                           ProxyPlan::swallow_commit_answer(Way::reset), ProxyPlan::swallow_commit_answer(Way::finish),
                           ProxyPlan::cut_server_before_commit(),        ProxyPlan::cut_client_before_commit(),
                           ProxyPlan::stall_at_commit(Side::server),     ProxyPlan::stall_at_commit(Side::client),
                           ProxyPlan::stall_at_commit(Side::both)};

int cuts() { return std::getenv("SEMEL_SOAK") != nullptr ? 4000 : 264; }

class LostAnswer : public ShopTest {
protected:
    static std::unique_ptr<FaultProxy> proxy(int port, std::uint64_t seed = 1) {
        auto started = FaultProxy::start(port, seed);
        EXPECT_TRUE(started) << started.error().describe();
        return *std::move(started);
    }
    /// Repeats as a client does, with the same key, until the answer is certain. What is stalled on its way goes on
    /// at some point: before the first repeat, or while repeats are being refused because of it.
    static Outcome<Answer> until_certain(const Shop& shop, FaultProxy& between, bool blind, const std::string& key,
                                         int& repeats) {
        for (std::uint32_t attempt = 1;; ++attempt) {
            Command asked = command(key);
            asked.attempt = attempt;
            asked.deadline = shop.in(300ms);
            auto outcome = shop.executor->execute(asked, pays(blind, key));
            if (outcome.committed() || attempt == 100) return outcome;
            ++repeats;
            if (attempt % 3 == 0) between.release();
            if (attempt % 8 == 0) between.cut_all();  // A server that was not told learns that its client is gone.
            std::this_thread::sleep_for(5ms);
        }
    }
};

TEST_F(LostAnswer, OfACommandWhoseClaimWasAnsweredIsReplayedIfItsRecordIsThere) {
    const auto between = proxy(postgres().port());
    const Shop through = open_shop(between->url(database())).value();
    ASSERT_TRUE(through.pay(false, "before").committed());
    between->set_plan(ProxyPlan::swallow_commit_answer(), ProxyScope::next_commit);
    const auto outcome = through.pay(false, "k");
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(between->counters().cuts, 1U);
    EXPECT_EQ(outcome.value().reply, reply_of("k"));
    EXPECT_EQ(outcome.value().standing, Standing::replayed) << "found, not run again";
    EXPECT_EQ(books("k"), (Ledger{"1", "1", "1"}));
}

TEST_F(LostAnswer, OfACommandWhoseClaimWasAnsweredIsRunAgainIfItsRecordIsAbsentUnderTheLock) {
    const auto between = proxy(postgres().port());
    const Shop through = open_shop(between->url(database())).value();
    ASSERT_TRUE(through.pay(false, "before").committed());
    int runs = 0;
    bool armed = false;
    const auto pays_counted = [&](Work& work) -> Result<Reply> {
        ++runs;
        SEMEL_TRY(work.tx.execute("SELECT 1"));
        if (!std::exchange(armed, true))
            between->set_plan(ProxyPlan::cut_before_commit(Way::finish), ProxyScope::next_commit);
        return pays_blindly("k")(work);
    };
    const auto outcome = through.executor->execute(command("k"), pays_counted);
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().standing, Standing::executed);
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(books("k"), (Ledger{"1", "1", "1"}));
}

TEST_F(LostAnswer, IsNotResolvedByARecordThatIsNotFinished) {
    // While COMMIT is lost on its way, the same request is accepted for a worker to execute later.
    const auto between = proxy(postgres().port());
    const Shop through = open_shop(between->url(database())).value();
    ASSERT_TRUE(through.pay(false, "before").committed());
    bool armed = false;
    const failpoint::Hook hook([&](std::string_view name) {
        if (name != "postgres.after_commit" || !std::exchange(armed, false)) return;
        const Command same = command("k");
        const Claim claim(through.executor->statements(), same.identity, same.fingerprint);
        std::ignore = ask(
            "INSERT INTO semel.command_record (identity, fingerprint, state, tenant, caller, operation, key) "
            "VALUES (decode($1, 'hex'), decode($2, 'hex'), 'received', 'shop', 'web', 'payment.create', 'k') RETURNING "
            "1",
            {hex(same.identity.digest()), hex(claim.stored_fingerprint())});
    });
    const auto outcome = through.executor->execute(command("k"), [&](Work& work) -> Result<Reply> {
        SEMEL_TRY(work.tx.execute("SELECT 1"));
        between->set_plan(ProxyPlan::cut_before_commit(Way::finish), ProxyScope::next_commit);
        armed = true;
        return pays_blindly("k")(work);
    });
    ASSERT_TRUE(outcome.not_committed()) << told(outcome);
    EXPECT_EQ(verdict_of(outcome.error()), ClaimVerdict::in_progress);
    EXPECT_EQ(books("k").payments, "0");
}

TEST_F(LostAnswer, IsNotResolvedBeforeTheOldTransactionHasEnded) {
    // COMMIT is held on its way and the client gives up. The server process is still in its transaction and holds the
    // command's lock: whoever looked without it would see nothing and run the command a second time.
    const auto between = proxy(postgres().port());
    const Shop through = open_shop(between->url(database())).value();
    ASSERT_TRUE(through.pay(false, "before").committed());
    int runs = 0;
    bool armed = false;
    const auto pays_counted = [&](Work& work) -> Result<Reply> {
        ++runs;
        SEMEL_TRY(work.tx.execute("SELECT 1"));
        if (!std::exchange(armed, true))
            between->set_plan(ProxyPlan::stall_at_commit(Side::server), ProxyScope::next_commit);
        return pays_blindly("k")(work);
    };
    auto paying = start([&] {
        Command asked = command("k");
        asked.deadline = through.in(4s);  // Half of it is spent waiting for the answer.
        return through.executor->execute(asked, pays_counted);
    });
    ASSERT_TRUE(eventually([&] { return waiting_for_locks() == 1; })) << "the resolver waits for the lock";
    EXPECT_EQ(runs, 1);
    between->release();  // COMMIT arrives after all.
    const auto outcome = paying.get();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().reply, reply_of("k"));
    EXPECT_EQ(outcome.value().standing, Standing::replayed);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(books("k"), (Ledger{"1", "1", "1"}));
}

TEST_F(LostAnswer, OfABlindCommandIsSettledByItsPrimaryKey) {
    const auto between = proxy(postgres().port());
    const Shop through = open_shop(between->url(database())).value();
    ASSERT_TRUE(through.pay(true, "before").committed());
    between->set_plan(ProxyPlan::swallow_commit_answer(), ProxyScope::next_commit);
    const auto found = through.pay(true, "arrived");
    ASSERT_TRUE(found.committed()) << told(found);
    EXPECT_EQ(found.value().standing, Standing::replayed);
    EXPECT_EQ(found.value().reply, reply_of("arrived"));
    between->set_plan(ProxyPlan::cut_before_commit(), ProxyScope::next_commit);
    const auto rerun = through.pay(true, "lost");
    ASSERT_TRUE(rerun.committed()) << told(rerun);
    EXPECT_EQ(rerun.value().standing, Standing::executed);
    for (const char* key : {"arrived", "lost"}) EXPECT_EQ(books(key), (Ledger{"1", "1", "1"}));
}

TEST_F(LostAnswer, CutAtRandomHundredsOfTimesNeverLeavesAWrongAnswer) {
    constexpr int workers = 8;
    std::atomic<int> replayed = 0;
    std::atomic<int> repeated = 0;
    std::atomic<std::uint64_t> mishaps = 0;
    {
        std::vector<std::jthread> threads;
        for (int worker = 0; worker < workers; ++worker)
            threads.emplace_back([&, worker] {
                const auto between = proxy(postgres().port(), static_cast<std::uint64_t>(worker) + 1);
                const Shop through = open_shop(between->url(database()), patient(3)).value();
                SeededRandom random(static_cast<std::uint64_t>(worker) + 7);
                for (int n = worker; n < cuts(); n += workers) {
                    const bool blind = (n / workers) % 2 == 0;
                    ProxyPlan plan = plans[random.below(plans.size())];
                    plan = plan.delayed(Duration(static_cast<std::int64_t>(random.below(3'000'000))));
                    plan.answers_pass = random.below(3) == 0;
                    between->set_plan(plan, ProxyScope::next_commit);
                    const std::string key = std::to_string(n);
                    int repeats = 0;
                    const auto outcome = until_certain(through, *between, blind, key, repeats);
                    repeated += repeats;
                    between->release();
                    between->clear_plans();
                    ASSERT_TRUE(outcome.committed()) << key << ": " << told(outcome);
                    EXPECT_EQ(outcome.value().reply, reply_of(key)) << key;
                    if (outcome.value().standing == Standing::replayed) ++replayed;
                    EXPECT_EQ(ask("SELECT count(*) FROM payment WHERE id = $1", {key}), "1") << key;
                }
                mishaps += between->counters().cuts + between->counters().stalls;
            });
    }
    std::printf("%d commands, %lu mishaps, %d found by their record, %d repeats by the client\n", cuts(),
                mishaps.load(), replayed.load(), repeated.load());
    EXPECT_GE(mishaps, static_cast<std::uint64_t>(cuts()) * 9 / 10);
    EXPECT_GT(replayed, 0);
    // Again at the end, when nothing is under way any more.
    const std::string all = std::to_string(cuts());
    EXPECT_EQ(books(), (Ledger{all, all, all}));
    EXPECT_EQ(ask("SELECT count(DISTINCT id) FROM payment"), all);
    EXPECT_EQ(ask("SELECT count(*) FROM semel.command_record WHERE convert_from(body, 'UTF8') = 'paid ' || key"), all);
}

TEST_F(LostAnswer, CutAfterAnyMessageOfTheConversationHasOneEffect) {
    const auto between = proxy(postgres().port());
    int commands = 0;
    for (const bool blind : {true, false}) {
        std::uint64_t cuts_before = 0;
        for (std::uint64_t message = 1;; ++message) {
            // A fresh database each time, so that the conversation is the same from the start.
            auto opened = open(between->url(database()), patient(2));
            ASSERT_TRUE(opened);
            Shop through{.database = std::move(opened->database), .executor = nullptr};
            through.executor = Executor::create(*through.database, {.cache_bytes = 0}).value();
            between->set_plan(ProxyPlan::cut_after_message(message), ProxyScope::next_connection);
            cuts_before = between->counters().cuts;
            const std::string key = (blind ? "b" : "r") + std::to_string(message);
            const auto outcome = through.pay(blind, key);
            between->clear_plans();
            ASSERT_TRUE(outcome.committed()) << key << ": " << told(outcome);
            EXPECT_EQ(outcome.value().reply, reply_of(key));
            ++commands;
            if (between->counters().cuts == cuts_before) {
                std::printf("%s: %lu messages\n", blind ? "blind" : "reading", message - 1);
                break;  // The conversation was over before that message: every place has been tried.
            }
            ASSERT_LT(message, 200U);
        }
    }
    EXPECT_GT(commands, 30);
    const std::string all = std::to_string(commands);
    EXPECT_EQ(books(), (Ledger{all, all, all}));
    EXPECT_EQ(ask("SELECT count(DISTINCT id) FROM payment"), all);
}

}  // namespace
}  // namespace semel::protocol
