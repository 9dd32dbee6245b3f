// What ended a run decides what becomes of its command: the store's own trouble is nobody's refusal.

#include "semel/base/log.hpp"
#include "tests/leased/fixture.hpp"

#include <mutex>
#include <vector>

namespace semel::leased {
namespace {

using conformance::Target;
using Does = Bank::Does;

/// Counts until its time limit ends it.
constexpr Sql endless =
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2000000000) SELECT count(*) FROM t";

/// Keeps what the library logs while it lives.
class Logged {
public:
    Logged() {
        set_log_sink([this](LogLevel, std::string_view line) {
            const std::lock_guard guard(mutex_);
            lines_.emplace_back(line);
        });
    }
    ~Logged() { set_log_sink({}); }
    Logged(const Logged&) = delete;
    Logged& operator=(const Logged&) = delete;

    [[nodiscard]] bool has(std::string_view part) {
        const std::lock_guard guard(mutex_);
        return std::ranges::any_of(lines_, [part](const std::string& line) { return line.contains(part); });
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

class LeasedFailure : public LeasedTest {
protected:
    void SetUp() override {
        LeasedTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run("CREATE TABLE account (id TEXT NOT NULL CONSTRAINT account_key UNIQUE)");
        run("INSERT INTO account (id) VALUES ('taken')");
    }

    static std::string content_type(const Reply& reply) {
        for (const auto& [name, value] : reply.headers)
            if (name == "Content-Type") return value;
        return {};
    }
};

TEST_P(LeasedFailure, OfAStatementThatTookTooLongInTheLastTransactionLeadsToAnotherAttempt) {
    LeasedOptions how = options();
    how.transaction.statement_timeout = std::chrono::milliseconds(50);
    Process process;
    int runs = 0;
    add_process(
        process,
        [&runs](LeasedWork&) -> Result<Finish> {
            ++runs;
            return Finish([&runs](Work& last) -> Result<Reply> {
                if (runs == 1) SEMEL_TRY(last.tx.execute(endless));
                return Reply{.status = 201};
            });
        },
        how);
    const auto first = execute(process, "k");
    ASSERT_TRUE(first.not_committed());
    EXPECT_EQ(first.error().fault, Fault::unavailable) << first.error().describe();
    EXPECT_EQ(state("k"), CommandState::failed_transient);
    age(std::chrono::seconds(60));
    EXPECT_EQ(answer(execute(process, "k")).reply.status, 201);
}

TEST_P(LeasedFailure, OfAStepThatTheDeadlineCutOffLeadsToAnotherAttempt) {
    Process process;
    int runs = 0;
    add_process(process, [&runs](LeasedWork& work) -> Result<Finish> {
        if (++runs == 1) {
            const auto counted = work.transact("count", [](Transaction& tx) -> Result<std::string> {
                SEMEL_TRY(tx.execute(endless));
                return "";
            });
            if (!counted) return fail(counted.error());
        }
        return Finish(Reply{.status = 201});
    });
    Command hurried = command("k");
    hurried.deadline = Deadline::after(now(), std::chrono::milliseconds(500));
    const auto first = process.leased->execute(hurried, bytes_of("5"));
    ASSERT_TRUE(first.not_committed());
    EXPECT_EQ(state("k"), CommandState::failed_transient) << first.error().describe();
    age(std::chrono::seconds(60));
    EXPECT_EQ(answer(execute(process, "k")).reply.status, 201);
}

TEST_P(LeasedFailure, OfAStatementThatIsWrongIsForAPersonAndNoRefusal) {
    Process process;
    add_process(process, [](LeasedWork& work) -> Result<Finish> {
        const std::string where = work.command().identity.key();
        if (where == "step")
            SEMEL_TRY(work.transact("write", [](Transaction& tx) -> Result<std::string> {
                const auto rows = tx.execute("SELECT id FROM nowhere");
                if (!rows) return fail(rows.error());
                return "";
            }));
        if (where == "earlier step") {
            const auto written = work.transact("write", [](Transaction& tx) -> Result<std::string> {
                tx.post("INSERT INTO nowhere (id) VALUES (1)");
                return "";
            });
            EXPECT_TRUE(work.renew()) << "another step commits";
            return fail(Error(written.error()).within("write"));
        }
        if (where == "posted step")
            SEMEL_TRY(work.transact("write", [](Transaction& tx) -> Result<std::string> {
                tx.post("INSERT INTO nowhere (id) VALUES (1)");
                return "";
            }));
        return Finish([where](Work& last) -> Result<Reply> {
            if (where == "finish") SEMEL_TRY(last.tx.execute("SELECT id FROM nowhere"));
            last.tx.post("INSERT INTO nowhere (id) VALUES (1)");
            return Reply{.status = 201};
        });
    });
    for (const std::string_view where : {"step", "posted step", "earlier step", "finish", "posted finish"}) {
        EXPECT_EQ(refused(execute(process, where)), ClaimVerdict::needs_reconciliation) << where;
        EXPECT_EQ(state(where), CommandState::needs_reconciliation) << where;
    }
    EXPECT_EQ(listed().commands.size(), 5U);
}

TEST_P(LeasedFailure, OfAConstraintIsARefusalThatDoesNotRepeatTheWordsOfTheStore) {
    Process process;
    add_process(process, [](LeasedWork& work) -> Result<Finish> {
        if (work.command().identity.key() == "step")
            SEMEL_TRY(work.transact("open", [](Transaction& tx) -> Result<std::string> {
                tx.post("INSERT INTO account (id) VALUES ('taken')");
                return "";
            }));
        return Finish([](Work& last) -> Result<Reply> {
            last.tx.post("INSERT INTO account (id) VALUES ('taken')");
            return Reply{.status = 201};
        });
    });
    for (const std::string_view where : {"step", "finish"}) {
        const Answer given = answer(execute(process, where));
        EXPECT_EQ(given.standing, Standing::rejected) << where;
        EXPECT_EQ(given.reply.status, 422) << where;
        EXPECT_EQ(given.reply.body,
                  R"({"type":"about:blank","title":"The command was refused","status":422,"code":"COMMAND_REFUSED"})");
        EXPECT_EQ(content_type(given.reply), "application/problem+json");
    }
}

TEST_P(LeasedFailure, OfTheHandlersOwnIsToldInItsWordsAsAProblem) {
    Process process;
    add_process(process, [](LeasedWork& work) -> Result<Finish> {
        // What the handler makes of the store's failure is its own.
        const auto opened = work.transact("open", [](Transaction& tx) -> Result<std::string> {
            SEMEL_TRY(tx.execute("INSERT INTO account (id) VALUES ('taken')"));
            return "";
        });
        EXPECT_FALSE(opened);
        return fail(Fault::rejected, "the account \"taken\" is\n\\ferm\xe9");
    });
    Command asked = command("k");
    asked.correlation_id = "trace-1";
    const Answer given = answer(process.leased->execute(asked, bytes_of("5")));
    EXPECT_EQ(given.reply.status, 422);
    EXPECT_EQ(given.reply.body, R"({"type":"about:blank","title":"The command was refused","status":422,)"
                                R"("detail":"the account \"taken\" is\u000a\\ferm?","code":"COMMAND_REFUSED",)"
                                R"("correlationId":"trace-1"})");
    EXPECT_EQ(answer(execute(process, "k")).reply, given.reply);
}

TEST_P(LeasedFailure, OfTheFunctionThatWordsRefusalsLeavesTheDefaultRefusal) {
    for (const bool throws : {true, false}) {
        LeasedOptions how = options();
        how.refuse = [throws](const Error&, const Command&) -> Reply {
            if (throws) throw std::runtime_error("no words");
            return {.status = 409, .headers = {{"Location", "/ferm\xe9\n"}}};
        };
        Process process;
        add_process(
            process, [](LeasedWork&) -> Result<Finish> { return fail(Fault::rejected, "no such account"); }, how);
        Logged logged;
        const Answer given = answer(execute(process, throws ? "throws" : "cannot be stored"));
        EXPECT_EQ(given.standing, Standing::rejected);
        EXPECT_EQ(given.reply.status, 422);
        EXPECT_TRUE(given.reply.body.contains("no such account"));
        EXPECT_TRUE(logged.has("refuse")) << throws;
    }
}

TEST_P(LeasedFailure, MayBeWordedByTheOperationWithTheCommandAtHand) {
    LeasedOptions how = options();
    how.refuse = [](const Error& error, const Command& asked) -> Reply {
        return {.status = 409, .body = asked.identity.key() + ": " + error.message};
    };
    Process process;
    add_process(process, [](LeasedWork&) -> Result<Finish> { return fail(Fault::rejected, "closed"); }, how);
    EXPECT_EQ(answer(execute(process, "k")).reply.body, "k: closed");
}

TEST_P(LeasedFailure, ThatTheOtherSideTellsInAnotherEncodingIsStillItsRefusal) {
    Integration bank{.name = "bank", .capability = Capability::neither};
    bank.perform = [](const CallRequest&, Deadline) -> Result<CallResponse> {
        Error error;
        error.fault = Fault::rejected;
        error.message = "compte ferm\xe9";
        error.cause.code = "ferm\xe9";
        return fail(std::move(error));
    };
    Process process;
    add_process(process, [&bank](LeasedWork& work) -> Result<Finish> {
        SEMEL_TRY(work.call("move", bank, "k", "5"));
        return Finish(Reply{});
    });
    const Answer given = answer(execute(process, "k"));
    EXPECT_EQ(given.reply.status, 422);
    EXPECT_TRUE(given.reply.body.contains("compte ferm?"));
    EXPECT_EQ(state("k"), CommandState::failed);
    EXPECT_EQ(record("k").last_error, "compte ferm?");
}

TEST_P(LeasedFailure, OfAnIntegrationWhoseLimitsCannotWorkIsFoundBeforeItIsCalled) {
    constexpr Duration day = std::chrono::days(1);
    constexpr Duration second = std::chrono::seconds(1);
    struct Limits {
        Duration start_within;
        Duration duration_max;
    };
    int tried = 0;
    for (const Limits limits : {Limits{-second, second}, Limits{Duration::zero(), second}, Limits{31 * day, second},
                                Limits{second, -second}, Limits{second, 31 * day}, Limits{Duration::max(), second},
                                Limits{second, Duration::max()}, Limits{Duration::max(), Duration::max()}}) {
        Bank bank(Capability::takes_key);
        Process process;
        add_process(process, [&](LeasedWork& work) -> Result<Finish> {
            Integration integration = bank.integration();
            integration.start_within = limits.start_within;
            integration.duration_max = limits.duration_max;
            SEMEL_TRY(work.call("move", integration, "k", "5"));
            return Finish(Reply{});
        });
        const std::string key = "k" + std::to_string(++tried);
        EXPECT_EQ(refused(execute(process, key)), ClaimVerdict::needs_reconciliation) << key;
        EXPECT_EQ(bank.requests(), 0) << key;
    }
}

TEST_P(LeasedFailure, OfAWorkerIsNoticedAfterTheLeaseOfItsOwnOperation) {
    Process process;
    std::int64_t long_leases = -1;
    add_process(process, [&](LeasedWork&) -> Result<Finish> {
        long_leases = count(sqlite() ? Sql("SELECT count(*) FROM semel_command_record "
                                           "WHERE lease_until > semel_now() + 60 * 1000000")
                                     : Sql("SELECT count(*) FROM semel.command_record "
                                           "WHERE lease_until > clock_timestamp() + interval '60 seconds'"));
        return Finish(Reply{.status = 201});
    });
    LeasedOptions slow = options();
    slow.lease = std::chrono::hours(2);
    ASSERT_TRUE(process.operations.add("report", [](LeasedWork&) -> Result<Finish> { return Finish(Reply{}); }, slow));
    ASSERT_TRUE(accept(*process.leased, command("k"), bytes_of("5")).committed());
    const auto ran = Worker(*process.leased).run_one();
    ASSERT_TRUE(ran && *ran);
    EXPECT_EQ(long_leases, 0) << "for two hours nobody would go on";
    EXPECT_EQ(record("k").attempts, 1);
    EXPECT_EQ(state("k"), CommandState::succeeded);
}

INSTANTIATE_TEST_SUITE_P(Databases, LeasedFailure, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::leased
