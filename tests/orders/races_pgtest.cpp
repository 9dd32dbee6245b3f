// What may be there only once, raced for by many clients under keys of their own: one order of a quote revision, one asset
// of a product instance, one pending approval of a revision. Several at once, and with the place taken beforehand.

#include "tests/orders/order_journey.hpp"

namespace orders::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int clients = 32;
constexpr int prizes = 4;
constexpr int rivals = clients / prizes;  ///< For each of them.

/// What the rivals for one prize were told.
struct Told {
    std::map<std::string, int> answers{};
    std::vector<std::string> made{};   ///< The ids that winners got.
    std::vector<std::string> named{};  ///< The ids that losers were shown.
};

class OrdersRaces : public OrderJourneyTest {
protected:
    using Act = std::function<HttpResponse(int client)>;

    /// All clients at once; client n is after prize n % prizes. As many as the service lets in have read before the
    /// first may write, where PostgreSQL holds the `lock`.
    [[nodiscard]] std::vector<Told> race(const Act& act, const std::string& id_member, const std::string& lock) {
        Blocker blocker(database(), GetParam(), lock);
        const std::jthread releasing([&] {
            pause_for(std::chrono::milliseconds(300));
            blocker.release();
        });
        return race(act, id_member);
    }
    [[nodiscard]] static std::vector<Told> race(const Act& act, const std::string& id_member) {
        std::mutex mutex;
        std::vector<Told> told(prizes);
        std::ignore = at_once(clients, [&](int client) {
            HttpResponse answer = act(client);
            const std::lock_guard lock(mutex);
            Told& group = told[static_cast<std::size_t>(client % prizes)];
            const bool is_done = answer.status < 300;
            ++group.answers[std::to_string(answer.status) + (is_done ? "" : " " + answer.code())];
            if (is_done)
                group.made.push_back(answer.member(id_member));
            else
                group.named.push_back(answer.member("existingId"));
            return answer;
        });
        return told;
    }

    [[nodiscard]] HttpResponse submit(const QuoteAt& quote) {
        return post(quote.path("/submit"), fresh_key(), "{}", quote.seen());
    }
    [[nodiscard]] HttpResponse convert(const QuoteAt& quote) {
        return post(quote.path("/convert-to-order"), fresh_key(), "{}", quote.seen());
    }
    [[nodiscard]] HttpResponse complete(const TaskAt& task) {
        return post(task.seen().path + "/complete", fresh_key(), "{}", task.seen().guard());
    }

    /// All are told of the one thing that is in the way, and nothing is done.
    void expect_all_refused(const Act& act, const std::string& existing) {
        const std::int64_t before = events();
        for (const Told& told : race(act, "")) {
            EXPECT_THAT(told.answers, ElementsAre(Pair("409 DUPLICATE_BUSINESS_COMMAND", rivals)));
            EXPECT_THAT(told.named, Each(existing));
        }
        EXPECT_EQ(events(), before);
        EXPECT_EQ(count("SELECT count(*) FROM orders_audit"), before);
    }

    static constexpr const char* in_the_way = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";
};

