// Who asks: tokens decide, and nobody ever gets another's reply.

#include "semel/base/digest.hpp"
#include "semel/base/random.hpp"
#include "tests/orders/fixture.hpp"

#include <fstream>
#include <map>

namespace orders::testing {
namespace {

class OrdersCallers : public OrdersTest {};

TEST_P(OrdersCallers, ATokenSaysWhoItIsAndNobodyElseGetsIn) {
    auto directory = semel::testing::TempDir::make("tokens");
    ASSERT_TRUE(directory);
    const auto file = directory->path() / "tokens";
    std::ofstream(file) << "# the shop\n"
                        << semel::hex(semel::sha256(semel::bytes_of("sesame"))) << " shop web\n"
                        << semel::hex(semel::sha256(semel::bytes_of("mellon"))) << " mall web\n";
    start({.config = "tokens = \"" + file.string() + "\"\n"});
    const HttpResponse nobody = post("/api/v1/quotes", "k", quote_body);
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.code(), "UNAUTHENTICATED");
    EXPECT_EQ(get("/api/v1/quotes", {{"Authorization", "Bearer wrong"}}).status, 401);
    EXPECT_EQ(get("/api/v1/quotes", {{"Authorization", "Basic c2VzYW1l"}}).status, 401);
    const Fields shop{{"Authorization", "Bearer sesame"}};
    const HttpResponse made = post("/api/v1/quotes", "k", quote_body, shop);
    ASSERT_EQ(made.status, 201) << made.body;
    const HttpResponse forged =
        post("/api/v1/quotes", "k", quote_body, {{"Authorization", "Bearer sesame"}, {"X-Tenant-Id", "mall"}});
    EXPECT_EQ(forged.status, 403);
    EXPECT_EQ(forged.code(), "FORBIDDEN");
    // Authorised before replayed, even from memory.
    EXPECT_EQ(post("/api/v1/quotes", "k", quote_body).status, 401);
    EXPECT_EQ(post("/api/v1/quotes", "k", quote_body, shop).header("Idempotency-Replayed"), "true");
    const HttpResponse mall = post("/api/v1/quotes", "k", quote_body, {{"Authorization", "Bearer mellon"}});
    EXPECT_EQ(mall.status, 201);
    EXPECT_NE(mall.member("quoteId"), made.member("quoteId"));
    EXPECT_EQ(get(*made.header("Location"), {{"Authorization", "Bearer mellon"}}).status, 404);
    EXPECT_EQ(get(*made.header("Location"), shop).status, 200);
    EXPECT_EQ(get("/livez").status, 200) << "probes carry no token";
    EXPECT_EQ(get("/readyz").status, 200);
}

TEST_P(OrdersCallers, AMalformedTenantOrCallerIsRefused) {
    start();
    for (const char* name : {"", "a b", "a/b", "\xc3\xa4"}) {
        EXPECT_EQ(get("/api/v1/quotes", {{"X-Tenant-Id", name}}).status, 400) << name;
        EXPECT_EQ(get("/api/v1/quotes", {{"X-Caller-Id", name}}).status, 400) << name;
    }
    EXPECT_EQ(get("/api/v1/quotes", {{"X-Tenant-Id", "a"}, {"X-Tenant-Id", "b"}}).status, 400);
}

/// One who asks, and what for.
struct Asked {
    std::string tenant;
    std::string caller;
    std::string operation;
    std::string key;
    auto operator<=>(const Asked&) const = default;
};

TEST_P(OrdersCallers, TheSameKeyOfSomeoneElseNeverGetsTheOthersReply) {
    start();
    constexpr int trials = 10'000;
    constexpr int threads = 4;
    std::mutex mutex;
    std::map<Asked, std::string> replies;      // The first reply to each.
    std::map<std::string, Asked> owner_of_id;  // What was made belongs to one.
    std::atomic<int> replays = 0;
    const auto one_trial = [&](HttpConnection& connection, semel::SeededRandom& random) {
        const auto pick = [&](const char* prefix, std::uint64_t of) {
            return prefix + std::to_string(random.below(of));
        };
        const bool cases = random.below(2) == 0;
        const Asked asked{pick("t", 4), pick("c", 4), cases ? "cases" : "quotes", pick("k", 40)};
        // The same body from everyone: only who asks, and for what, tells one command from another.
        const HttpRequest request =
            posting("/api/v1/" + asked.operation, asked.key, cases ? R"({"subject":"same"})" : std::string(quote_body),
                    {{"X-Tenant-Id", asked.tenant}, {"X-Caller-Id", asked.caller}});
        auto answer = connection.exchange(request);
        ASSERT_TRUE(answer) << answer.error().describe();
        if (answer->code() == "REQUEST_ALREADY_IN_PROGRESS") return;
        ASSERT_EQ(answer->status, 201) << answer->body;
        const std::lock_guard guard(mutex);
        const auto [first, is_first] = replies.emplace(asked, answer->body);
        EXPECT_EQ(answer->body, first->second);
        if (answer->header("Idempotency-Replayed")) ++replays;
        const auto [owner, is_new] = owner_of_id.emplace(answer->member(cases ? "caseId" : "quoteId"), asked);
        EXPECT_TRUE(owner->second == asked) << "a reply of another's command";
        EXPECT_EQ(is_new, is_first);
    };
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < threads; ++i)
            clients.emplace_back([&, i] {
                semel::SeededRandom random(static_cast<std::uint64_t>(i) + 1);
                auto connection = HttpConnection::open(service->port());
                ASSERT_TRUE(connection) << connection.error().describe();
                for (int trial = 0; trial < trials / threads && !HasFatalFailure(); ++trial)
                    one_trial(*connection, random);
            });
    }
    EXPECT_EQ(count("SELECT count(*) FROM orders_quote") + count("SELECT count(*) FROM orders_case"),
              static_cast<std::int64_t>(replies.size()));
    EXPECT_GT(replies.size(), 1000);
    EXPECT_GT(replays, trials / 2);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersCallers, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
