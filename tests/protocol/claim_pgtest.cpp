// The claim, hole by hole: each test shows one that was found in an earlier draft, and that it is closed.

#include "semel/base/failpoint.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <atomic>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

class Claiming : public ShopTest {
protected:
    /// Changes the till's row, waits at the gate, then pays.
    static auto pays_and_holds_the_till(const std::string& id, Gate& gate) {
        return [id, &gate](Work& work) -> Result<Reply> {
            SEMEL_TRY(work.tx.execute("UPDATE till SET total = total + 1 WHERE id = 1"));
            gate.pass();
            return pays_blindly(id)(work);
        };
    }
};

TEST_F(Claiming, ADuplicateIsAnsweredAtOnceWhileTheOriginalHoldsItsBusinessRow) {
    Gate gate;
    auto original = start([&] { return shop.executor->execute(command("k"), pays_and_holds_the_till("k", gate)); });
    const OpenAtEnd open(gate);
    gate.await_someone();
    // The same row first thing: without the guard ahead of it, this would wait for the original.
    const auto reads_the_till = [](Work& work) -> Result<Reply> {
        SEMEL_TRY(work.tx.execute("UPDATE till SET total = total + 1 WHERE id = 1"));
        return pays_blindly("k")(work);
    };
    EXPECT_EQ(refused(shop.executor->execute(command("k"), reads_the_till)), ClaimVerdict::in_progress);
    const auto posts_to_the_till = [](Work& work) -> Result<Reply> {
        work.tx.post("UPDATE till SET total = total + 1 WHERE id = 1");
        return pays_blindly("k")(work);
    };
    EXPECT_EQ(refused(shop.executor->execute(command("k"), posts_to_the_till)), ClaimVerdict::in_progress);
    gate.open();
    const auto outcome = original.get();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().standing, Standing::executed);
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
    EXPECT_EQ(ask("SELECT total FROM till"), "1");
}

TEST_F(Claiming, AFinishedCommandIsReplayedEvenWhileSomeoneElseHoldsItsLock) {
    ASSERT_TRUE(shop.pay(true, "k").committed());
    // Another repeat of it, caught between its lock and its rollback.
    auto other = session();
    Transaction held(*other, {}, shop.in(20s));
    ASSERT_TRUE(held.execute("SELECT pg_advisory_xact_lock($1)", command("k").identity.lock()));
    for (const bool blind : {true, false})
        for (const std::uint32_t attempt : {1U, 2U}) {
            Command again = command("k");
            again.attempt = attempt;
            const auto outcome = shop.executor->execute(again, pays(blind, "k"));
            ASSERT_TRUE(outcome.committed()) << told(outcome);
            EXPECT_EQ(outcome.value().standing, Standing::replayed);
            EXPECT_EQ(outcome.value().reply, reply_of("k"));
        }
    // The functions themselves say so too: no second look is needed to find out.
    auto guarded = session();
    Transaction tx(*guarded, {}, shop.in(20s));
    const Command asked = command("k");
    const Claim claim(shop.executor->statements(), asked.identity, asked.fingerprint);
    claim.open(tx);
    const auto rows = tx.execute("SELECT 1");
    ASSERT_FALSE(rows);
    EXPECT_EQ(verdict_of(rows.error()), ClaimVerdict::replay);
    EXPECT_EQ(ask("SELECT verdict FROM semel.claim('shop', 'web', 'payment.create', 'k', (SELECT fingerprint FROM"
                  " semel.command_record))"),
              "replay");
    EXPECT_EQ(refused(shop.executor->execute(command("k", "other"), pays(false, "k"))), ClaimVerdict::mismatch)
        << "a mismatch too is seen without the lock";
}

TEST_F(Claiming, ReplaysAtOnceNeverHinderOneAnother) {
    ASSERT_TRUE(shop.pay(true, "k").committed());
    constexpr int threads = 8;
    constexpr int rounds = 40;
    std::atomic<int> replayed = 0;
    {
        std::vector<std::jthread> repeats;
        for (int thread = 0; thread < threads; ++thread)
            repeats.emplace_back([&, thread] {
                for (int round = 0; round < rounds; ++round) {
                    const auto outcome = shop.pay(thread % 2 == 0, "k");
                    EXPECT_TRUE(outcome.committed()) << told(outcome);
                    if (outcome.committed() && outcome.value().reply == reply_of("k")) ++replayed;
                }
            });
    }
    EXPECT_EQ(replayed, threads * rounds);
}

