// A command that goes out in one flush, COMMIT included, and is lost on its way. Nobody can tell whether it will
// still arrive: only the record's primary key decides, and no answer given before may turn false.

#include "semel/testing/fault_proxy.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <csignal>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

/// A server process stopped in its tracks, going on at the end of the scope at the latest.
class Stopped {
public:
    explicit Stopped(pid_t pid) : pid_(pid) { ::kill(pid_, SIGSTOP); }
    ~Stopped() { go_on(); }
    Stopped(const Stopped&) = delete;
    Stopped& operator=(const Stopped&) = delete;
    void go_on() {
        if (pid_ > 0) ::kill(pid_, SIGCONT);
        pid_ = 0;
    }

private:
    pid_t pid_;
};

class OneFlush : public ShopTest {
protected:
    void SetUp() override {
        ShopTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // One session at a time, opened and known: the next command goes to this process.
        shop = open_shop(url(), patient(1)).value();
        std::string pid;
        const auto outcome = transact(*shop.database, [&](Transaction& tx) -> Status {
            const Rows rows = SEMEL_TRY(tx.execute("SELECT pg_backend_pid()"));
            pid = std::to_string(SEMEL_TRY(rows.scalar<std::int64_t>()));
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
        process = std::stoi(pid);
        ASSERT_EQ(
            ask("SELECT count(*) FROM pg_stat_activity WHERE pid = $1::int AND datname = current_database()", {pid}),
            "1");
    }

    /// Once the server process has read what was sent to it and has ended: nothing more can come from it.
    [[nodiscard]] bool old_flush_is_over(pid_t pid) {
        return eventually([&] {
            return ask("SELECT count(*) FROM pg_stat_activity WHERE pid = $1::int", {std::to_string(pid)}) == "0";
        });
    }
    [[nodiscard]] bool lock_is_free(const std::string& key) {
        return ask("SELECT pg_try_advisory_xact_lock($1::bigint)", {std::to_string(command(key).identity.lock())}) ==
               "t";
    }

    pid_t process = 0;
};

TEST_F(OneFlush, UnreadByAStoppedServerProcessIsSettledByRunningAgain) {
    Stopped stopped(process);
    const auto outcome = shop.pay(true, "k", shop.in(4s));
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().reply, reply_of("k"));
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
    stopped.go_on();  // Now it reads the first flush: the record is there already.
    ASSERT_TRUE(old_flush_is_over(process));
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
    const auto again = shop.pay(false, "k");
    ASSERT_TRUE(again.committed()) << told(again);
    EXPECT_EQ(again.value().reply, reply_of("k"));
}

TEST_F(OneFlush, AbsentWithItsLockFreeIsUnknownAndNeverCalledNotDone) {
    Stopped stopped(process);
    Command asked = command("k");
    asked.owner = RetryOwner::outer;  // No time, or no right, to run again.
    asked.deadline = shop.in(2s);
    const auto outcome = shop.executor->execute(asked, pays_blindly("k"));
    EXPECT_TRUE(outcome.unknown()) << told(outcome);
    // Whoever looked now would hold the lock and see nothing. It proves nothing.
    EXPECT_TRUE(lock_is_free("k"));
    EXPECT_EQ(books(), (Ledger{"0", "0", "0"}));
    stopped.go_on();
    ASSERT_TRUE(old_flush_is_over(process));
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"})) << "the flush did arrive: the test shows what it is to show";
    const auto later = shop.pay(true, "k");
    ASSERT_TRUE(later.committed()) << told(later);
    EXPECT_EQ(later.value().standing, Standing::replayed) << "a later repeat tells";
}

TEST_F(OneFlush, ARefusalAfterADoubtIsStoredSoThatTheOldFlushCannotCommit) {
    Stopped stopped(process);
    Command asked = command("k");
    asked.deadline = shop.in(4s);
    const auto pays_then_refuses = [](Work& work) -> Result<CommandDecision> {
        if (work.attempt.in_doubt) return Rejection{.reply = {.status = 412, .body = "too late"}};
        return CommandDecision(SEMEL_TRY(pays_blindly("k")(work)));
    };
    const auto outcome = shop.executor->execute(asked, pays_then_refuses);
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().reply.status, 412);
    stopped.go_on();
    ASSERT_TRUE(old_flush_is_over(process));
    EXPECT_EQ(books(), (Ledger{"0", "0", "1"})) << "412 was answered: nothing may happen any more";
    const auto again = shop.pay(true, "k");
    ASSERT_TRUE(again.committed()) << told(again);
    EXPECT_EQ(again.value().reply.status, 412);
}

