// What a command guarantees, the same on every database.

#include "semel/command/executor.hpp"
#include "semel/idempotency/retention.hpp"
#include "tests/conformance/target.hpp"

#include <atomic>
#include <thread>

namespace semel {
namespace {

using conformance::ConformanceTest;
using conformance::Target;

class CommandTest : public ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run("CREATE TABLE payment (id TEXT PRIMARY KEY, reference TEXT NOT NULL, amount BIGINT NOT NULL)");
        run("CREATE UNIQUE INDEX payment_reference ON payment (reference)");
        make_executor(0);
    }

    void make_executor(std::size_t cache_bytes) {
        auto made = Executor::create(*database, {.cache_bytes = cache_bytes});
        ASSERT_TRUE(made) << made.error().describe();
        executor = *std::move(made);
    }

    static Command command(std::string_view key, std::string_view content = "amount 1",
                           std::string_view tenant = "shop", std::string_view caller = "web",
                           std::string_view operation = "payment.create") {
        return {.identity = Identity::of(tenant, caller, operation, key).value(),
                .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(content))}};
    }

    /// Only posts: one round trip in all.
    static auto pays_blindly(std::string id) {
        return [id](Work& work) -> Result<Reply> {
            work.tx.post("INSERT INTO payment (id, reference, amount) VALUES ($1, $2, $3)", id, "ref-" + id, 1);
            work.outbox.append({.aggregate = {.type = "payment", .id = id, .version = 1},
                                .type = "payment.created",
                                .payload = R"({"paid":true})"});
            return Reply{.status = 201,
                         .body = "paid " + id,
                         .headers = {{"Location", "/payments/" + id}, {"Set-Cookie", "secret=1"}}};
        };
    }

    /// Reads first: the claim travels with the read.
    static auto pays_after_reading(std::string id) {
        return [id](Work& work) -> Result<Reply> {
            const Rows rows = SEMEL_TRY(work.tx.execute("SELECT count(*) FROM payment WHERE id = $1", id));
            EXPECT_EQ(rows.scalar<std::int64_t>().value_or(-1), 0);
            return pays_blindly(id)(work);
        };
    }

    static Answer answer(const Outcome<Answer>& outcome) {
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : Answer{};
    }

    static std::optional<ClaimVerdict> refused(const Outcome<Answer>& outcome) {
        EXPECT_TRUE(outcome.not_committed());
        return outcome.not_committed() ? verdict_of(outcome.error()) : std::nullopt;
    }

    [[nodiscard]] std::int64_t payments() { return count("SELECT count(*) FROM payment"); }
    [[nodiscard]] std::int64_t events() {
        return GetParam() == Target::sqlite ? count("SELECT count(*) FROM semel_outbox_event")
                                            : count("SELECT count(*) FROM semel.outbox_event");
    }
    [[nodiscard]] std::int64_t records() {
        return GetParam() == Target::sqlite ? count("SELECT count(*) FROM semel_command_record")
                                            : count("SELECT count(*) FROM semel.command_record");
    }
    void age_records() {
        run(GetParam() == Target::sqlite
                ? "UPDATE semel_command_record SET expires_at = expires_at - 90000000000"
                : "UPDATE semel.command_record SET expires_at = expires_at - interval '25 hours'");
    }

    std::unique_ptr<Executor> executor;
};

TEST_P(CommandTest, ARepeatGetsTheSameBytesAndChangesNothing) {
    for (const bool blind : {true, false}) {
        const std::string id = blind ? "a" : "b";
        const auto execute = [&] {
            return blind ? executor->execute(command(id), pays_blindly(id))
                         : executor->execute(command(id), pays_after_reading(id));
        };
        const Answer first = answer(execute());
        const Answer second = answer(execute());
        EXPECT_EQ(first.standing, Standing::executed);
        EXPECT_EQ(second.standing, Standing::replayed);
        EXPECT_EQ(second.reply.status, 201);
        EXPECT_EQ(second.reply.body, first.reply.body);
        const std::vector<ReplyHeader> kept{{"Location", "/payments/" + id}};
        EXPECT_EQ(second.reply.headers, kept);
    }
    EXPECT_EQ(payments(), 2);
    EXPECT_EQ(events(), 2);
    EXPECT_EQ(records(), 2);
}

TEST_P(CommandTest, AnotherRequestUnderTheSameKeyIsRefusedAndChangesNothing) {
    answer(executor->execute(command("k", "amount 1"), pays_blindly("a")));
    EXPECT_EQ(refused(executor->execute(command("k", "amount 2"), pays_blindly("b"))), ClaimVerdict::mismatch);
    EXPECT_EQ(refused(executor->execute(command("k", "amount 2"), pays_after_reading("b"))), ClaimVerdict::mismatch);
    EXPECT_EQ(payments(), 1);
}

