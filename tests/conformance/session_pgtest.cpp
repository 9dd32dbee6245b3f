// What every driver must do alike: the same calls, the same answers, whatever stands behind them.

#include "semel/db/transact.hpp"
#include "tests/conformance/target.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <thread>

namespace semel::conformance {
namespace {

using ::testing::HasSubstr;

class SessionConformance : public ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run("CREATE TABLE parent (id bigint PRIMARY KEY);"
            "CREATE TABLE item ("
            "  id bigint PRIMARY KEY,"
            "  code text NOT NULL,"
            "  amount bigint NOT NULL CONSTRAINT amount_is_positive CHECK (amount > 0),"
            "  parent_id bigint REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED,"
            "  UNIQUE (code, amount));"
            "CREATE UNIQUE INDEX one_parent_each ON item (parent_id);");
    }

    Outcome<> insert(std::int64_t id, std::string_view code, std::int64_t amount,
                     std::optional<std::int64_t> parent = {}) {
        TransactOptions once;
        once.retry = Policy::once();
        return transact(*database, once, [&](Transaction& tx) -> Status {
            SEMEL_TRY(tx.execute("INSERT INTO item (id, code, amount, parent_id) VALUES ($1, $2, $3, $4)", id, code,
                                 amount, parent));
            return {};
        });
    }

    std::int64_t items() { return count("SELECT count(*) FROM item"); }
};

