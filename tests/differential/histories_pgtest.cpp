// Drawn histories of commands, on SQLite and on PostgreSQL at once: the same answers, the same records, the same events.

#include "semel/command/executor.hpp"
#include "semel/db/migrate.hpp"
#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace semel::differential {
namespace {

using namespace std::chrono_literals;

constexpr int accounts = 4;
constexpr int keys = 10;

/// One call of one client.
struct Asked {
    std::string operation;
    std::string key;
    int account = 0;
    int other = 0;
    int amount = 0;
    bool final_refusal = false;
    bool fails = false;

    [[nodiscard]] Command command() const {
        const std::string content =
            operation + ":" + std::to_string(account) + ":" + std::to_string(other) + ":" + std::to_string(amount);
        return {.identity = Identity::of("shop", "web", operation, key).value(),
                .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(content))}};
    }
};

Asked draw(Random& random) {
    const std::uint64_t kind = random.below(10);
    Asked asked;
    asked.operation = kind < 5 ? "deposit" : "transfer";
    asked.key = "key-" + std::to_string(random.below(keys));
    asked.account = static_cast<int>(random.below(accounts)) + 1;
    asked.other = static_cast<int>(random.below(accounts)) + 1;
    // Few amounts, so that repeats with the same content come up beside those with another.
    asked.amount = static_cast<int>(random.below(2)) * 70 + 10;
    asked.final_refusal = random.below(2) == 0;
    asked.fails = random.below(12) == 0;
    return asked;
}

void tell(Work& work, int account, std::string_view type, int amount) {
    work.outbox.append({.aggregate = {.type = "account", .id = std::to_string(account)},
                        .type = std::string(type),
                        .payload = "{\"amount\":" + std::to_string(amount) + "}"});
}

/// Only posts: the claim travels with it.
Result<CommandDecision> deposit(const Asked& asked, Work& work) {
    work.tx.post("UPDATE account SET balance = balance + $2 WHERE id = $1", asked.account, asked.amount);
    tell(work, asked.account, "deposited", asked.amount);
    if (asked.fails) return fail(Fault::broken, "it fails by itself");
    return Reply{
        .status = 201, .body = "deposited " + std::to_string(asked.amount), .headers = {{"X-Kind", "deposit"}}};
}

/// Reads first, and refuses what the account does not bear.
Result<CommandDecision> transfer(const Asked& asked, Work& work) {
    const Rows rows = SEMEL_TRY(work.tx.execute("SELECT balance FROM account WHERE id = $1", asked.account));
    const auto balance = SEMEL_TRY(rows.scalar<std::int64_t>());
    work.tx.post("UPDATE account SET balance = balance - $2 WHERE id = $1", asked.account, asked.amount);
    work.tx.post("UPDATE account SET balance = balance + $2 WHERE id = $1", asked.other, asked.amount);
    tell(work, asked.account, "withdrawn", asked.amount);
    tell(work, asked.other, "deposited", asked.amount);
    if (asked.fails) return fail(Fault::broken, "it fails by itself");
    if (balance < asked.amount)
        return Rejection{.reply = {.status = 409, .body = "only " + std::to_string(balance)},
                         .replay = asked.final_refusal ? Replay::yes : Replay::no};
    return Reply{.status = 200, .body = "moved " + std::to_string(asked.amount) + " of " + std::to_string(balance)};
}

/// One database under the same history.
class Side {
public:
    static Result<Side> create(const std::string& address) {
        auto opened = SEMEL_TRY(open(address));
        SEMEL_TRY(migrate(*opened.database, "semel", opened.schema, Deadline::after(system_clock().now(), 30s)));
        auto executor = SEMEL_TRY(Executor::create(*opened.database, {.cache_bytes = 0}));
        Side side(std::move(opened.database), std::move(executor), opened.dialect);
        side.run("CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL)");
        for (int id = 1; id <= accounts; ++id) side.run("INSERT INTO account VALUES ($1, 50)", id);
        return side;
    }

