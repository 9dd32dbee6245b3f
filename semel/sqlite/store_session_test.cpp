#include "semel/sqlite/store_test.hpp"

#include <cmath>
#include <limits>

namespace semel::sqlite {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class StoreSessionTest : public StoreTest {};

TEST_F(StoreSessionTest, KeepsWhatWasPostedAndExecuted) {
    const auto own = session();
    Transaction tx(*own, {}, {});
    tx.post("INSERT INTO item (id) VALUES ($1)", 1);
    const auto rows = tx.execute("INSERT INTO item (id, note) VALUES ($1, $2) RETURNING id, note", 2, "two");
    ASSERT_TRUE(rows) << rows.error().describe();
    EXPECT_EQ(rows->front().get<std::int64_t>("id").value(), 2);
    EXPECT_EQ(rows->front().get<std::string>("note").value(), "two");
    EXPECT_EQ(rows->affected(), 1);
    tx.post("INSERT INTO item (id) VALUES ($1)", 3);
    EXPECT_EQ(ids(), "") << "nothing shows before COMMIT";
    EXPECT_TRUE(std::move(tx).commit().committed());
    EXPECT_EQ(ids(), "1,2,3");
    EXPECT_EQ(own->state(), SessionState::idle);
}

TEST_F(StoreSessionTest, KeepsNothingOfWhatWasRolledBackOrAbandoned) {
    const auto own = session();
    {
        Transaction tx(*own, {}, {});
        ASSERT_TRUE(tx.execute("INSERT INTO item (id) VALUES (1)"));
        EXPECT_TRUE(std::move(tx).rollback());
    }
    {
        const auto dropped = session();
        Transaction tx(*dropped, {}, {});
        ASSERT_TRUE(tx.execute("INSERT INTO item (id) VALUES (2)"));
    }
    {
        Transaction tx(*own, {}, {});
        ASSERT_TRUE(tx.execute("INSERT INTO item (id) VALUES (3)"));
    }
    EXPECT_TRUE(own->reset({}));
    EXPECT_TRUE(insert(4).committed());
    EXPECT_EQ(ids(), "4");
}

TEST_F(StoreSessionTest, CarriesEveryTypeThereAndBack) {
    const auto own = session();
    Transaction tx(*own, {}, {});
    ASSERT_TRUE(tx.run_script("CREATE TABLE value (b, i, r, d, t, x, u, w, j, n)"));
    const Decimal decimal = Decimal::parse("-12345678901234567890.10").value();
    const Uuid uuid = Uuid::parse("0190163d-8694-739b-aea5-966c26f8ad91").value();
    const Timestamp moment{1769900399123456us};
    const Bytes bytes{std::byte{0}, std::byte{255}, std::byte{0}};
    const Json json{R"({"a": [1, "ü"]})"};
    const std::int64_t least = std::numeric_limits<std::int64_t>::min();
    tx.post("INSERT INTO value VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", true, least, 0.1, decimal,
            std::string("naïve"), bytes, uuid, moment, json, nullptr);
    const auto rows = tx.execute("SELECT *, typeof(d) || typeof(x) || typeof(u) || typeof(w) || typeof(b) FROM value");
    ASSERT_TRUE(rows) << rows.error().describe();
    const Row row = rows->front();
    EXPECT_EQ(row.get<bool>("b").value(), true);
    EXPECT_EQ(row.get<std::int64_t>("i").value(), least);
    EXPECT_EQ(row.get<double>("r").value(), 0.1);
    EXPECT_EQ(row.get<Decimal>("d").value().text(), "-12345678901234567890.10");
    EXPECT_EQ(row.get<std::string>("t").value(), "naïve");
    EXPECT_EQ(row.get<Bytes>("x").value(), bytes);
    EXPECT_EQ(row.get<Uuid>("u").value(), uuid);
    EXPECT_EQ(row.get<Timestamp>("w").value(), moment);
    EXPECT_EQ(row.get<Json>("j").value(), json);
    EXPECT_EQ(row.get<std::optional<std::int64_t>>("n").value(), std::nullopt);
    EXPECT_EQ(row.get<std::string>(10).value(), "textblobtexttextinteger");
}

TEST_F(StoreSessionTest, KeepsEmptyTextAndBytesApartFromNull) {
    const auto own = session();
    Transaction tx(*own, {}, {});
    const auto rows = tx.execute("SELECT typeof($1), typeof($2), typeof($3)", std::string_view(), BytesView(), nullptr);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->front().get<std::string>(0).value(), "text");
    EXPECT_EQ(rows->front().get<std::string>(1).value(), "blob");
    EXPECT_EQ(rows->front().get<std::string>(2).value(), "null");
    tx.post("INSERT INTO item (id, note) VALUES (1, $1)", std::string_view());
    ASSERT_TRUE(std::move(tx).commit().committed());
    EXPECT_EQ(committed("SELECT count(*) FROM item WHERE note = ''"), 1);
}