TEST_P(OrdersRaces, EachOfSeveralQuotesBecomesOneOrder) {
    start();
    std::vector<QuoteAt> quotes;
    for (int i = 0; i < prizes; ++i) quotes.push_back(journey.accepted({Journey::cheap, Journey::cheap}));
    const auto told = race([&](int client) { return convert(quotes[static_cast<std::size_t>(client % prizes)]); },
                           "orderId", "LOCK TABLE orders_order IN EXCLUSIVE MODE");
    for (const Told& one : told) {
        EXPECT_THAT(one.answers, ElementsAre(Pair("201", 1), Pair("409 DUPLICATE_BUSINESS_COMMAND", rivals - 1)));
        ASSERT_THAT(one.made, SizeIs(1));
        EXPECT_THAT(one.named, Each(one.made.front()));
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_order"), prizes);
    EXPECT_EQ(events("order.created"), prizes);
    EXPECT_EQ(events("quote.converted"), prizes);
    expect_consistent_orders();
}

TEST_P(OrdersRaces, EachOfSeveralQuotesAsksOnceForApproval) {
    start();
    std::vector<QuoteAt> quotes;
    for (int i = 0; i < prizes; ++i) quotes.push_back(journey.draft_with_items({Journey::dear}));
    const auto told = race([&](int client) { return submit(quotes[static_cast<std::size_t>(client % prizes)]); },
                           "quoteId", "LOCK TABLE orders_quote_approval IN EXCLUSIVE MODE");
    for (const Told& one : told)
        EXPECT_THAT(one.answers, ElementsAre(Pair("200", 1), Pair("409 INVALID_STATE_TRANSITION", rivals - 1)));
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval"), prizes);
    EXPECT_EQ(count("SELECT count(DISTINCT quote_id) FROM orders_quote_approval WHERE state = 'PENDING'"), prizes);
    EXPECT_EQ(events("quote.submitted"), prizes);
}

TEST_P(OrdersRaces, EachOfSeveralInstancesGetsOneAsset) {
    start();
    std::vector<TaskAt> last;
    for (int client = 0; client < clients; ++client)
        last.push_back(all_but_the_last(make_order({item_on("line-" + std::to_string(client % prizes))})));
    const auto told = race([&](int client) { return complete(last[static_cast<std::size_t>(client)]); }, "orderId",
                           "LOCK TABLE orders_asset IN EXCLUSIVE MODE");
    for (const Told& one : told) {
        EXPECT_THAT(one.answers, ElementsAre(Pair("200", 1), Pair("409 DUPLICATE_BUSINESS_COMMAND", rivals - 1)));
        ASSERT_THAT(one.made, SizeIs(1));
        EXPECT_THAT(one.named, Each(members("/api/v1/assets?orderId=" + one.made.front(), "assetId").front()));
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_asset"), prizes);
    EXPECT_EQ(count("SELECT count(DISTINCT instance_key) FROM orders_asset WHERE state = 'ACTIVE'"), prizes);
    EXPECT_EQ(events("asset.created"), prizes);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE state = 'COMPLETED'"), prizes);
    expect_consistent_orders();
}

// No state and no version tells of these rows: what refuses is the row itself, or the unique index that it takes.

TEST_P(OrdersRaces, WithAnOrderInTheWayNobodyConverts) {
    start();
    const QuoteAt quote = journey.accepted();
    run("INSERT INTO orders_order (tenant, id, quote_id, quote_revision, customer_id, currency, state, version, net, "
        "tax,"
        " gross, target_date, task_count, open_task_count, failed_task_count, created_at)"
        " SELECT tenant, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12', id, revision, customer_id, currency, 'CREATED', 1,"
        " net, tax, gross, '', 0, 0, 0, created_at FROM orders_quote");
    expect_all_refused([&](int) { return convert(quote); }, in_the_way);
    EXPECT_EQ(get(quote.path()).member("state"), "ACCEPTED");
    EXPECT_EQ(count("SELECT count(*) FROM orders_task"), 0);
}

TEST_P(OrdersRaces, WithAnApprovalInTheWayNobodySubmits) {
    start();
    const QuoteAt quote = journey.draft_with_items({Journey::dear});
    run("INSERT INTO orders_quote_approval (tenant, id, quote_id, revision, state, needed, granted, created_at)"
        " SELECT tenant, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12', id, revision, 'PENDING', 1, 0, created_at"
        " FROM orders_quote");
    expect_all_refused([&](int) { return submit(quote); }, in_the_way);
    EXPECT_EQ(get(quote.path()).member("state"), "DRAFT");
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote_approval"), 1);
}

TEST_P(OrdersRaces, WithAnAssetInTheWayNobodyCompletes) {
    start();
    std::vector<TaskAt> last;
    for (int i = 0; i < prizes; ++i) last.push_back(all_but_the_last(make_order({item_on("line-4711")})));
    run("INSERT INTO orders_asset (tenant, id, order_id, item_id, customer_id, instance_key, sku, quantity, state,"
        " version, created_at) SELECT tenant, '0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12', id, id, customer_id, 'line-4711',"
        " 'fiber-100', 1, 'SUSPENDED', 1, created_at FROM orders_order ORDER BY id LIMIT 1");
    expect_all_refused([&](int client) { return complete(last[static_cast<std::size_t>(client % prizes)]); },
                       in_the_way);
    EXPECT_EQ(count("SELECT count(*) FROM orders_asset"), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order WHERE state = 'IN_PROGRESS'"), prizes);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersRaces, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
