// Events: their order within an aggregate is the order of commits, and their locks are bounded.

#include "semel/db/lock_key.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <set>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

class EventOrder : public ShopTest {};

TEST_F(EventOrder, WithinAnAggregateIsTheOrderOfCommits) {
    // A commit that takes its time after positions were drawn: without the lock, later positions would overtake it.
    const Status slow = postgres().sql(
        "CREATE FUNCTION take_your_time() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_sleep(random() * 0.004); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER take_your_time AFTER INSERT ON payment DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION take_your_time()",
        database());
    ASSERT_TRUE(slow) << slow.error().describe();
    constexpr int writers = 8;
    constexpr int commits = 40;
    constexpr int aggregates = 4;
    std::atomic<int> done = 0;
    int polls = 0;
    int late = 0;
    std::map<std::string, std::int64_t> newest;
    std::set<std::int64_t> seen;
    // What a relay does: reads what is there, and never expects anything to appear below what it has read.
    const auto poll = [&] {
        ++polls;
        const std::string all =
            ask("SELECT coalesce(string_agg(aggregate_id || '=' || position, ',' ORDER BY position), '')"
                " FROM semel.outbox_event");
        std::map<std::string, std::int64_t> newest_now = newest;
        for (std::string_view rest = all; !rest.empty();) {
            const std::string_view one = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), one.size() + 1));
            const std::string aggregate(one.substr(0, one.find('=')));
            const std::int64_t position = std::stoll(std::string(one.substr(one.find('=') + 1)));
            if (!seen.insert(position).second) continue;
            if (position < newest[aggregate]) ++late;
            newest_now[aggregate] = std::max(newest_now[aggregate], position);
        }
        newest = std::move(newest_now);
    };
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.emplace_back([&, writer] {
                for (int n = 0; n < commits; ++n) {
                    const std::string key = std::to_string(writer * commits + n);
                    const auto tells = [&](Work& work) -> Result<Reply> {
                        work.tx.post("INSERT INTO payment (id, amount) VALUES ($1, 1)", key);
                        // Two aggregates each, in either order: the locks are taken in one.
                        for (const int which : {n, n + writer})
                            work.outbox.append({.aggregate = {.type = "till", .id = std::to_string(which % aggregates)},
                                                .type = "till.changed",
                                                .payload = "{}"});
                        return Reply{};
                    };
                    const auto outcome = shop.executor->execute(command(key), tells);
                    EXPECT_TRUE(outcome.committed()) << told(outcome);
                }
                ++done;
            });
        while (done < writers) poll();
    }
    poll();
    std::printf("%d commits, %zu events, %d polls, %d late\n", writers * commits, seen.size(), polls, late);
    EXPECT_EQ(late, 0);
    EXPECT_EQ(seen.size(), 2U * writers * commits);
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), std::to_string(2 * writers * commits));
    EXPECT_EQ(deadlocks(), "0");
}

TEST_F(EventOrder, ACommandWithThousandsOfAggregatesHoldsABoundedNumberOfLocks) {
    constexpr int aggregates = 2000;
    std::set<std::uint32_t> stripes;
    Outbox outbox(shop.executor->append_statements(), "shop", shop.database->clock(), shop.database->random());
    for (int n = 0; n < aggregates; ++n) {
        const Aggregate aggregate{.type = "payment", .id = std::to_string(n)};
        stripes.insert(place_of("shop", aggregate).stripe);
        outbox.append({.aggregate = aggregate, .type = "t", .payload = "{}"});
    }
    ASSERT_LT(stripes.size(), static_cast<std::size_t>(aggregates));
    auto own = session();
    Transaction tx(*own, {.marked = false}, shop.in(30s));
    outbox.post_to(tx);
    const Status written = tx.flush();
    ASSERT_TRUE(written) << written.error().describe();
    EXPECT_EQ(ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
                  " (SELECT oid FROM pg_database WHERE datname = current_database())"),
              std::to_string(stripes.size()));
    ASSERT_TRUE(std::move(tx).rollback());
    // And as a command, blind: one flush, whatever its length.
    const auto tells = [](Work& work) -> Result<Reply> {
        for (int n = 0; n < aggregates; ++n)
            work.outbox.append(
                {.aggregate = {.type = "payment", .id = std::to_string(n)}, .type = "t", .payload = "{}"});
        return Reply{};
    };
    const auto outcome = shop.executor->execute(command("many"), tells);
    ASSERT_TRUE(outcome.committed()) << told(outcome);
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), std::to_string(aggregates));
}

TEST_F(EventOrder, CommandsThatShareAggregatesInOppositeOrderDoNotDeadlock) {
    // A deadlock would be found at once, and again, and again: then the count tells.
    ASSERT_TRUE(postgres().sql(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 20', current_database()); END $$",
        database()));
    shop = open_shop(url()).value();
    constexpr int threads = 6;
    {
        std::vector<std::jthread> writers;
        for (int thread = 0; thread < threads; ++thread)
            writers.emplace_back([&, thread] {
                for (int n = 0; n < 30; ++n) {
                    const auto tells = [&](Work& work) -> Result<Reply> {
                        for (int i = 0; i < 10; ++i) {
                            const int which = thread % 2 == 0 ? i : 9 - i;
                            work.outbox.append({.aggregate = {.type = "till", .id = std::to_string(which)},
                                                .type = "t",
                                                .payload = "{}"});
                        }
                        return Reply{};
                    };
                    const auto outcome =
                        shop.executor->execute(command(std::to_string(thread * 100 + n)), CommandOptions{}, tells);
                    EXPECT_TRUE(outcome.committed()) << told(outcome);
                }
            });
    }
    EXPECT_EQ(deadlocks(), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM semel.outbox_event"), std::to_string(threads * 30 * 10));
}

/// Services in other languages name the same command by the same bytes, and meet at the same lock.
class Identities : public ShopTest {};

TEST_F(Identities, AndTheirLocksAreTheSameInTheDatabase) {
    const Command asked = command("k");
    EXPECT_EQ(ask("SELECT encode(semel.identity('shop', 'web', 'payment.create', 'k'), 'hex')"),
              hex(asked.identity.digest()));
    EXPECT_EQ(ask("SELECT semel.lock_key('semel.claim', semel.identity('shop', 'web', 'payment.create', 'k'))"),
              std::to_string(asked.identity.lock()));
    for (int n = 0; n < 50; ++n) {
        const std::string key = std::string(static_cast<std::size_t>(n % 255) + 1, static_cast<char>(' ' + n));
        const Identity identity = Identity::of("t" + key.substr(0, 20), "~", "a b", key).value();
        EXPECT_EQ(
            ask("SELECT encode(semel.identity($1, $2, $3, $4), 'hex')", {"t" + key.substr(0, 20), "~", "a b", key}),
            hex(identity.digest()));
    }
    const std::array<std::byte, 3> value{std::byte{0}, std::byte{0xff}, std::byte{1}};
    EXPECT_EQ(ask(R"(SELECT semel.lock_key('semel.append', '\x00ff01'))"),
              std::to_string(lock_key("semel.append", value)));
}

}  // namespace
}  // namespace semel::protocol
