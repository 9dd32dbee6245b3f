// With a synchronous standby a record can be visible before it is replicated. Nobody is told of it before a barrier
// has passed; so what was answered is still there after the standby has taken over.

#include "semel/testing/fault_proxy.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <atomic>
#include <cstdio>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

using testing::PostgresCluster;

class Replicated : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = PostgresCluster::start();
        ASSERT_TRUE(started) << started.error().describe();
        primary.emplace(*std::move(started));
        auto opened = open_shop(primary->url(), patient(70));
        ASSERT_TRUE(opened) << opened.error().describe();
        shop = *std::move(opened);
        ASSERT_TRUE(primary->sql(std::string(shop_schema)));
        auto copied = primary->add_standby("sb1", true);
        ASSERT_TRUE(copied) << copied.error().describe();
        standby.emplace(*std::move(copied));
        ASSERT_TRUE(shop.pay(true, "before").committed());
    }
    void TearDown() override {
        shop = {};
        if (standby) std::ignore = standby->resume();
        standby.reset();
    }

    [[nodiscard]] std::string waiting_for_the_standby() {
        return primary->scalar("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").value_or("?");
    }

    /// Pays while the standby is away; an operator ends the wait of its COMMIT. Then the payment is there, and only
    /// here.
    void pay_without_the_standby(const std::string& key, bool blind) {
        auto paying = start([&] {
            Command asked = command(key);
            asked.owner = RetryOwner::outer;
            asked.deadline = shop.in(4s);
            return shop.executor->execute(asked, pays(blind, key));
        });
        ASSERT_TRUE(eventually([&] { return waiting_for_the_standby() == "1"; }));
        EXPECT_EQ(ledger_of(*primary, "postgres", key), (Ledger{"0", "0", "0"})) << "not visible while it waits";
        ASSERT_TRUE(primary->sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
        const auto outcome = paying.get();
        EXPECT_TRUE(outcome.unknown()) << told(outcome) << ": its COMMIT was answered with a warning";
        EXPECT_EQ(ledger_of(*primary, "postgres", key), (Ledger{"1", "1", "1"})) << "visible, and not replicated";
    }

    /// The primary is lost; the standby takes over.
    void fail_over() {
        shop = {};
        ASSERT_TRUE(primary->kill9());
        const Status promoted = standby->promote();
        ASSERT_TRUE(promoted) << promoted.error().describe();
    }

    std::optional<PostgresCluster> primary;
    std::optional<PostgresCluster> standby;
    Shop shop;
};

TEST_F(Replicated, ARecordThatIsOnlyHereIsNotReplayedBeforeTheStandbyHasItAndReplaysShareTheWait) {
    ASSERT_TRUE(standby->pause());
    pay_without_the_standby("k", true);
    if (HasFatalFailure()) return;
    for (const std::uint32_t attempt : {1U, 2U}) {
        Command again = command("k");
        again.attempt = attempt;
        again.deadline = shop.in(1200ms);
        const auto early = shop.executor->execute(again, pays(attempt == 1, "k"));
        EXPECT_TRUE(early.unknown()) << told(early) << ": nobody may be told while it could still be lost";
    }
    const auto looked = shop.executor->look_up(command("k").identity.command_id(), shop.in(1200ms));
    EXPECT_FALSE(looked) << "asking by its id is no way around";
    // Repeats that have the time wait, and share what they wait for.
    constexpr int repeats = 64;
    const std::uint64_t before = shop.executor->barrier().sent();
    std::atomic<int> begun = 0;
    std::atomic<int> answered = 0;
    {
        std::vector<std::jthread> clients;
        for (int n = 0; n < repeats; ++n)
            clients.emplace_back([&, n] {
                Command again = command("k");
                again.attempt = 2;
                again.deadline = shop.in(40s);
                ++begun;
                const auto outcome = shop.executor->execute(again, pays(n % 2 == 0, "k"));
                ++answered;
                ASSERT_TRUE(outcome.committed()) << told(outcome);
                EXPECT_EQ(outcome.value().standing, Standing::replayed);
                EXPECT_EQ(outcome.value().reply, reply_of("k"));
            });
        // Everyone has looked, and nobody but the barrier talks to the server any more.
        EXPECT_TRUE(eventually([&] {
            const auto usage = shop.database->pool().usage();
            return begun == repeats && usage.in_use == 1 && usage.waiting == 0 && waiting_for_the_standby() != "0";
        }));
        EXPECT_EQ(answered, 0) << "none is answered while the standby is away";
        ASSERT_TRUE(standby->resume());
    }
    const std::uint64_t sent = shop.executor->barrier().sent() - before;
    std::printf("%d replays, %lu barriers\n", repeats, sent);
    EXPECT_LE(sent, 8U);
    fail_over();
    EXPECT_EQ(ledger_of(*standby, "postgres", "k"), (Ledger{"1", "1", "1"})) << "it was answered";
}