TEST_F(Claiming, SeesARecordThatWasCommittedAfterItsStatementBegan) {
    // The guard's statement begins, and with it its snapshot; it is held up before the guard itself runs; meanwhile
    // the command is executed. A guard that looked with the statement's snapshot would let it execute again.
    constexpr std::int64_t hurdle = 4711;
    const Command asked = command("k");
    const Claim claim(shop.executor->statements(), asked.identity, asked.fingerprint);
    auto holder = session();
    Transaction holding(*holder, {}, shop.in(20s));
    ASSERT_TRUE(holding.execute("SELECT pg_advisory_xact_lock($1)", hurdle));
    auto guard = start([&] {
        auto own = session();
        Transaction tx(*own, {}, shop.in(20s));
        const auto rows =
            tx.execute("SELECT semel.claim_guard($1, $2, $3) FROM (SELECT pg_advisory_xact_lock($4) OFFSET 0) AS held",
                       BytesView(asked.identity.digest()), asked.identity.lock(), claim.stored_fingerprint(), hurdle);
        return rows ? std::optional<ClaimVerdict>(ClaimVerdict::execute) : verdict_of(rows.error());
    });
    auto function = start([&] {
        auto own = session();
        Transaction tx(*own, {}, shop.in(20s));
        const auto rows = tx.execute(
            "SELECT (semel.claim('shop', 'web', 'payment.create', 'k', $1)).verdict"
            " FROM (SELECT pg_advisory_xact_lock($2) OFFSET 0) AS held",
            claim.stored_fingerprint(), hurdle);
        return rows ? rows->scalar<std::string>().value_or("none") : rows.error().describe();
    });
    ASSERT_TRUE(eventually([&] { return waiting_for_locks() == 2; }));
    ASSERT_TRUE(shop.pay(true, "k").committed());
    ASSERT_TRUE(std::move(holding).rollback());
    EXPECT_EQ(guard.get(), ClaimVerdict::replay);
    EXPECT_EQ(function.get(), "replay");
}

TEST_F(Claiming, AFlushWithItsRecordFirstAndOneWithItsRecordLastDoNotDeadlock) {
    const std::string deadlocks_before = deadlocks();
    Gate gate;
    auto record_last = start([&] { return shop.executor->execute(command("k"), pays_and_holds_the_till("k", gate)); });
    const OpenAtEnd open(gate);
    gate.await_someone();
    const auto posts_to_the_till = [](Work& work) -> Result<Reply> {
        work.tx.post("UPDATE till SET total = total + 1 WHERE id = 1");
        return pays_blindly("k")(work);
    };
    auto record_first = start([&] { return shop.executor->execute(command("k"), posts_to_the_till); });
    // It is refused; or, without its lock, it has inserted the record and waits for the till.
    ASSERT_TRUE(
        eventually([&] { return record_first.wait_for(0s) == std::future_status::ready || waiting_for_locks() > 0; }));
    gate.open();
    EXPECT_EQ(refused(record_first.get()), ClaimVerdict::in_progress);
    const auto outcome = record_last.get();
    EXPECT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
    EXPECT_EQ(deadlocks(), deadlocks_before);
}

TEST_F(Claiming, StrangersUnderSerializableDoNotFailOneAnother) {
    constexpr int threads = 8;
    constexpr int commands = 60;
    for (const bool blind : {true, false}) {
        std::atomic<int> runs = 0;
        std::atomic<int> committed = 0;
        std::vector<std::jthread> clients;
        for (int thread = 0; thread < threads; ++thread)
            clients.emplace_back([&, thread] {
                CommandOptions options;
                options.transaction.isolation = Isolation::serializable;
                options.transaction.marked = false;
                for (int n = 0; n < commands; ++n) {
                    const std::string key = (blind ? "b" : "r") + std::to_string(thread * commands + n);
                    // Waits without reading a table: what conflicts is the claim's own doing.
                    const auto pays_alone = [&](Work& work) -> Result<Reply> {
                        ++runs;
                        if (!blind) SEMEL_TRY(work.tx.execute("SELECT 1"));
                        return pays_blindly(key)(work);
                    };
                    const auto outcome = shop.executor->execute(command(key), options, pays_alone);
                    EXPECT_TRUE(outcome.committed()) << told(outcome);
                    if (outcome.committed()) ++committed;
                }
            });
        clients.clear();
        std::printf("%s: %d commands, %d rerun\n", blind ? "blind" : "reading", threads * commands,
                    runs.load() - threads * commands);
        EXPECT_EQ(committed, threads * commands);
        // A lookup inside the transaction made one in ten fail.
        EXPECT_LE(runs, threads * commands * 102 / 100);
    }
}

