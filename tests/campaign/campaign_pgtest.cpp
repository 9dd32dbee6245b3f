// A crowd sends the same keys at once, over real HTTP to the real service, while the worst happens to it: one effect
// per key, one reply per key, whatever is killed, cut or promoted. What was told is compared with what is there.

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/fault_proxy.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "tests/campaign/crowd.hpp"
#include "tests/orders/service.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace semel::campaign {
namespace {

using namespace std::chrono_literals;
using orders::testing::Service;
using testing::FaultProxy;
using testing::PostgresCluster;
using testing::ProxyPlan;
using testing::ProxyScope;

bool in_full() { return std::getenv("SEMEL_SOAK") != nullptr; }

/// What stands in a database, read past the service.
struct Books {
    std::int64_t payments = 0;
    std::int64_t quotes = 0;
    std::int64_t events = 0;
    std::int64_t records = 0;
    std::int64_t matched = 0;  ///< Effects with exactly the event and the record that belong to them.
    std::string ids;           ///< Of all effects, sorted, joined by commas.
};

constexpr Sql matched_postgres =
    "SELECT count(*) FROM (SELECT id::text, 'payment' AS type FROM orders_payment UNION ALL"
    "                      SELECT id::text, 'quote' FROM orders_quote) AS effect"
    " JOIN semel.outbox_event e ON e.aggregate_id = effect.id AND e.aggregate_type = effect.type"
    " JOIN semel.command_record r ON substr(encode(r.identity, 'hex'), 1, 32) ="
    "                                substr(e.headers::json->>'commandId', 5)"
    " WHERE coalesce(convert_from(r.body, 'UTF8')::json->>'paymentId',"
    "                convert_from(r.body, 'UTF8')::json->>'quoteId') = effect.id AND r.state = 'succeeded'";
constexpr Sql matched_sqlite =
    "SELECT count(*) FROM (SELECT id, 'payment' AS type FROM orders_payment UNION ALL"
    "                      SELECT id, 'quote' FROM orders_quote) AS effect"
    " JOIN semel_outbox_event e ON e.aggregate_id = effect.id AND e.aggregate_type = effect.type"
    " JOIN semel_command_record r ON substr(lower(hex(r.identity)), 1, 32) ="
    "                                substr(json_extract(e.headers, '$.commandId'), 5)"
    " WHERE coalesce(json_extract(CAST(r.body AS TEXT), '$.paymentId'),"
    "                json_extract(CAST(r.body AS TEXT), '$.quoteId')) = effect.id AND r.state = 'succeeded'";

Books read_books(const std::string& address) {
    auto opened = open(address);
    EXPECT_TRUE(opened) << opened.error().describe();
    if (!opened) return {};
    const bool sqlite = opened->dialect == Dialect::sqlite;
    Books books;
    TransactOptions options;
    options.transaction.access = Access::read_only;
    const auto outcome = transact(*opened->database, options, [&](Transaction& tx) -> Status {
        const auto number = [&](Sql sql) -> Result<std::int64_t> {
            return SEMEL_TRY(tx.execute(sql)).scalar<std::int64_t>();
        };
        books.payments = SEMEL_TRY(number("SELECT count(*) FROM orders_payment"));
        books.quotes = SEMEL_TRY(number("SELECT count(*) FROM orders_quote"));
        books.events = SEMEL_TRY(number(sqlite ? Sql("SELECT count(*) FROM semel_outbox_event")
                                               : Sql("SELECT count(*) FROM semel.outbox_event")));
        books.records = SEMEL_TRY(number(sqlite ? Sql("SELECT count(*) FROM semel_command_record")
                                                : Sql("SELECT count(*) FROM semel.command_record")));
        books.matched = SEMEL_TRY(number(sqlite ? matched_sqlite : matched_postgres));
        const Rows ids = SEMEL_TRY(tx.execute(
            sqlite ? Sql("SELECT coalesce(group_concat(id), '') FROM (SELECT id FROM orders_payment UNION ALL"
                         " SELECT id FROM orders_quote ORDER BY id)")
                   : Sql("SELECT coalesce(string_agg(id::text, ',' ORDER BY id::text), '') FROM"
                         " (SELECT id FROM orders_payment UNION ALL SELECT id FROM orders_quote) AS effect")));
        books.ids = SEMEL_TRY(ids.scalar<std::string>());
        return {};
    });
    EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
    return books;
}

/// What is there against what was told: one effect, one event, one record per key, and it is the one that was told.
void expect_books(const std::string& address, const Told& told, const CrowdOptions& options) {
    const Books books = read_books(address);
    EXPECT_EQ(books.payments, (options.keys + 1) / 2);
    EXPECT_EQ(books.quotes, options.keys / 2);
    EXPECT_EQ(books.events, options.keys);
    EXPECT_EQ(books.records, options.keys);
    EXPECT_EQ(books.matched, options.keys) << "effect, event and record do not belong together";
    std::set<std::string> ids;
    for (const auto& [key, id] : told.ids) ids.insert(id);
    std::string joined;
    for (const std::string& id : ids) joined += (joined.empty() ? "" : ",") + id;
    EXPECT_EQ(books.ids, joined) << "what was told and what is there differ";
}

class Campaign : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = testing::TempDir::make("campaign");
        ASSERT_TRUE(made) << made.error().describe();
        directory_.emplace(*std::move(made));
    }
    [[nodiscard]] std::string file() const { return "sqlite:" + (directory_->path() / "orders.db").string(); }

    void start_service(const std::string& address) {
        auto started = Service::start({.database = address, .config = "[limits]\nrequest_deadline = \"10s\"\n"});
        ASSERT_TRUE(started) << started.error().describe();
        service.emplace(*std::move(started));
    }

    /// Lets the crowd loose while `meanwhile` happens again and again.
    Told run(const char* name, const CrowdOptions& options,
             const std::function<void(const std::stop_token&)>& meanwhile = {}) {
        const Instant begun = system_clock().now();
        std::jthread trouble;
        if (meanwhile) trouble = std::jthread(meanwhile);
        Told told = run_crowd(service->port(), options);
        const auto seconds = std::chrono::duration<double>(system_clock().now() - begun).count();
        if (trouble.joinable()) {
            trouble.request_stop();
            trouble.join();
        }
        print(name, told, seconds);
        expect_one_answer_per_key(told, options);
        return told;
    }

    /// Kills the service every second and starts it again.
    [[nodiscard]] std::function<void(const std::stop_token&)> killing(int& kills) {
        return [this, &kills](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::this_thread::sleep_for(1s);
                service->kill();
                ++kills;
                const Status again = service->start_again();
                ASSERT_TRUE(again) << again.error().describe();
            }
        };
    }

    std::optional<testing::TempDir> directory_;
    std::optional<Service> service;
};