TEST_F(Replicated, WhatWasNeverAnsweredMayBeLostAndIsThenExecutedOnce) {
    ASSERT_TRUE(standby->stop());
    pay_without_the_standby("k", false);
    if (HasFatalFailure()) return;
    // The primary dies before the standby is back: what was only here is gone, and nobody had been told otherwise.
    shop = {};
    ASSERT_TRUE(primary->kill9());
    ASSERT_TRUE(standby->start_again());
    ASSERT_TRUE(standby->promote());
    EXPECT_EQ(ledger_of(*standby, "postgres", "k"), (Ledger{"0", "0", "0"}));
    auto moved = open_shop(standby->url());
    ASSERT_TRUE(moved) << moved.error().describe();
    const auto outcome = moved->pay(true, "k");
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().standing, Standing::executed);
    EXPECT_EQ(ledger_of(*standby, "postgres", "k"), (Ledger{"1", "1", "1"}));
}

TEST_F(Replicated, ARecordThatACrashMadeVisibleIsNotReplayedBeforeTheStandbyHasIt) {
    ASSERT_TRUE(standby->pause());
    auto paying = start([&] {
        Command asked = command("k");
        asked.owner = RetryOwner::outer;
        asked.deadline = shop.in(20s);
        return shop.executor->execute(asked, pays(true, "k"));
    });
    ASSERT_TRUE(eventually([&] { return waiting_for_the_standby() == "1"; }));
    ASSERT_TRUE(primary->kill9());
    const auto lost = paying.get();
    EXPECT_TRUE(lost.unknown()) << told(lost);
    ASSERT_TRUE(primary->start_again());
    EXPECT_EQ(ledger_of(*primary, "postgres", "k"), (Ledger{"1", "1", "1"})) << "recovery made it visible";
    const auto early = shop.pay(true, "k", shop.in(1500ms));
    EXPECT_TRUE(early.unknown()) << told(early);
    ASSERT_TRUE(standby->resume());
    const auto outcome = shop.pay(false, "k", shop.in(30s));
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().reply, reply_of("k"));
    fail_over();
    EXPECT_EQ(ledger_of(*standby, "postgres", "k"), (Ledger{"1", "1", "1"}));
}

TEST_F(Replicated, ALostAnswerIsNeverResolvedByAskingAReplica) {
    // The address has moved to a standby that is not promoted yet and lags behind. It would grant the command's lock
    // and show nothing; that must not be taken for proof.
    auto proxy = testing::FaultProxy::start(primary->port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    const Shop through = open_shop((*proxy)->url(), patient(2)).value();
    ASSERT_TRUE(through.pay(false, "earlier").committed());
    ASSERT_TRUE(standby->sql("SELECT pg_wal_replay_pause()"));
    ASSERT_TRUE(eventually(
        [&] { return standby->scalar("SELECT pg_get_wal_replay_pause_state()").value_or("?") == "paused"; }));
    const auto pays_and_moves = [&](Work& work) -> Result<Reply> {
        SEMEL_TRY(work.tx.execute("SELECT 1"));
        (*proxy)->set_plan(testing::ProxyPlan::swallow_commit_answer(), testing::ProxyScope::next_commit);
        (*proxy)->redirect(standby->port());
        return pays_blindly("k")(work);
    };
    Command asked = command("k");
    asked.deadline = through.in(3s);
    const auto outcome = through.executor->execute(asked, pays_and_moves);
    EXPECT_TRUE(outcome.unknown()) << told(outcome);
    EXPECT_EQ(ledger_of(*primary, "postgres", "k"), (Ledger{"1", "1", "1"})) << "it was committed all the while";
    (*proxy)->redirect(primary->port());
    (*proxy)->cut_all();
    const auto later = through.pay(false, "k");
    ASSERT_TRUE(later.committed()) << told(later);
    EXPECT_EQ(later.value().standing, Standing::replayed);
    EXPECT_EQ(ledger_of(*primary, "postgres", "k"), (Ledger{"1", "1", "1"}));
}

}  // namespace
}  // namespace semel::protocol
