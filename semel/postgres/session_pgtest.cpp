#include "semel/postgres/fixture_pgtest.hpp"

#include <algorithm>
#include <limits>

namespace semel::postgres {
namespace {

class PostgresDriver : public SessionTest {};

TEST_F(PostgresDriver, NeedsTwoRoundTripsForOneInsertAndItsCommit) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto session = open();
    const auto before = session->round_trips();
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("INSERT INTO item VALUES ($1)", 1));
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(session->round_trips() - before, 2U);
    EXPECT_EQ(session->state(), SessionState::idle);
    EXPECT_TRUE(session->direct());
    const Mark mark = session->mark();
    EXPECT_TRUE(mark.taken);
    EXPECT_NE(mark.transaction, 0U);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "1");
}

TEST_F(PostgresDriver, NeedsTwoRoundTripsForThreePostsAndTheirCommit) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto session = open();
    const auto before = session->round_trips();
    Transaction tx(*session, {}, soon());
    for (int i = 0; i < 3; ++i) tx.post("INSERT INTO item VALUES ($1)", i);
    ASSERT_TRUE(std::move(tx).commit().committed());
    EXPECT_EQ(session->round_trips() - before, 2U);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "3");
}

TEST_F(PostgresDriver, NeedsOneRoundTripForUnmarkedPostsAndTheirCommit) {
    sql("CREATE TABLE item (id int PRIMARY KEY)");
    auto session = open();
    const auto before = session->round_trips();
    Transaction tx(*session, {.marked = false}, soon());
    for (int i = 0; i < 3; ++i) tx.post("INSERT INTO item VALUES ($1)", i);
    ASSERT_TRUE(std::move(tx).commit().committed());
    EXPECT_EQ(session->round_trips() - before, 1U);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "3");
    EXPECT_FALSE(session->mark().taken);
}

TEST_F(PostgresDriver, SaysNothingForATransactionThatDidNothing) {
    auto session = open();
    const auto before = session->round_trips();
    ASSERT_TRUE(Transaction(*session, {}, soon()).commit().committed());
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(session->round_trips(), before);
}

TEST_F(PostgresDriver, CommitsWithoutWritingAfterReadingOnly) {
    auto session = open();
    Transaction tx(*session, {}, soon());
    const auto rows = tx.execute("SELECT $1::int + 1 AS next", 41);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->scalar<std::int64_t>().value(), 42);
    const auto before = session->round_trips();
    ASSERT_TRUE(std::move(tx).commit().committed());
    EXPECT_EQ(session->round_trips() - before, 1U);
    EXPECT_TRUE(session->mark().taken);
    EXPECT_EQ(session->mark().transaction, 0U);
}

TEST_F(PostgresDriver, CarriesEveryTypeThereAndBack) {
    sql("CREATE TABLE kind (i bigint, b boolean, d double precision, n numeric, t text, y bytea, u uuid, w "
        "timestamptz, j jsonb, o int)");
    auto session = open();
    const std::string text = "quotes ' \" \\ $1 ünïcödé 😀\n";
    const Bytes bytes{std::byte{0}, std::byte{0xff}, std::byte{'\\'}, std::byte{0}};
    const Decimal amount = *Decimal::parse("-12345678901234567890.123456789012345678");
    const Uuid id = *Uuid::parse("0190a8f0-0000-7000-8000-00000000abcd");
    const Timestamp when = *parse_timestamp("2026-01-31T23:59:59.123456Z");
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO kind VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)", std::numeric_limits<std::int64_t>::min(), true,
            0.1 + 0.2, amount, text, bytes, id, when, Json{R"({"a": [1, 2.50]})"}, std::optional<int>());
    const auto rows = tx.execute("SELECT * FROM kind");
    ASSERT_TRUE(rows) << rows.error().describe();
    ASSERT_EQ(rows->size(), 1U);
    const Row row = rows->front();
    EXPECT_EQ(row.get<std::int64_t>("i").value(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(row.get<bool>("b").value(), true);
    EXPECT_EQ(row.get<double>("d").value(), 0.1 + 0.2);
    EXPECT_EQ(row.get<Decimal>("n").value().text(), amount.text());
    EXPECT_EQ(row.get<std::string>("t").value(), text);
    EXPECT_EQ(row.get<Bytes>("y").value(), bytes);
    EXPECT_EQ(row.get<Uuid>("u").value(), id);
    EXPECT_EQ(row.get<Timestamp>("w").value(), when);
    EXPECT_EQ(row.get<Json>("j").value().text, R"({"a": [1, 2.50]})");
    EXPECT_EQ(row.get<std::optional<std::int64_t>>("o").value(), std::nullopt);
    EXPECT_TRUE(std::move(tx).commit().committed());
}

TEST_F(PostgresDriver, ReadsBytesAndDatesWhateverTheDatabaseWasSetTo) {
    sql("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database()); "
        "EXECUTE format('ALTER DATABASE %I SET DateStyle = ''SQL, DMY''', current_database()); "
        "EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Asia/Kolkata''', current_database()); END $$");
    auto session = open();
    const Bytes bytes{std::byte{0}, std::byte{'x'}, std::byte{'\\'}, std::byte{0xfe}};
    const Timestamp when = *parse_timestamp("2026-01-31T23:59:59.5Z");
    Transaction tx(*session, {}, soon());
    const auto rows = tx.execute("SELECT $1::bytea, $2::timestamptz", bytes, when);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->front().get<Bytes>(0).value(), bytes);
    EXPECT_EQ(rows->front().get<Timestamp>(1).value(), when);
}