    /// Everything that a client could tell apart.
    std::string ask(const Asked& asked) {
        const auto outcome = executor_->execute(asked.command(), [&asked](Work& work) {
            return asked.operation == "deposit" ? deposit(asked, work) : transfer(asked, work);
        });
        if (outcome.unknown()) return "unknown";
        if (!outcome.committed()) {
            const auto verdict = verdict_of(outcome.error());
            return "not committed: " + std::string(name(outcome.error().fault)) +
                   (verdict ? " verdict " + std::to_string(static_cast<int>(*verdict)) : "");
        }
        const Answer& answer = outcome.value();
        std::string text = std::to_string(static_cast<int>(answer.standing)) + " " +
                           std::to_string(answer.reply.status) + " " + answer.reply.body;
        for (const auto& [field, value] : answer.reply.headers) text += " " + field + "=" + value;
        return text;
    }

    /// All that is stored, but for ids and times.
    std::string stored() {
        const bool sqlite = dialect_ == Dialect::sqlite;
        return rows(sqlite
                        ? Sql("SELECT operation || ' ' || key || ' ' || state || ' ' || coalesce(status, 0) || ' ' ||"
                              " coalesce(CAST(body AS TEXT), '') FROM semel_command_record ORDER BY operation, key")
                        : Sql("SELECT operation || ' ' || key || ' ' || state || ' ' || coalesce(status, 0) || ' ' ||"
                              " coalesce(convert_from(body, 'UTF8'), '') FROM semel.command_record"
                              " ORDER BY operation COLLATE \"C\", key COLLATE \"C\"")) +
               rows(sqlite ? Sql("SELECT aggregate_id || ' ' || type || ' ' || payload || ' ' || partition"
                                 " FROM semel_outbox_event ORDER BY aggregate_id, position")
                           : Sql("SELECT aggregate_id || ' ' || type || ' ' || payload || ' ' || partition"
                                 " FROM semel.outbox_event ORDER BY aggregate_id COLLATE \"C\", position")) +
               rows("SELECT id || ' ' || balance FROM account ORDER BY id");
    }

private:
    Side(std::unique_ptr<Database> database, std::unique_ptr<Executor> executor, Dialect dialect)
        : database_(std::move(database)), executor_(std::move(executor)), dialect_(dialect) {}

    template <class... Values>
    void run(Sql sql, const Values&... values) {
        const auto done = transact(*database_, [&](Transaction& tx) -> Status {
            tx.post(sql, values...);
            return {};
        });
        SEMEL_ASSERT(done.committed());
    }
    std::string rows(Sql sql) {
        const auto read = transact(*database_, [&](Transaction& tx) -> Result<std::string> {
            const Rows found = SEMEL_TRY(tx.execute(sql));
            std::string text;
            for (const Row row : found) text += SEMEL_TRY(row.get<std::string>(0)) + "\n";
            return text;
        });
        return read.committed() ? read.value() : "unreadable: " + read.error().describe();
    }

    std::unique_ptr<Database> database_;
    std::unique_ptr<Executor> executor_;
    Dialect dialect_;
};

TEST(Histories, AreTheSameOnSqliteAndOnPostgres) {
    const auto server = testing::shared_postgres();
    if (!server) GTEST_SKIP() << server.error().describe();
    const int histories = std::getenv("SEMEL_SOAK") != nullptr ? 500 : 12;
    for (int history = 1; history <= histories; ++history) {
        const auto folder = testing::TempDir::make("differential").value();
        auto sqlite = Side::create("sqlite:" + (folder.path() / "store.db").string());
        auto postgres = Side::create((*server)->fresh_database().value());
        ASSERT_TRUE(sqlite) << sqlite.error().describe();
        ASSERT_TRUE(postgres) << postgres.error().describe();
        SeededRandom random(static_cast<std::uint64_t>(history));
        for (int step = 0; step < 60; ++step) {
            const Asked asked = draw(random);
            const std::string one = sqlite->ask(asked);
            ASSERT_EQ(one, postgres->ask(asked))
                << "history " << history << ", step " << step << ": " << asked.operation << " " << asked.key;
            ASSERT_NE(one, "unknown");
        }
        const std::string stored = sqlite->stored();
        ASSERT_EQ(stored, postgres->stored()) << "history " << history;
        ASSERT_NE(stored.find("succeeded"), std::string::npos) << stored;
    }
}

}  // namespace
}  // namespace semel::differential