/// Where something happens meanwhile, the crowd takes its time: in `make test` two hundred keys, in full a thousand.
CrowdOptions unhurried() {
    CrowdOptions options;
    options.keys = in_full() ? 1000 : 200;
    options.pause_max = in_full() ? 300ms : 200ms;
    return options;
}

TEST_F(Campaign, OfAThousandKeysOnSqliteHasOneEffectEach) {
    start_service(file());
    if (HasFatalFailure()) return;
    const CrowdOptions options;
    const Told told = run("sqlite", options);
    ASSERT_TRUE(service->stop());
    expect_books(file(), told, options);
}

TEST_F(Campaign, OnSqliteWhileTheServiceIsKilledEverySecondHasOneEffectPerKey) {
    start_service(file());
    if (HasFatalFailure()) return;
    int kills = 0;
    const CrowdOptions options = unhurried();
    const Told told = run("sqlite, killed", options, killing(kills));
    std::printf("%d kills\n", kills);
    EXPECT_GT(kills, 1);
    EXPECT_GT(told.unanswered, 0U) << "nobody noticed";
    ASSERT_TRUE(service->stop());
    expect_books(file(), told, options);
}

class PostgresCampaign : public Campaign {
protected:
    void SetUp() override {
        Campaign::SetUp();
        if (HasFatalFailure()) return;
        auto started = PostgresCluster::start();
        ASSERT_TRUE(started) << started.error().describe();
        primary.emplace(*std::move(started));
    }
    void TearDown() override { service.reset(); }