TEST_F(PostgresDriver, ReadsEveryByteInEitherFormAndTellsEmptyFromNull) {
    Bytes every;
    for (int i = 0; i < 256; ++i) every.push_back(static_cast<std::byte>(i));
    for (const bool hexadecimal : {true, false}) {
        auto session = open();  // A first answer comes in text.
        Transaction tx(*session, {}, soon());
        tx.post("SELECT set_config('bytea_output', $1, true)", hexadecimal ? "hex" : "escape");
        const auto rows = tx.execute(
            "SELECT size, substr($1::bytea, 1, size) AS bytes, ''::bytea AS no_bytes, NULL::bytea AS null_bytes, "
            "'' AS no_text, NULL AS null_text FROM unnest(ARRAY[0, 1, 15, 16, 17, 255, 256]) AS size",
            every);
        ASSERT_TRUE(rows) << rows.error().describe();
        ASSERT_EQ(rows->size(), 7U);
        for (const Row row : *rows) {
            const auto bytes = row.get<BytesView>("bytes").value();
            const auto size = static_cast<std::size_t>(row.get<std::int64_t>("size").value());
            EXPECT_TRUE(std::ranges::equal(bytes, BytesView(every).first(size))) << size << ": " << hex(bytes);
            EXPECT_TRUE(row.get<BytesView>("no_bytes").value().empty());
            EXPECT_FALSE(row.get<std::optional<BytesView>>("null_bytes").value());
            EXPECT_EQ(row.get<std::string>("no_text").value(), "");
            EXPECT_FALSE(row.get<std::optional<std::string>>("null_text").value());
        }
        EXPECT_TRUE(std::move(tx).commit().committed());
    }
}