TEST_F(OneFlush, AHandlerThatFailsAfterADoubtLeavesItUnknown) {
    Stopped stopped(process);
    Command asked = command("k");
    asked.deadline = shop.in(4s);
    const auto pays_then_fails = [](Work& work) -> Result<Reply> {
        if (work.attempt.in_doubt) return fail(Fault::rejected, "no");
        return pays_blindly("k")(work);
    };
    const auto outcome = shop.executor->execute(asked, pays_then_fails);
    EXPECT_TRUE(outcome.unknown()) << told(outcome) << ": the first flush may still arrive";
    stopped.go_on();
    ASSERT_TRUE(old_flush_is_over(process));
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
}

TEST_F(OneFlush, StuckBehindABusinessRowIsUnknownAtTheDeadlineAndHasOneEffectInTheEnd) {
    auto other = session();
    Transaction holding(*other, {}, shop.in(30s));
    ASSERT_TRUE(holding.execute("UPDATE till SET total = 100 WHERE id = 1"));
    CommandOptions options;
    options.transaction.lock_timeout = 20s;
    const auto posts_to_the_till = [](Work& work) -> Result<Reply> {
        work.tx.post("UPDATE till SET total = total + 1 WHERE id = 1");
        return pays_blindly("k")(work);
    };
    Command asked = command("k");
    asked.deadline = shop.in(1500ms);
    const auto outcome = shop.executor->execute(asked, options, posts_to_the_till);
    EXPECT_TRUE(outcome.unknown()) << told(outcome);
    EXPECT_EQ(books(), (Ledger{"0", "0", "0"}));
    // The client is gone; the row comes free; the key is retried at the same time.
    asked.deadline = {};
    auto retry = start([&] { return shop.executor->execute(asked, options, posts_to_the_till); });
    ASSERT_TRUE(std::move(holding).commit().committed());
    const auto settled = retry.get();
    if (settled.not_committed()) {
        EXPECT_EQ(verdict_of(settled.error()), ClaimVerdict::in_progress) << told(settled);
    }
    ASSERT_TRUE(eventually([&] { return waiting_for_locks() == 0; }));
    const auto last = shop.executor->execute(asked, options, posts_to_the_till);
    ASSERT_TRUE(last.committed()) << told(last);
    EXPECT_EQ(last.value().reply, reply_of("k"));
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
    EXPECT_EQ(ask("SELECT total FROM till"), "101");
}

TEST_F(OneFlush, WithNoTimeToRunAgainIsUnknownAndALaterRepeatTells) {
    auto proxy = testing::FaultProxy::start(postgres().port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    shop = open_shop((*proxy)->url(database()), patient(1)).value();
    ASSERT_TRUE(shop.pay(true, "before").committed());
    // COMMIT's answer never comes, and until the deadline nobody else can be reached.
    (*proxy)->set_plan(testing::ProxyPlan::stall_at_commit(testing::ProxyPlan::Side::client),
                       testing::ProxyScope::next_commit);
    (*proxy)->refuse_connections(true);
    const auto outcome = shop.pay(true, "k", shop.in(1s));
    EXPECT_TRUE(outcome.unknown()) << told(outcome);
    (*proxy)->refuse_connections(false);
    (*proxy)->release();
    const auto later = shop.pay(false, "k");
    ASSERT_TRUE(later.committed()) << told(later);
    EXPECT_EQ(later.value().standing, Standing::replayed);
    EXPECT_EQ(later.value().reply, reply_of("k"));
    EXPECT_EQ(books("k"), (Ledger{"1", "1", "1"}));
}

}  // namespace
}  // namespace semel::protocol