TEST_P(CommandTest, TheSameKeyOfSomeoneElseIsAnotherCommand) {
    answer(executor->execute(command("k", "x", "shop", "web", "pay"), pays_blindly("a")));
    for (const auto& other : {command("k", "x", "mall", "web", "pay"), command("k", "x", "shop", "app", "pay"),
                              command("k", "x", "shop", "web", "refund")}) {
        const std::string id = other.identity.command_id();
        EXPECT_EQ(answer(executor->execute(other, pays_blindly(id))).standing, Standing::executed);
    }
    EXPECT_EQ(payments(), 4);
}

TEST_P(CommandTest, ARefusalIsDecidedAnewUnlessItIsFinal) {
    int calls = 0;
    const auto refuses = [&](Replay replay) {
        return [&calls, replay](Work& work) -> Result<CommandDecision> {
            ++calls;
            work.tx.post("INSERT INTO payment (id, reference, amount) VALUES ('x', 'x', 1)");
            return Rejection{.reply = {.status = 409, .body = "no " + std::to_string(calls)}, .replay = replay};
        };
    };
    EXPECT_EQ(answer(executor->execute(command("open"), refuses(Replay::no))).reply.body, "no 1");
    EXPECT_EQ(answer(executor->execute(command("open"), refuses(Replay::no))).reply.body, "no 2");
    EXPECT_EQ(records(), 0);
    const Answer final_one = answer(executor->execute(command("final"), refuses(Replay::yes)));
    EXPECT_EQ(final_one.standing, Standing::rejected);
    EXPECT_EQ(final_one.reply.body, "no 3");
    const Answer again = answer(executor->execute(command("final"), refuses(Replay::yes)));
    EXPECT_EQ(again.standing, Standing::replayed);
    EXPECT_EQ(again.reply.body, "no 3");
    EXPECT_EQ(payments(), 0);
}

TEST_P(CommandTest, AFinishedCommandIsReplayedWhateverItsHandlerWouldSayNow) {
    answer(executor->execute(command("k"), pays_blindly("a")));
    const auto refuses = [](Work&) -> Result<CommandDecision> { return Rejection{.reply = {.status = 412}}; };
    const auto fails = [](Work&) -> Result<Reply> { return fail(Fault::rejected, "no"); };
    const auto throws = [](Work&) -> Result<Reply> { throw std::runtime_error("no"); };
    const auto swallows = [](Work& work) -> Result<Reply> {
        std::ignore = work.tx.execute("SELECT 1");
        return Reply{.status = 500, .body = "never"};
    };
    EXPECT_EQ(answer(executor->execute(command("k"), refuses)).reply.body, "paid a");
    EXPECT_EQ(answer(executor->execute(command("k"), fails)).reply.body, "paid a");
    EXPECT_EQ(answer(executor->execute(command("k"), throws)).reply.body, "paid a");
    EXPECT_EQ(answer(executor->execute(command("k"), swallows)).reply.body, "paid a");
}

TEST_P(CommandTest, AHandlerThatFailsOrThrowsLeavesNothing) {
    const auto throws = [](Work& work) -> Result<Reply> {
        std::ignore = work.tx.execute("INSERT INTO payment (id, reference, amount) VALUES ('x', 'x', 1) RETURNING id");
        throw std::runtime_error("boom");
    };
    const auto outcome = executor->execute(command("k"), throws);
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::broken);
    EXPECT_EQ(outcome.error().native, "boom");
    EXPECT_EQ(payments() + records() + events(), 0);
    EXPECT_EQ(answer(executor->execute(command("k"), pays_blindly("a"))).standing, Standing::executed);
}

TEST_P(CommandTest, ANaturalKeyAnswersWithWhatWasThereFirst) {
    CommandOptions options;
    options.natural_keys.push_back(
        {.constraint = "payment_reference", .decide = [](Work& work) -> Result<CommandDecision> {
             const Rows rows = SEMEL_TRY(work.tx.execute("SELECT id FROM payment WHERE reference = 'ref-a'"));
             return Reply{.status = 200, .body = SEMEL_TRY(rows.scalar<std::string>())};
         }});
    answer(executor->execute(command("first"), options, pays_blindly("a")));
    const auto other = [](Work& work) -> Result<Reply> {
        work.tx.post("INSERT INTO payment (id, reference, amount) VALUES ('other', 'ref-a', 1)");
        return Reply{.status = 201, .body = "other"};
    };
    const Answer existing = answer(executor->execute(command("second"), options, other));
    EXPECT_EQ(existing.reply.body, "a");
    EXPECT_EQ(answer(executor->execute(command("second"), options, other)).standing, Standing::replayed);
    EXPECT_EQ(payments(), 1);
}

TEST_P(CommandTest, ALateRepeatIsToldThatItsReplyIsGone) {
    answer(executor->execute(command("k"), pays_blindly("a")));
    age_records();
    // Whether or not retention came by already.
    EXPECT_EQ(refused(executor->execute(command("k"), pays_blindly("b"))), ClaimVerdict::expired);
    const auto report = apply_retention(*database, {.tombstone = std::chrono::hours(48), .batch = 10}, soon());
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(report->expired, 1);
    EXPECT_EQ(report->forgotten, 0);
    EXPECT_EQ(refused(executor->execute(command("k"), pays_after_reading("b"))), ClaimVerdict::expired);
    EXPECT_EQ(refused(executor->execute(command("k", "other"), pays_blindly("b"))), ClaimVerdict::mismatch);
    age_records();
    age_records();
    const auto later = apply_retention(*database, {.tombstone = std::chrono::hours(48), .batch = 10}, soon());
    ASSERT_TRUE(later) << later.error().describe();
    EXPECT_EQ(later->forgotten, 1);
    EXPECT_EQ(payments(), 1);
}