TEST_F(PostgresDriver, ReadsTheSameFromTheFirstAnswerInTextAndTheNextInBinary) {
    sql("CREATE TABLE kind (b boolean, s smallint, i integer, l bigint, t text, v varchar(9), j json, y bytea, u "
        "uuid)");
    sql("INSERT INTO kind VALUES "
        "(true, -32768, -2147483648, -9223372036854775808, 'ünï', '', '{\"a\": 1}', '\\x00ff5c', gen_random_uuid()), "
        "(false, 32767, 2147483647, 9223372036854775807, '', 'x', '[]', '', gen_random_uuid()), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
    ConnectOptions unnamed;
    unnamed.connection = url();
    unnamed.prepare = Prepare::unnamed;
    const auto in_text = open(unnamed);
    const auto learning = open();
    const auto read = [](PostgresSession& session) {
        Transaction tx(session, {.access = Access::read_only}, soon());
        const auto rows = tx.execute("SELECT b, s, i, l, t, v, j, y, u FROM kind ORDER BY i");
        std::vector<std::string> fields;
        for (const Row row : *rows) {
            for (const char* column : {"b", "s", "i", "l"}) {
                const auto number = row.get<std::optional<std::int64_t>>(column).value();
                fields.push_back(number ? std::to_string(*number) : "null");
            }
            for (const char* column : {"t", "v", "j", "u"})
                fields.push_back(row.get<std::optional<std::string>>(column).value().value_or("null"));
            const auto bytes = row.get<std::optional<Bytes>>("y").value();
            fields.push_back(bytes ? hex(*bytes) : "null");
        }
        EXPECT_TRUE(std::move(tx).commit().committed());
        return fields;
    };
    const auto expected = read(*in_text);
    ASSERT_EQ(expected.size(), 27U);
    EXPECT_EQ(expected[7].size(), 36U);
    for (int time = 0; time < 3; ++time) EXPECT_EQ(read(*learning), expected) << time;
}

// A statement like FETCH returns what something else decides.
TEST_F(PostgresDriver, ReadsWhateverFetchReturnsThisTime) {
    auto session = open();
    const Timestamp when = *parse_timestamp("2026-01-31T23:59:59.5Z");
    Transaction tx(*session, {}, soon());
    ASSERT_TRUE(tx.execute("DECLARE page CURSOR FOR SELECT 7 FROM generate_series(1, 9)"));
    for (int time = 0; time < 3; ++time) EXPECT_EQ(tx.execute("FETCH page")->scalar<std::int64_t>().value(), 7);
    ASSERT_TRUE(tx.execute("CLOSE page"));
    ASSERT_TRUE(tx.execute("DECLARE page CURSOR FOR SELECT timestamptz '2026-01-31T23:59:59.5Z'"));
    const auto rows = tx.execute("FETCH page");
    ASSERT_TRUE(rows) << rows.error().describe();
    EXPECT_EQ(rows->scalar<Timestamp>().value(), when);
}

TEST_F(PostgresDriver, SendsALargeFlushWithoutBlockingOnFullBuffers) {
    sql("CREATE TABLE item (id int PRIMARY KEY, body text)");
    auto session = open();
    const std::string body(1024, 'x');
    Transaction tx(*session, {}, soon());
    for (int i = 0; i < 10'000; ++i) tx.post("INSERT INTO item VALUES ($1, $2) RETURNING body", i, body);
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "10000");
}

TEST_F(PostgresDriver, RefusesATextWithAZeroByteAndRollsBack) {
    sql("CREATE TABLE item (id int PRIMARY KEY, body text)");
    auto session = open();
    Transaction tx(*session, {}, soon());
    tx.post("INSERT INTO item VALUES (1, 'good')");
    tx.post("INSERT INTO item VALUES (2, $1)", std::string_view("a\0b", 3));
    const auto outcome = std::move(tx).commit();
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::rejected);
    EXPECT_EQ(session->state(), SessionState::idle);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "0");
}

TEST_F(PostgresDriver, FailsTheTransactionWhenACountIsNotAsDeclared) {
    sql("CREATE TABLE item (id int PRIMARY KEY, epoch int)");
    sql("INSERT INTO item VALUES (1, 7)");
    auto session = open();
    for (const bool marked : {true, false}) {
        Transaction stale(*session, {.marked = marked}, soon());
        stale.post("INSERT INTO item VALUES ($1, $2)", 2, 0);
        stale.post_expecting(1, "UPDATE item SET epoch = 9 WHERE id = $1 AND epoch = $2 -- the fence", 1, 6);
        const auto outcome = std::move(stale).commit();
        ASSERT_TRUE(outcome.not_committed()) << told(outcome);
        EXPECT_EQ(outcome.error().fault, Fault::conflict);
        EXPECT_EQ(outcome.error().cause.code, "SM006");
        EXPECT_EQ(session->state(), SessionState::idle);
        EXPECT_EQ(ask("SELECT count(*) FROM item"), "1");
    }
    Transaction current(*session, {}, soon());
    current.post_expecting(1, "UPDATE item SET epoch = $1 WHERE id = 1", 8);
    ASSERT_TRUE(std::move(current).commit().committed());
    EXPECT_EQ(ask("SELECT epoch FROM item"), "8");
}