TEST_F(StoreSessionTest, RefusesValuesThatWouldNotComeBackAsTheyWere) {
    const auto refused = [&](const auto& value) {
        const auto own = session();
        Transaction tx(*own, {}, {});
        const auto rows = tx.execute("SELECT $1", value);
        return !rows && rows.error().fault == Fault::rejected;
    };
    EXPECT_TRUE(refused(std::nan("")));
    EXPECT_TRUE(refused(std::string_view("a\0b", 3)));
}

TEST_F(StoreSessionTest, RefusesAnotherNumberOfValues) {
    const auto own = session();
    Transaction tx(*own, {}, {});
    const auto rows = tx.execute("SELECT $1, $2", 1);
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::rejected);
    EXPECT_THAT(rows.error().message, HasSubstr("takes 2 values and got 1"));
}

TEST_F(StoreSessionTest, CountsChangedRowsAndFailsWhenTheyAreNotAsExpected) {
    run("INSERT INTO item (id) VALUES (1), (2), (3)");
    const auto own = session();
    {
        Transaction tx(*own, {}, {});
        EXPECT_EQ(tx.execute("UPDATE item SET note = 'x' WHERE id > 1").value().affected(), 2);
        EXPECT_EQ(tx.execute("CREATE TABLE other (id)").value().affected(), 0) << "not the count of the UPDATE before";
        EXPECT_EQ(tx.execute("SELECT * FROM item").value().affected(), 3);
        EXPECT_TRUE(std::move(tx).rollback());
    }
    Transaction tx(*own, {}, {});
    tx.post("INSERT INTO item (id) VALUES (4)");
    tx.post_expecting(1, "UPDATE item SET note = 'x' WHERE id = 99");
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::conflict);
    EXPECT_EQ(outcome.error().cause.code, "SM006");
    EXPECT_EQ(ids(), "1,2,3");
}

TEST_F(StoreSessionTest, NamesConstraintsAsPostgresDoes) {
    run("CREATE TABLE account (id TEXT PRIMARY KEY, email TEXT UNIQUE, a INTEGER, b INTEGER, amount INTEGER NOT NULL"
        " CONSTRAINT amount_is_positive CHECK (amount > 0), UNIQUE (a, b)) STRICT;"
        "CREATE UNIQUE INDEX account_by_a ON account (a);"
        "CREATE UNIQUE INDEX account_by_lower ON account (lower(email));"
        "INSERT INTO account VALUES ('x', 'e', 1, 2, 1); INSERT INTO item (id) VALUES (1)");
    const auto refusal = [&](Sql sql) {
        const auto outcome = commit_posted({}, {}, sql);
        EXPECT_TRUE(outcome.not_committed());
        EXPECT_EQ(outcome.error().fault, Fault::rejected);
        return outcome.error();
    };
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('x', 'f', 3, 3, 1)").cause.constraint, "account_pkey");
    EXPECT_EQ(refusal("INSERT INTO item (id) VALUES (1)").cause.constraint, "item_pkey");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'f', 1, 3, 1)").cause.constraint, "account_by_a");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'E', 3, 3, 1)").cause.constraint, "account_by_lower");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'f', 3, 3, 0)").cause.constraint, "amount_is_positive");
    run("DROP INDEX account_by_a; DROP INDEX account_by_lower");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'e', 3, 3, 1)").cause.constraint, "account_email_key");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'f', 1, 2, 1)").cause.constraint, "account_a_b_key");
    const Error missing = refusal("INSERT INTO account VALUES ('y', 'f', 3, 3, NULL)");
    EXPECT_THAT(missing.message, HasSubstr("account.amount must not be NULL"));
    EXPECT_EQ(missing.cause.code, "1299");
    EXPECT_EQ(refusal("INSERT INTO account VALUES ('y', 'f', 3, 3, 'text')").cause.code, "3091");
}

TEST_F(StoreSessionTest, EndsATransactionAtItsFirstFailure) {
    const auto own = session();
    ASSERT_TRUE(own->begin({}, {}));
    own->post({.sql = "INSERT INTO item (id) VALUES (1)", .parameters = {}, .expected_rows = {}});
    const auto rows = own->execute({.sql = "SELEKT", .parameters = {}, .expected_rows = {}}, {});
    ASSERT_FALSE(rows);
    EXPECT_EQ(own->state(), SessionState::failed);
    EXPECT_FALSE(own->execute({.sql = "SELECT 1", .parameters = {}, .expected_rows = {}}, {}));
    const auto outcome = own->commit({});
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.code, "1");
    EXPECT_EQ(own->state(), SessionState::idle);
    EXPECT_EQ(ids(), "");
}

