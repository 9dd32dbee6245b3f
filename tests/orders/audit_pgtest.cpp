// What there is to show months later: who did what to which thing, by which command, and how often they asked again.

#include "tests/orders/fixture.hpp"

#include <nlohmann/json.hpp>

#include <atomic>

namespace orders::testing {
namespace {

using nlohmann::json;

class OrdersAudit : public OrdersTest {
protected:
    /// The lines of one resource and of what belongs to it.
    [[nodiscard]] std::vector<json> audit(const std::string& resource) const {
        const HttpResponse answer = get("/api/v1/audit?limit=100&resource=" + resource);
        EXPECT_EQ(answer.status, 200) << answer.body;
        return json::parse(answer.body).at("items").get<std::vector<json>>();
    }
};

TEST_P(OrdersAudit, TellsWhoChangedWhatByWhichCommandFromWhatToWhat) {
    start();
    const HttpResponse made = post("/api/v1/quotes", "make", quote_body, {{"X-Caller-Id", "ann"}});
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string id = made.member("quoteId");
    const HttpResponse added =
        post("/api/v1/quotes/" + id + "/items", "add", item_body,
             {{"X-Caller-Id", "bob"}, {"If-Match", "\"quote-version-1\""}, {"X-Correlation-Id", "corr-7"}});
    ASSERT_EQ(added.status, 201) << added.body;

    const auto lines = audit("quotes/" + id);
    ASSERT_EQ(lines.size(), 2);
    EXPECT_EQ(lines[0].at("caller"), "ann");
    EXPECT_EQ(lines[0].at("operation"), "quote.create");
    EXPECT_EQ(lines[0].at("toState"), "DRAFT");
    EXPECT_EQ(lines[0].at("toVersion"), 1);
    EXPECT_FALSE(lines[0].contains("fromState")) << "it did not exist";
    EXPECT_EQ(lines[1].at("caller"), "bob");
    EXPECT_EQ(lines[1].at("fromState"), "DRAFT");
    EXPECT_EQ(lines[1].at("fromVersion"), 1);
    EXPECT_EQ(lines[1].at("toVersion"), 2);
    EXPECT_EQ(lines[1].at("correlationId"), "corr-7");
    EXPECT_EQ(lines[1].at("runs"), 1);
    // The command that it names can be asked about.
    const HttpResponse command =
        get("/api/v1/commands/" + lines[1].at("commandId").get<std::string>(), {{"X-Caller-Id", "bob"}});
    EXPECT_EQ(command.status, 200) << command.body;
    // The same resource by its path and by its id alone.
    EXPECT_EQ(audit("/api/v1/quotes/" + id), lines);
    EXPECT_EQ(audit(id), lines);
}

TEST_P(OrdersAudit, WhatWasRefusedLeavesNoLine) {
    start();
    const std::string id = make_quote();
    EXPECT_EQ(post("/api/v1/quotes/" + id + "/items", "stale", item_body, {{"If-Match", "\"quote-version-9\""}}).status,
              412);
    EXPECT_EQ(audit(id).size(), 1);
}

TEST_P(OrdersAudit, CountsHowOftenAReplyWasAskedForAgain) {
    start();
    const std::string id = make_quote("again");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(post("/api/v1/quotes", "again", quote_body).status, 201);
    std::vector<json> lines;
    for (int i = 0; i < 200; ++i) {
        lines = audit(id);
        ASSERT_EQ(lines.size(), 1);
        if (lines[0].at("replays") == 5) break;
        pause_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(lines[0].at("replays"), 5);
    EXPECT_TRUE(lines[0].contains("lastReplayAt"));
}

TEST_P(OrdersAudit, CountsTheRepeatsOfAClientWhoDoesNotWaitToo) {
    start();
    const Fields later{{"Prefer", "respond-async"}};
    HttpResponse told = post("/api/v1/payments", "later", payment_body("r"), later);
    for (int i = 0; i < 500 && told.status == 202; ++i) {
        pause_for(std::chrono::milliseconds(10));
        told = post("/api/v1/payments", "later", payment_body("r"), later);
    }
    ASSERT_EQ(told.status, 201) << told.body;
    std::vector<json> lines;
    for (int i = 0; i < 200 && (lines.empty() || lines[0].at("replays") == 0); ++i) {
        pause_for(std::chrono::milliseconds(50));
        lines = audit("payments/" + told.member("paymentId"));
    }
    EXPECT_EQ(lines.at(0).at("replays"), 1);
}

TEST_P(OrdersAudit, WhatWasCountedIsWrittenBeforeTheServiceEnds) {
    start();
    const std::string id = make_quote("again");
    EXPECT_EQ(post("/api/v1/quotes", "again", quote_body).status, 201);
    const auto ended = service->stop();
    ASSERT_TRUE(ended) << ended.error().describe();
    ASSERT_TRUE(service->start_again());
    EXPECT_EQ(audit(id).at(0).at("replays"), 1);
}

TEST_P(OrdersAudit, SurvivesTheRecordsOfTheCommands) {
    start();
    const std::string id = make_quote();
    const auto before = audit(id);
    run(GetParam() == Target::sqlite ? "DELETE FROM semel_command_record" : "DELETE FROM semel.command_record");
    EXPECT_EQ(audit(id), before);
}

TEST_P(OrdersAudit, IsReadPageByPage) {
    start();
    const std::string id = make_quote();
    for (int version = 1; version < 4; ++version)
        ASSERT_EQ(post("/api/v1/quotes/" + id + "/items", "item-" + std::to_string(version), item_body,
                       {{"If-Match", "\"quote-version-" + std::to_string(version) + "\""}})
                      .status,
                  201);
    std::vector<json> read;
    std::string cursor;
    for (int page = 0; page < 4; ++page) {
        const HttpResponse answer = get("/api/v1/audit?limit=1&resource=quotes/" + id + cursor);
        ASSERT_EQ(answer.status, 200) << answer.body;
        const json body = json::parse(answer.body);
        ASSERT_EQ(body.at("items").size(), 1);
        read.push_back(body.at("items")[0]);
        EXPECT_EQ(body.contains("nextCursor"), page < 3);
        cursor = "&cursor=" + answer.member("nextCursor");
    }
    EXPECT_EQ(read, audit(id));
}

TEST_P(OrdersAudit, AThingOfAnotherKindIsNotTheOneThatWasAskedFor) {
    start();
    EXPECT_EQ(get("/api/v1/audit?resource=payments/" + make_quote()).status, 404);
}

TEST_P(OrdersAudit, ListsTheChangesOfAResourceInTheOrderInWhichTheyWereMade) {
    start();
    const std::string id = make_quote();
    // Somebody adds whenever somebody else has: every version by another thread, as fast as they can.
    std::atomic<int> version = 1;
    {
        std::vector<std::jthread> clients;
        for (int client = 0; client < 4; ++client)
            clients.emplace_back([&, client] {
                for (int i = 0; version < 20; ++i) {
                    const int seen = version;
                    const HttpResponse added =
                        post("/api/v1/quotes/" + id + "/items", std::to_string(client) + "-" + std::to_string(i),
                             item_body, {{"If-Match", "\"quote-version-" + std::to_string(seen) + "\""}});
                    if (added.status == 201) version = seen + 1;
                }
            });
    }
    int last = 0;
    for (const json& line : audit(id)) {
        EXPECT_EQ(line.at("toVersion"), last + 1);
        ++last;
    }
    EXPECT_GE(last, 20);
}

TEST_P(OrdersAudit, AnotherTenantSeesNothing) {
    start();
    const std::string id = make_quote();
    const HttpResponse other = get("/api/v1/audit?resource=quotes/" + id, {{"X-Tenant-Id", "other"}});
    EXPECT_EQ(other.status, 404) << other.body;
}

TEST_P(OrdersAudit, SaysWhatAResourceLooksLike) {
    start();
    const std::string id = make_quote();
    for (const std::string& query :
         std::vector<std::string>{"", "?resource=", "?resource=quotes", "?resource=quotes/7", "?resource=chairs/" + id,
                                  "?resource=/api/v2/quotes/" + id, "?resource=nonsense/x/quotes/" + id,
                                  "?limit=0&resource=" + id, "?kind=quote&resource=" + id}) {
        const HttpResponse answer = get("/api/v1/audit" + query);
        EXPECT_EQ(answer.status, 400) << query << answer.body;
        EXPECT_NE(answer.member("detail"), "") << query;
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersAudit, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