TEST_P(SessionConformance, CommitsWhatWasExecutedAndPosted) {
    const auto outcome = transact(*database, [](Transaction& tx) -> Status {
        tx.post("INSERT INTO item (id, code, amount) VALUES ($1, $2, $3)", 1, "posted", 5);
        const auto rows =
            SEMEL_TRY(tx.execute("INSERT INTO item (id, code, amount) VALUES ($1, $2, $3)", 2, "executed", 5));
        EXPECT_EQ(rows.affected(), 1);
        tx.post("INSERT INTO item (id, code, amount) VALUES ($1, $2, $3)", 3, "last", 5);
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(items(), 3);
}

TEST_P(SessionConformance, SeesItsOwnPostedRows) {
    const auto outcome = transact(*database, [](Transaction& tx) -> Result<std::int64_t> {
        tx.post("INSERT INTO item (id, code, amount) VALUES (1, 'a', 1)");
        return SEMEL_TRY(tx.execute("SELECT count(*) FROM item")).scalar<std::int64_t>();
    });
    ASSERT_TRUE(outcome.committed());
    EXPECT_EQ(outcome.value(), 1);
}

TEST_P(SessionConformance, KeepsNothingOfABodyThatFails) {
    const auto outcome = transact(*database, [](Transaction& tx) -> Status {
        SEMEL_TRY(tx.execute("INSERT INTO item (id, code, amount) VALUES (1, 'a', 1)"));
        return fail(Fault::rejected, "changed my mind");
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(items(), 0);
}

TEST_P(SessionConformance, KeepsNothingOfATransactionThatWasDropped) {
    {
        auto loan = database->pool().acquire(soon());
        ASSERT_TRUE(loan);
        Transaction tx(**loan, {}, soon());
        ASSERT_TRUE(tx.execute("INSERT INTO item (id, code, amount) VALUES (1, 'a', 1)"));
    }
    EXPECT_EQ(items(), 0);
    EXPECT_EQ(database->pool().usage().in_use, 0U);
}

TEST_P(SessionConformance, CommitsATransactionThatDidNothing) {
    EXPECT_TRUE(transact(*database, [](Transaction&) -> Status { return {}; }).committed());
}

TEST_P(SessionConformance, CarriesEveryTypeThereAndBack) {
    run(GetParam() == Target::sqlite ? "CREATE TABLE kind (b boolean, i bigint, d double precision, n TEXT, t text, y "
                                       "blob, u TEXT, w TEXT, j TEXT)"
                                     : "CREATE TABLE kind (b boolean, i bigint, d double precision, n numeric, t text, "
                                       "y bytea, u uuid, w timestamptz, j json)");
    const Uuid id = new_uuid();
    const Decimal amount = Decimal::parse("-12345678901234567890.123456789012345678").value();
    const std::string text = "quotes ' \" and \\ and ünïcödé 😀\n";
    const Bytes bytes{std::byte{0}, std::byte{0xff}, std::byte{'\''}, std::byte{0}};
    const Timestamp when = parse_timestamp("2026-02-28T23:59:59.000001Z").value();
    const Json json{R"({"b": [1, 2.50], "a": null})"};
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        tx.post("INSERT INTO kind VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", true,
                std::numeric_limits<std::int64_t>::min(), 0.1, amount, text, bytes, id, when, json);
        const auto rows = SEMEL_TRY(tx.execute("SELECT * FROM kind"));
        const Row row = rows.front();
        EXPECT_EQ(SEMEL_TRY(row.get<bool>("b")), true);
        EXPECT_EQ(SEMEL_TRY(row.get<std::int64_t>("i")), std::numeric_limits<std::int64_t>::min());
        EXPECT_EQ(SEMEL_TRY(row.get<double>("d")), 0.1);
        EXPECT_EQ(SEMEL_TRY(row.get<Decimal>("n")), amount);
        EXPECT_EQ(SEMEL_TRY(row.get<std::string>("t")), text);
        EXPECT_EQ(SEMEL_TRY(row.get<Bytes>("y")), bytes);
        EXPECT_EQ(SEMEL_TRY(row.get<Uuid>("u")), id);
        EXPECT_EQ(SEMEL_TRY(row.get<Timestamp>("w")), when);
        EXPECT_EQ(SEMEL_TRY(row.get<Json>("j")), json);
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
}

TEST_P(SessionConformance, CarriesNullOfEveryType) {
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        SEMEL_TRY(
            tx.execute("INSERT INTO item (id, code, amount, parent_id) VALUES ($1, $2, $3, $4)", 1, "a", 1, nullptr));
        const auto rows = SEMEL_TRY(tx.execute("SELECT parent_id FROM item"));
        EXPECT_EQ(SEMEL_TRY(rows.front().get<std::optional<std::int64_t>>(0)), std::nullopt);
        return {};
    });
    EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
}

TEST_P(SessionConformance, BindsParametersByNumberWhateverTheirOrder) {
    const auto outcome = transact(*database, [](Transaction& tx) -> Result<std::string> {
        const auto rows =
            SEMEL_TRY(tx.execute("SELECT CAST($2 AS text) || CAST($1 AS text) || CAST($2 AS text)", "a", "b"));
        return rows.scalar<std::string>();
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(outcome.value(), "bab");
}

TEST_P(SessionConformance, NamesTheConstraintThatRefused) {
    ASSERT_TRUE(insert(1, "a", 1).committed());
    run("INSERT INTO parent (id) VALUES (1)");
    ASSERT_TRUE(insert(2, "b", 1, 1).committed());
    const auto constraint = [](const Outcome<>& outcome) {
        EXPECT_TRUE(outcome.not_committed());
        EXPECT_EQ(outcome.error().fault, Fault::rejected);
        EXPECT_EQ(outcome.error().cause.stop, Stop::not_retryable);
        return outcome.error().cause.constraint;
    };
    EXPECT_EQ(constraint(insert(1, "c", 1)), "item_pkey");
    EXPECT_EQ(constraint(insert(3, "a", 1)), "item_code_amount_key");
    EXPECT_EQ(constraint(insert(3, "d", 1, 1)), "one_parent_each");
    EXPECT_EQ(constraint(insert(3, "d", 0)), "amount_is_positive");
    EXPECT_EQ(items(), 2);
}

TEST_P(SessionConformance, RefusesADeferredForeignKeyAtCommitForCertain) {
    const auto outcome = insert(1, "a", 1, 99);
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::rejected);
    EXPECT_EQ(items(), 0);
    EXPECT_TRUE(insert(1, "a", 1).committed()) << "and the session is fit for further use";
}

TEST_P(SessionConformance, FailsAsAConflictWhenAnotherNumberOfRowsChanged) {
    ASSERT_TRUE(insert(1, "a", 1).committed());
    int bodies = 0;
    TransactOptions options;
    options.retry = Policy::create({.attempts = 3, .base = std::chrono::milliseconds(1)}).value();
    const auto outcome = transact(*database, options, [&](Transaction& tx) -> Status {
        ++bodies;
        tx.post("INSERT INTO item (id, code, amount) VALUES (2, 'b', 1)");
        tx.post_expecting(1, "UPDATE item SET code = $2 WHERE id = $1 AND amount = 7", 1, "stale");
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::conflict);
    EXPECT_EQ(outcome.error().cause.code, "SM006");
    EXPECT_EQ(outcome.error().cause.stop, Stop::attempts);
    EXPECT_EQ(bodies, 3);
    EXPECT_EQ(items(), 1) << "the COMMIT behind the stale write was never reached";
}

TEST_P(SessionConformance, SendsFirstWhatWasPostedAhead) {
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        tx.post("UPDATE item SET amount = amount * 10");
        tx.post_ahead("UPDATE item SET amount = amount + 1");
        tx.post_ahead("INSERT INTO item (id, code, amount) VALUES ($1, 'a', 1)", 1);
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(count("SELECT amount FROM item"), 20);
}

TEST_P(SessionConformance, OpensWithItsOpeningOnlyIfItWaits) {
    const auto waits = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
        const std::int64_t id = 1;
        tx.open_with("INSERT INTO item (id, code, amount) VALUES ($1, 'a', 1)", id);
        EXPECT_FALSE(tx.sent());
        const Rows rows = SEMEL_TRY(tx.execute("SELECT count(*) FROM item"));
        EXPECT_TRUE(tx.sent());
        return rows.scalar<std::int64_t>();
    });
    ASSERT_TRUE(waits.committed()) << waits.error().describe();
    EXPECT_EQ(waits.value(), 1);
    const auto posts = transact(*database, [&](Transaction& tx) -> Status {
        tx.open_with("INSERT INTO item (id, code, amount) VALUES (2, 'b', 1)");
        tx.post("UPDATE item SET amount = 7");
        return {};
    });
    ASSERT_TRUE(posts.committed()) << posts.error().describe();
    EXPECT_EQ(items(), 1);
}

TEST_P(SessionConformance, LooksAtWhatIsCommittedOutsideAnyTransaction) {
    ASSERT_TRUE(insert(1, "a", 1).committed());
    auto loan = database->pool().acquire(soon());
    ASSERT_TRUE(loan) << loan.error().describe();
    Session& session = **loan;
    const auto look = [&](Sql sql) {
        return session.look({.sql = sql, .parameters = {}, .expected_rows = std::nullopt}, soon());
    };
    EXPECT_EQ(look("SELECT count(*) FROM item")->scalar<std::int64_t>(), 1);
    EXPECT_EQ(session.state(), SessionState::idle);
    EXPECT_FALSE(look("SELECT nothing FROM nowhere"));
    EXPECT_EQ(session.state(), SessionState::idle) << "a failed look leaves nothing to roll back";
    EXPECT_EQ(look("SELECT count(*) FROM item")->scalar<std::int64_t>(), 1);
}

TEST_P(SessionConformance, AcceptsTheExpectedNumberOfRows) {
    ASSERT_TRUE(insert(1, "a", 1).committed());
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        tx.post_expecting(1, "UPDATE item SET code = $2 WHERE id = $1", 1, "fresh");
        tx.post_expecting(0, "DELETE FROM item WHERE id = $1", 99);
        tx.post_expecting(2, "INSERT INTO item (id, code, amount) VALUES (2, 'b', 1), (3, 'c', 1)");
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(count("SELECT count(*) FROM item WHERE code = 'fresh'"), 1);
}

TEST_P(SessionConformance, ReportsAPostedFailureAtTheNextWait) {
    TransactOptions once;
    once.retry = Policy::once();
    bool answered_alike = false;
    const auto outcome = transact(*database, once, [&](Transaction& tx) -> Status {
        tx.post("INSERT INTO item (id, code, amount) VALUES (1, 'a', 1)");
        tx.post("INSERT INTO item (id, code, amount) VALUES (1, 'b', 1)");
        const auto rows = tx.execute("SELECT count(*) FROM item");
        EXPECT_FALSE(rows);
        const auto again = tx.execute("SELECT 1");
        answered_alike = !again && !rows && again.error().message == rows.error().message;
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.constraint, "item_pkey");
    EXPECT_TRUE(answered_alike) << "the first failure decides";
    EXPECT_EQ(items(), 0);
}

TEST_P(SessionConformance, RejectsWhatIsNotSql) {
    const auto outcome = transact(*database, [](Transaction& tx) -> Status {
        SEMEL_TRY(tx.execute("SELEKT 1"));
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::rejected);
    EXPECT_EQ(outcome.error().cause.attempts, 1U);
    EXPECT_TRUE(insert(1, "a", 1).committed());
}

TEST_P(SessionConformance, RefusesToWriteInAReadOnlyTransaction) {
    TransactOptions options;
    options.transaction.access = Access::read_only;
    options.retry = Policy::once();
    const auto outcome = transact(*database, options, [](Transaction& tx) -> Status {
        SEMEL_TRY(tx.execute("INSERT INTO item (id, code, amount) VALUES (1, 'a', 1)"));
        return {};
    });
    EXPECT_TRUE(outcome.not_committed());
    EXPECT_EQ(items(), 0);
}

TEST_P(SessionConformance, ReadsWhatIsCommittedInAReadOnlyTransaction) {
    ASSERT_TRUE(insert(1, "a", 1).committed());
    TransactOptions options;
    options.transaction.access = Access::read_only;
    const auto outcome = transact(*database, options, [](Transaction& tx) -> Result<std::int64_t> {
        return SEMEL_TRY(tx.execute("SELECT count(*) FROM item")).scalar<std::int64_t>();
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(outcome.value(), 1);
}

TEST_P(SessionConformance, HoldsALargeFlush) {
    const std::string text(1000, 'x');
    const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
        for (int i = 0; i < 5000; ++i)
            tx.post("INSERT INTO item (id, code, amount) VALUES ($1, $2, $3)", i, text, i + 1);
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    EXPECT_EQ(items(), 5000);
}

TEST_P(SessionConformance, StopsAStatementAtTheDeadline) {
    TransactOptions options;
    options.deadline = Deadline::after(now(), std::chrono::milliseconds(300));
    const auto outcome = transact(*database, options, [](Transaction& tx) -> Status {
        SEMEL_TRY(
            tx.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)"
                       " SELECT count(*) FROM n"));
        return {};
    });
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_NE(outcome.error().cause.timeout, Timeout::none);
    EXPECT_LT(now(), options.deadline.at() + std::chrono::seconds(5));
    EXPECT_TRUE(insert(1, "a", 1).committed()) << "and the next command is served";
}

TEST_P(SessionConformance, MigratesOnceHoweverManyProgramsStartTogether) {
    const Migration steps[] = {{1, "first", "CREATE TABLE made_once (id bigint PRIMARY KEY)"},
                               {2, "second", "INSERT INTO made_once VALUES (1)"}};
    std::atomic<std::size_t> applied = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i)
            threads.emplace_back([&] {
                const auto state = migrate(*database, "suite", steps, Deadline::after(now(), std::chrono::seconds(60)));
                ASSERT_TRUE(state) << state.error().describe();
                applied += state->applied.size();
            });
    }
    EXPECT_EQ(applied, 2U);
    EXPECT_EQ(count("SELECT count(*) FROM made_once"), 1);
    const auto again = schema_state(*database, "suite", steps, soon());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->at, 2);
    EXPECT_TRUE(again->pending.empty());
}

TEST_P(SessionConformance, RefusesAnEditedOrUnknownMigration) {
    const Migration released[] = {{1, "first", "CREATE TABLE a (id bigint)"},
                                  {2, "second", "CREATE TABLE b (id bigint)"}};
    ASSERT_TRUE(migrate(*database, "suite", released, soon()));
    const Migration edited[] = {{1, "first", "CREATE TABLE a (id text)"}, {2, "second", "CREATE TABLE b (id bigint)"}};
    const auto refused = migrate(*database, "suite", edited, soon());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
    EXPECT_THAT(refused.error().message, HasSubstr("0001 first of suite was applied with another text"));
    const auto older = migrate(*database, "suite", std::span(released).first(1), soon());
    ASSERT_FALSE(older);
    EXPECT_THAT(older.error().message, HasSubstr("newer than this program"));
}

TEST_P(SessionConformance, LeavesNothingOfAMigrationThatFails) {
    const Migration steps[] = {{1, "half", "CREATE TABLE half (id bigint); INSERT INTO nowhere VALUES (1);"}};
    const auto failed = migrate(*database, "suite", steps, soon());
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message, HasSubstr("step 0001 half"));
    run("CREATE TABLE half (id bigint)");
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SessionConformance,
                         ::testing::Values(Target::sqlite, Target::postgres, Target::pgbouncer),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace semel::conformance