TEST_F(Claiming, DuplicatesUnderSerializableHaveOneEffect) {
    CommandOptions options;
    options.transaction.isolation = Isolation::serializable;
    options.in_progress = InProgress::wait;
    options.in_progress_wait = 20s;
    for (int round = 0; round < 20; ++round) {
        const std::string key = std::to_string(round);
        std::vector<std::jthread> clients;
        for (int thread = 0; thread < 4; ++thread)
            clients.emplace_back([&, thread] {
                const auto outcome = shop.executor->execute(command(key), options, pays(thread % 2 == 0, key));
                ASSERT_TRUE(outcome.committed()) << told(outcome);
                EXPECT_EQ(outcome.value().reply, reply_of(key));
            });
        clients.clear();
        EXPECT_EQ(books(key), (Ledger{"1", "1", "1"}));
    }
}

TEST_F(Claiming, AFinalRefusalLosesToADuplicateThatSucceededMeanwhile) {
    const auto refuses = [](Work& work) -> Result<CommandDecision> {
        SEMEL_TRY(work.tx.execute("SELECT 1"));
        return Rejection{.reply = {.status = 422, .body = "no"}, .replay = Replay::yes};
    };
    Outcome<Answer> duplicate = Unknown{};
    bool met = false;
    const failpoint::Hook hook([&](std::string_view name) {
        // The refusal was rolled back and is about to be stored: the command is free for a moment.
        if (name != "command.before_rejection" || std::exchange(met, true)) return;
        duplicate = shop.pay(true, "k");
    });
    const auto outcome = shop.executor->execute(command("k"), refuses);
    ASSERT_TRUE(met);
    ASSERT_TRUE(duplicate.committed()) << told(duplicate);
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().standing, Standing::replayed);
    EXPECT_EQ(outcome.value().reply, reply_of("k")) << "one key, one answer";
    EXPECT_EQ(books(), (Ledger{"1", "1", "1"}));
}

TEST_F(Claiming, ADuplicateAboveReadCommittedIsReplayedWhateverItsHandlerSaw) {
    for (const Isolation isolation : {Isolation::serializable, Isolation::repeatable_read}) {
        const std::string key = isolation == Isolation::serializable ? "s" : "r";
        CommandOptions options;
        options.transaction.isolation = isolation;
        const auto pays_once = [&key](Work& work) -> Result<CommandDecision> {
            const Rows rows = SEMEL_TRY(work.tx.execute("SELECT count(*) FROM payment WHERE id = $1", key));
            if (SEMEL_TRY(rows.scalar<std::int64_t>()) != 0) return Rejection{.reply = {.status = 409, .body = "paid"}};
            post_payment(work, key);
            return reply_of(key);
        };
        bool first = true;
        const auto outcome = shop.executor->execute(command(key), options, [&](Work& work) -> Result<CommandDecision> {
            // It has looked and found nothing; now a duplicate is faster.
            if (std::exchange(first, false)) {
                EXPECT_TRUE(shop.executor->execute(command(key), options, pays_once).committed());
            }
            return pays_once(work);
        });
        ASSERT_TRUE(outcome.committed()) << told(outcome);
        EXPECT_EQ(outcome.value().standing, Standing::replayed);
        EXPECT_EQ(outcome.value().reply, reply_of(key));
        EXPECT_EQ(books(key), (Ledger{"1", "1", "1"}));
    }
}