TEST_F(StoreSessionTest, LeavesTransactionsAndSettingsToTheSession) {
    const auto refused = [&](Sql sql) {
        const auto own = session();
        Transaction tx(*own, {}, {});
        const auto rows = tx.execute(sql);
        return !rows && rows.error().fault == Fault::rejected;
    };
    EXPECT_TRUE(refused("COMMIT"));
    EXPECT_TRUE(refused("ROLLBACK"));
    EXPECT_TRUE(refused("END"));
    EXPECT_TRUE(refused("BEGIN"));
    EXPECT_TRUE(refused("RELEASE semel_member"));
    EXPECT_TRUE(refused("ROLLBACK TO Semel_Member"));
    EXPECT_TRUE(refused("PRAGMA synchronous = OFF"));
    EXPECT_TRUE(refused("PRAGMA foreign_keys = OFF"));
    EXPECT_TRUE(refused("PRAGMA ignore_check_constraints = ON"));
    EXPECT_TRUE(refused("PRAGMA busy_timeout = 0"));
    EXPECT_TRUE(refused("ATTACH DATABASE ':memory:' AS other"));
    EXPECT_FALSE(refused("SAVEPOINT mine"));
    EXPECT_FALSE(refused("PRAGMA synchronous"));
}

TEST_F(StoreSessionTest, RunsAtFullDurability) {
    const auto own = session();
    Transaction tx(*own, {}, {});
    constexpr std::int64_t full = 2;
    EXPECT_EQ(tx.execute("PRAGMA synchronous").value().scalar<std::int64_t>().value(), full);
    EXPECT_EQ(tx.execute("PRAGMA journal_mode").value().scalar<std::string>().value(), "wal");
    EXPECT_EQ(tx.execute("PRAGMA foreign_keys").value().scalar<std::int64_t>().value(), 1);
}

TEST_F(StoreSessionTest, ReadsApartFromTheWriterInOneSnapshot) {
    run("INSERT INTO item (id) VALUES (1)");
    const auto writing = session();
    Transaction write(*writing, {}, {});
    ASSERT_TRUE(write.execute("INSERT INTO item (id) VALUES (2)"));
    const auto reading = session();
    Transaction read(*reading, {.access = Access::read_only}, {});
    EXPECT_EQ(read.execute("SELECT count(*) FROM item").value().scalar<std::int64_t>().value(), 1);
    ASSERT_TRUE(std::move(write).commit().committed());
    EXPECT_EQ(read.execute("SELECT count(*) FROM item").value().scalar<std::int64_t>().value(), 1);
    const auto refused = read.execute("DELETE FROM item");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
    EXPECT_TRUE(std::move(read).rollback());
    EXPECT_EQ(ids(), "1,2");
}

TEST_F(StoreSessionTest, WorksInMemoryWhereReadersShareTheOneConnection) {
    store_ = open(":memory:", {}, clock_).value();
    run("CREATE TABLE item (id INTEGER PRIMARY KEY)");
    EXPECT_TRUE(insert(1).committed());
    EXPECT_EQ(ids(), "1");
    const auto own = session();
    Transaction tx(*own, {.access = Access::read_only}, {});
    EXPECT_FALSE(tx.execute("DELETE FROM item"));
    EXPECT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(ids(), "1");
}

TEST_F(StoreSessionTest, CommitsATransactionThatDidNothingWithoutACommit) {
    const auto before = store_->stats().commits;
    const auto own = session();
    EXPECT_TRUE(Transaction(*own, {}, {}).commit().committed());
    EXPECT_EQ(store_->stats().commits, before);
}

TEST_F(StoreSessionTest, AsksTheClockOnlyDuringReads) {
    testing::ManualClock jumping;
    store_ = open(path(), {}, jumping).value();
    const auto own = session();
    Transaction tx(*own, {.statement_timeout = Duration::zero()}, {});
    const auto cancelled =
        tx.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().cause.timeout, Timeout::statement);
    EXPECT_EQ(cancelled.error().fault, Fault::rejected);
    EXPECT_TRUE(std::move(tx).rollback());
    Transaction write(*own, {.statement_timeout = Duration::zero()}, {});
    const auto rows = write.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO item (id) SELECT i FROM n");
    EXPECT_TRUE(rows) << "a write is never cancelled: it would take its whole group along";
    EXPECT_TRUE(std::move(write).commit().committed());
}

}  // namespace
}  // namespace semel::sqlite