TEST_F(PostgresDriver, ReportsTheConstraintAndStaysUsableAfterRollback) {
    sql("CREATE TABLE item (id int CONSTRAINT one_id PRIMARY KEY)");
    sql("INSERT INTO item VALUES (1)");
    auto session = open();
    Transaction tx(*session, {}, soon());
    const auto rows = tx.execute("INSERT INTO item VALUES (1)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::rejected);
    EXPECT_EQ(rows.error().cause.code, "23505");
    EXPECT_EQ(rows.error().cause.constraint, "one_id");
    EXPECT_EQ(session->state(), SessionState::failed);
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(session->state(), SessionState::idle);
    ASSERT_TRUE(session->reset(soon()));
    Transaction again(*session, {}, soon());
    ASSERT_TRUE(again.execute("INSERT INTO item VALUES (2)"));
    ASSERT_TRUE(std::move(again).commit().committed());
}

TEST_F(PostgresDriver, RunsAScriptInsideTheTransaction) {
    auto session = open();
    {
        Transaction tx(*session, {}, soon());
        ASSERT_TRUE(tx.run_script("CREATE TABLE one (id int); CREATE TABLE two (id int); INSERT INTO one VALUES (1)"));
        ASSERT_TRUE(tx.execute("INSERT INTO two VALUES (2)"));
        ASSERT_TRUE(std::move(tx).commit().committed());
    }
    EXPECT_NE(session->mark().transaction, 0U);
    Transaction tx(*session, {}, soon());
    const Status failed = tx.run_script("CREATE TABLE three (id int); CREATE TABLE one (id int)");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().cause.code, "42P07");
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(ask("SELECT to_regclass('three') IS NULL"), "t");
}

TEST_F(PostgresDriver, RefusesAReadOnlyTransactionThatWrites) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    Transaction tx(*session, {.access = Access::read_only}, soon());
    const auto rows = tx.execute("INSERT INTO item VALUES (1)");
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().fault, Fault::rejected);
    ASSERT_TRUE(std::move(tx).rollback());
    EXPECT_EQ(session->state(), SessionState::idle);
}

TEST_F(PostgresDriver, ResetUndoesWhatWasLeftOpen) {
    sql("CREATE TABLE item (id int)");
    auto session = open();
    {
        Transaction dropped(*session, {}, soon());
        ASSERT_TRUE(dropped.execute("INSERT INTO item VALUES (1)"));
    }
    EXPECT_EQ(session->state(), SessionState::transaction);
    ASSERT_TRUE(session->reset(soon()));
    EXPECT_EQ(session->state(), SessionState::idle);
    EXPECT_EQ(ask("SELECT count(*) FROM item"), "0");
}

TEST_F(PostgresDriver, RunsAtTheIsolationAskedForWhateverTheDefault) {
    sql("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', "
        "current_database()); END $$");
    auto session = open();
    for (const auto& [isolation, name] : {std::pair(Isolation::read_committed, "read committed"),
                                          std::pair(Isolation::repeatable_read, "repeatable read"),
                                          std::pair(Isolation::serializable, "serializable")}) {
        Transaction tx(*session, {.isolation = isolation}, soon());
        const auto rows = tx.execute("SHOW transaction_isolation");
        ASSERT_TRUE(rows);
        EXPECT_EQ(rows->scalar<std::string>().value(), name);
        ASSERT_TRUE(std::move(tx).commit().committed());
    }
}

TEST_F(PostgresDriver, TellsTheServerItsLimits) {
    auto session = open();
    Transaction tx(
        *session,
        {.lock_timeout = std::chrono::milliseconds(1234), .statement_timeout = std::chrono::milliseconds(4321)},
        soon());
    const auto rows = tx.execute(
        "SELECT current_setting('lock_timeout'), current_setting('statement_timeout'), "
        "current_setting('idle_in_transaction_session_timeout'), current_setting('client_connection_check_interval')");
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->front().get<std::string>(0).value(), "1234ms");
    EXPECT_EQ(rows->front().get<std::string>(1).value(), "4321ms");
    EXPECT_EQ(rows->front().get<std::string>(2).value(), "1min");
    EXPECT_EQ(rows->front().get<std::string>(3).value(), "1s");
    ASSERT_TRUE(std::move(tx).rollback());
    // A rollback does not undo them, and the next transaction may have others.
    Transaction same(*session, {.lock_timeout = std::chrono::milliseconds(1234)}, soon());
    EXPECT_EQ(same.execute("SHOW lock_timeout")->scalar<std::string>().value(), "1234ms");
    ASSERT_TRUE(std::move(same).commit().committed());
    Transaction other(*session, {.lock_timeout = std::chrono::milliseconds(99)}, soon());
    EXPECT_EQ(other.execute("SHOW lock_timeout")->scalar<std::string>().value(), "99ms");
}

}  // namespace
}  // namespace semel::postgres