    std::optional<PostgresCluster> primary;
};

TEST_F(PostgresCampaign, OfAThousandKeysHasOneEffectEach) {
    start_service(primary->url());
    if (HasFatalFailure()) return;
    const CrowdOptions options;
    const Told told = run("postgres", options);
    expect_books(primary->url(), told, options);
}

TEST_F(PostgresCampaign, WhileTheServiceIsKilledEverySecondHasOneEffectPerKey) {
    start_service(primary->url());
    if (HasFatalFailure()) return;
    int kills = 0;
    const CrowdOptions options = unhurried();
    const Told told = run("postgres, killed", options, killing(kills));
    std::printf("%d kills\n", kills);
    EXPECT_GT(kills, 1);
    EXPECT_GT(told.unanswered, 0U) << "nobody noticed";
    expect_books(primary->url(), told, options);
}

TEST_F(PostgresCampaign, WhileAnswersToCommitAreCutHasOneEffectPerKey) {
    auto proxy = FaultProxy::start(primary->port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    start_service((*proxy)->url());
    if (HasFatalFailure()) return;
    using Way = ProxyPlan::Way;
    constexpr std::array plans{ProxyPlan::cut_before_commit(), ProxyPlan::cut_after_commit_sent(Way::reset),
                               ProxyPlan::cut_after_commit_sent(Way::finish),
                               ProxyPlan::swallow_commit_answer(Way::reset),
                               ProxyPlan::swallow_commit_answer(Way::finish)};
    const CrowdOptions options;
    const Told told = run("postgres, answers cut", options, [&](const std::stop_token& stop) {
        SeededRandom random(1);
        std::uint64_t next = 0;
        while (!stop.stop_requested()) {
            // One commit in ten or so: if all were cut, the service would rightly leave the database alone.
            if ((*proxy)->counters().commits_seen >= next) {
                (*proxy)->set_plan(plans[random.below(plans.size())], ProxyScope::next_commit);
                next = (*proxy)->counters().commits_seen + 4 + random.below(12);
            }
            std::this_thread::sleep_for(1ms);
        }
        (*proxy)->clear_plans();
    });
    std::printf("%lu cuts\n", (*proxy)->counters().cuts);
    EXPECT_GT((*proxy)->counters().cuts, 20U);
    expect_books(primary->url(), told, options);
}

TEST_F(PostgresCampaign, WhileASynchronousStandbyIsPromotedHasOneEffectPerKey) {
    auto standby = primary->add_standby("sb1", true);
    ASSERT_TRUE(standby) << standby.error().describe();
    auto proxy = FaultProxy::start(primary->port());
    ASSERT_TRUE(proxy) << proxy.error().describe();
    start_service((*proxy)->url());
    if (HasFatalFailure()) return;
    const CrowdOptions options = unhurried();
    const Told told = run("postgres, promoted", options, [&](const std::stop_token&) {
        std::this_thread::sleep_for(1500ms);
        // In the middle of it all: the primary goes, the address moves, the standby takes over.
        ASSERT_TRUE(primary->kill9());
        (*proxy)->redirect(standby->port());
        const Status promoted = standby->promote();
        (*proxy)->cut_all();
        ASSERT_TRUE(promoted) << promoted.error().describe();
    });
    expect_books(standby->url(), told, options);
    service.reset();
}

}  // namespace
}  // namespace semel::campaign