TEST_P(CommandTest, RetentionRefusesABatchThatWouldNeverEnd) {
    EXPECT_FALSE(apply_retention(*database, {.batch = 0}, soon()));
    EXPECT_FALSE(apply_retention(*database, {.tombstone = std::chrono::hours(-1)}, soon()));
}

TEST_P(CommandTest, OfADeclaredRepeatThatCannotBeLookedUpNothingIsKnown) {
    Command repeat = command("k");
    repeat.attempt = 2;
    repeat.deadline = Deadline::at(now());
    EXPECT_TRUE(executor->execute(repeat, pays_blindly("a")).unknown());
    repeat.attempt = 1;
    EXPECT_TRUE(executor->execute(repeat, pays_blindly("a")).not_committed());
}

TEST_P(CommandTest, OfManyAtOnceOneIsExecuted) {
    for (const bool blind : {true, false}) {
        constexpr int threads = 12;
        std::atomic<int> executed = 0;
        std::atomic<int> replayed = 0;
        std::atomic<int> in_progress = 0;
        {
            std::vector<std::jthread> clients;
            for (int i = 0; i < threads; ++i)
                clients.emplace_back([&] {
                    const std::string id = blind ? "a" : "b";
                    const auto outcome = blind ? executor->execute(command(id), pays_blindly(id))
                                               : executor->execute(command(id), pays_after_reading(id));
                    if (outcome.committed())
                        ++(outcome.value().standing == Standing::executed ? executed : replayed);
                    else if (refused(outcome) == ClaimVerdict::in_progress)
                        ++in_progress;
                });
        }
        EXPECT_EQ(executed, 1);
        EXPECT_EQ(executed + replayed + in_progress, threads);
    }
    EXPECT_EQ(payments(), 2);
}

TEST_P(CommandTest, ARepeatThatMayWaitGetsTheReplyOfTheFirst) {
    CommandOptions options;
    options.in_progress = InProgress::wait;
    options.in_progress_wait = std::chrono::seconds(10);
    std::atomic<int> replayed = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < 6; ++i)
            clients.emplace_back([&] {
                const Answer given = answer(executor->execute(command("k"), options, pays_after_reading("a")));
                EXPECT_EQ(given.reply.body, "paid a");
                if (given.standing == Standing::replayed) ++replayed;
            });
    }
    EXPECT_EQ(replayed, 5);
}

TEST_P(CommandTest, TheCacheAnswersFinishedCommandsOnly) {
    make_executor(std::size_t{1} << 20U);
    EXPECT_EQ(executor->cached(command("k")), nullptr);
    answer(executor->execute(command("k"), pays_blindly("a")));
    ASSERT_NE(executor->cached(command("k")), nullptr);
    EXPECT_EQ(executor->cached(command("k", "other")), nullptr);
    run("DELETE FROM payment");  // The reply stands for what happened, not for what is.
    EXPECT_EQ(answer(executor->execute(command("k"), pays_blindly("a"))).reply.body, "paid a");
    EXPECT_EQ(refused(executor->execute(command("k", "other"), pays_blindly("b"))), ClaimVerdict::mismatch);
}

TEST_P(CommandTest, ACommandIsFoundByItsId) {
    const Command asked = command("k");
    const auto before = executor->look_up(asked.identity.command_id(), soon());
    ASSERT_TRUE(before) << before.error().describe();
    EXPECT_FALSE(*before);
    answer(executor->execute(asked, pays_blindly("a")));
    const auto after = executor->look_up(asked.identity.command_id(), soon());
    ASSERT_TRUE(after && *after);
    EXPECT_EQ((*after)->tenant, "shop");
    EXPECT_EQ((*after)->key, "k");
    EXPECT_EQ((*after)->record.state, CommandState::succeeded);
    EXPECT_FALSE(executor->look_up("cmd_zz", soon()));
}

TEST_P(CommandTest, OneAggregateVersionIsToldOnce) {
    const auto tells = [](Work& work) -> Result<Reply> {
        work.outbox.append({.aggregate = {.type = "quote", .id = "q", .version = 7}, .type = "t", .payload = "{}"});
        return Reply{};
    };
    answer(executor->execute(command("one"), tells));
    const auto again = executor->execute(command("two"), tells);
    ASSERT_TRUE(again.not_committed());
    EXPECT_EQ(again.error().cause.constraint, "semel_outbox_version_pkey");
    EXPECT_EQ(events(), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, CommandTest, ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         [](const auto& target) { return conformance::name(target.param); });

}  // namespace
}  // namespace semel
