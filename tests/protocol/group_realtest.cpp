// SQLite commits many commands with one fsync. What that must not do: tell one command that another was done before
// it is durable, or answer for what was undone with the group.

#include "semel/sqlite/open.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/protocol/shop.hpp"

#include <atomic>
#include <barrier>
#include <cstdio>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

class GroupOfCommands : public ::testing::Test {
protected:
    void SetUp() override {
        auto opened = open_shop("sqlite:" + path(), patient(24));
        ASSERT_TRUE(opened) << opened.error().describe();
        shop = *std::move(opened);
        run(shop_schema);
    }
    [[nodiscard]] std::string path() const { return (directory_.path() / "store.db").string(); }

    void run(std::string_view script) {
        const auto outcome = transact(*shop.database, [&](Transaction& tx) { return tx.run_script(script); });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    template <class... Values>
    [[nodiscard]] std::int64_t count(Sql sql, const Values&... values) {
        TransactOptions options;
        options.transaction.access = Access::read_only;  // On a connection of its own: only what is committed.
        const auto outcome = transact(*shop.database, options, [&](Transaction& tx) -> Result<std::int64_t> {
            return SEMEL_TRY(tx.execute(sql, values...)).template scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }
    /// What was answered must be durable when it is answered, not a moment later.
    void expect_durable(const std::string& key) {
        EXPECT_EQ(count("SELECT count(*) FROM semel_command_record WHERE key = $1", key), 1) << key;
        EXPECT_EQ(count("SELECT count(*) FROM payment WHERE id = $1", key), 1) << key;
    }
    void expect_one_each(std::int64_t commands) {
        EXPECT_EQ(count("SELECT count(*) FROM payment"), commands);
        EXPECT_EQ(count("SELECT count(DISTINCT id) FROM payment"), commands);
        EXPECT_EQ(count("SELECT count(*) FROM semel_outbox_event"), commands);
        EXPECT_EQ(count("SELECT count(*) FROM semel_command_record"), commands);
    }

    testing::TempDir directory_ = testing::TempDir::make("group").value();
    Shop shop;
};

TEST_F(GroupOfCommands, DuplicatesWithinOneCommitHaveOneEffectAndOneReply) {
    constexpr int threads = 16;
    constexpr int keys = 40;
    CommandOptions options;
    options.in_progress = InProgress::wait;
    options.in_progress_wait = 20s;
    std::atomic<int> executed = 0;
    {
        std::vector<std::jthread> clients;
        for (int thread = 0; thread < threads; ++thread)
            clients.emplace_back([&, thread] {
                for (int n = 0; n < keys; ++n) {
                    const std::string key = std::to_string(n);
                    const auto outcome =
                        shop.executor->execute(command(key), options, pays((thread + n) % 2 == 0, key));
                    ASSERT_TRUE(outcome.committed()) << told(outcome);
                    EXPECT_EQ(outcome.value().reply, reply_of(key));
                    if (outcome.value().standing == Standing::executed) ++executed;
                    expect_durable(key);
                }
            });
    }
    EXPECT_EQ(executed, keys);
    expect_one_each(keys);
}

TEST_F(GroupOfCommands, AMemberThatDestroysItsGroupTakesNoAnswerWithIt) {
    run("CREATE TABLE once (id INTEGER PRIMARY KEY)");
    run("INSERT INTO once (id) VALUES (0)");
    constexpr int threads = 12;
    constexpr int rounds = 40;
    std::atomic<int> destroyed = 0;
    std::atomic<int> answered = 0;
    {
        std::vector<std::jthread> clients;
        for (int thread = 0; thread < threads; ++thread)
            clients.emplace_back([&, thread] {
                for (int round = 0; round < rounds; ++round) {
                    const std::string key = std::to_string(thread * rounds + round);
                    if (thread < 2) {
                        // Rolls back everything that shares its commit.
                        const auto destroys = [&](Work& work) -> Result<Reply> {
                            post_payment(work, key);
                            work.tx.post("INSERT OR ROLLBACK INTO once (id) VALUES (0)");
                            return reply_of(key);
                        };
                        const auto outcome = shop.executor->execute(command(key), destroys);
                        EXPECT_TRUE(outcome.not_committed()) << told(outcome);
                        ++destroyed;
                        continue;
                    }
                    auto outcome = shop.pay(thread % 2 == 0, key);
                    for (int again = 0; again < 20 && !outcome.committed(); ++again) {
                        EXPECT_TRUE(outcome.not_committed()) << told(outcome);
                        outcome = shop.pay(thread % 2 == 0, key);
                    }
                    ASSERT_TRUE(outcome.committed()) << told(outcome);
                    EXPECT_EQ(outcome.value().reply, reply_of(key));
                    expect_durable(key);
                    ++answered;
                }
            });
    }
    std::printf("%d answered, %d destroyers\n", answered.load(), destroyed.load());
    EXPECT_EQ(answered, (threads - 2) * rounds);
    expect_one_each(answered);
}

TEST_F(GroupOfCommands, ARefusalThatReadWhatWasUndoneIsVoid) {
    run("CREATE TABLE once (id INTEGER PRIMARY KEY)");
    run("INSERT INTO once (id) VALUES (0)");
    // A handler refuses because it sees the payment of another, which may yet be undone with the group and is then not
    // tried again. A refusal may stand only if what it was decided by is there for good.
    constexpr int rounds = 300;
    constexpr int askers = 3;
    int refused = 0;
    int undone = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string key = std::to_string(round);
        std::atomic<int> refused_now = 0;
        std::barrier at_once(askers + 2);
        {
            std::jthread payer([&] {
                Command asked = command(key);
                asked.owner = RetryOwner::outer;
                at_once.arrive_and_wait();
                std::ignore = shop.executor->execute(asked, pays_after_reading(key));
            });
            std::jthread destroyer([&] {
                const auto destroys = [](Work& work) -> Result<Reply> {
                    work.tx.post("INSERT OR ROLLBACK INTO once (id) VALUES (0)");
                    return Reply{};
                };
                at_once.arrive_and_wait();
                std::ignore = shop.executor->execute(command("destroy " + key), destroys);
            });
            std::vector<std::jthread> asking;
            for (int asker = 0; asker < askers; ++asker)
                asking.emplace_back([&, asker] {
                    const auto refuses_if_paid = [&](Work& work) -> Result<CommandDecision> {
                        const Rows rows = SEMEL_TRY(work.tx.execute("SELECT count(*) FROM payment WHERE id = $1", key));
                        if (SEMEL_TRY(rows.scalar<std::int64_t>()) > 0) return Rejection{.reply = {.status = 409}};
                        return Reply{.status = 200};
                    };
                    at_once.arrive_and_wait();
                    const auto outcome =
                        shop.executor->execute(command("ask " + std::to_string(asker) + " " + key), refuses_if_paid);
                    if (outcome.committed() && outcome.value().standing == Standing::rejected) ++refused_now;
                });
        }
        const std::int64_t paid = count("SELECT count(*) FROM payment WHERE id = $1", key);
        undone += paid == 0 ? 1 : 0;
        refused += refused_now;
        EXPECT_TRUE(refused_now == 0 || paid == 1) << key << ": refused because of a payment that never was";
    }
    std::printf("%d rounds, %d payments undone, %d refusals\n", rounds, undone, refused);
    EXPECT_GT(undone, 0);
    EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace semel::protocol