TEST_F(Claiming, AReplyThatCannotBeSentIsNotCommitted) {
    for (const Reply& reply : {Reply{.status = 0}, Reply{.status = 600}, Reply{.headers = {{"Location", "/\x01"}}}}) {
        const auto outcome = shop.executor->execute(command("k"), [&reply](Work& work) -> Result<Reply> {
            post_payment(work, "k");
            return reply;
        });
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::broken);
    }
    EXPECT_EQ(books(), (Ledger{"0", "0", "0"}));
}

TEST_F(Claiming, AStaleGuardedWriteInTheLastFlushKeepsEverythingBeforeItFromCommitting) {
    for (const bool blind : {true, false}) {
        const auto pays_with_stale_epoch = [blind](Work& work) -> Result<Reply> {
            if (!blind) SEMEL_TRY(work.tx.execute("SELECT 1"));
            post_payment(work, "k");
            work.tx.post_expecting(1, "UPDATE till SET total = total + 1 WHERE id = 1 AND epoch = 0");
            return reply_of("k");
        };
        const auto outcome = shop.executor->execute(command("k"), pays_with_stale_epoch);
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().cause.code, "SM006") << told(outcome);
        EXPECT_EQ(books(), (Ledger{"0", "0", "0"}));
    }
    EXPECT_TRUE(shop.pay(true, "k").committed()) << "the key is as good as new";
}

TEST_F(Claiming, ARefusalThatIsNotFinalLeavesNoTrace) {
    const auto refuses = [](Work& work) -> Result<CommandDecision> {
        SEMEL_TRY(work.tx.execute("UPDATE till SET total = total + 1 WHERE id = 1"));
        return Rejection{.reply = {.status = 409, .body = "not now"}};
    };
    const auto outcome = shop.executor->execute(command("k"), refuses);
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(outcome.value().standing, Standing::rejected);
    EXPECT_EQ(books(), (Ledger{"0", "0", "0"}));
    EXPECT_EQ(ask("SELECT total FROM till"), "0");
}

TEST_F(Claiming, AReplayFromMemoryIsTheSameAsOneFromTheRecord) {
    const Shop remembering = open_shop(url(), patient(), std::size_t{1} << 20U).value();
    const auto pays_with_cookie = [](Work& work) -> Result<Reply> {
        Reply reply = SEMEL_TRY(pays_blindly("k")(work));
        reply.headers.push_back({"Set-Cookie", "secret=1"});
        return reply;
    };
    ASSERT_TRUE(remembering.executor->execute(command("k"), pays_with_cookie).committed());
    const auto remembered = remembering.executor->cached(command("k"));
    ASSERT_NE(remembered, nullptr);
    const auto read = shop.pay(true, "k");
    ASSERT_TRUE(read.committed()) << told(read);
    EXPECT_EQ(*remembered, read.value().reply) << "nobody gets someone else's cookie";
}

TEST_F(Claiming, AReplyIsRememberedNoLongerThanItsRecordIsKept) {
    const Shop remembering = open_shop(url(), patient(), std::size_t{1} << 20U).value();
    CommandOptions options;
    options.retention = 200ms;
    // The record's time runs from the beginning of its transaction; this one takes longer than that.
    const auto pays_slowly = [](Work& work) -> Result<Reply> {
        SEMEL_TRY(work.tx.execute("SELECT pg_sleep(0.3)"));
        return pays_blindly("k")(work);
    };
    const auto first = remembering.executor->execute(command("k"), options, pays_slowly);
    ASSERT_TRUE(first.committed()) << told(first);
    EXPECT_EQ(remembering.executor->cached(command("k")), nullptr);
    EXPECT_EQ(refused(remembering.executor->execute(command("k"), options, pays_slowly)), ClaimVerdict::expired);
}

TEST_F(Claiming, TheServersLogCarriesNothingOfTheUsers) {
    ASSERT_TRUE(shop.pay(true, "secret-key").committed());
    auto own = session();
    Transaction tx(*own, {}, shop.in(20s));
    const Command asked = command("secret-key");
    const auto rows = tx.execute("SELECT semel.claim_guard($1, $2, ''::bytea)", BytesView(asked.identity.digest()),
                                 asked.identity.lock());
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().native.find("secret"), std::string::npos) << rows.error().native;
    EXPECT_EQ(rows.error().native.find(hex(asked.identity.digest())), std::string::npos) << rows.error().native;
}

}  // namespace
}  // namespace semel::protocol
