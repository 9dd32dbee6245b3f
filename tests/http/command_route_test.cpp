// What a command's failure is to the client who asked for it, through a real route on a real store.

#include "semel/http/command_route.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace semel::http {
namespace {

class CommandRouteTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = testing::TempDir::make("command-route");
        ASSERT_TRUE(made) << made.error().describe();
        directory_.emplace(*std::move(made));
        auto opened = open("sqlite:" + (directory_->path() / "store.db").string());
        ASSERT_TRUE(opened) << opened.error().describe();
        opened_.emplace(*std::move(opened));
        const auto migrated = migrate(*opened_->database, "semel", opened_->schema, {});
        ASSERT_TRUE(migrated) << migrated.error().describe();
        auto executor = Executor::create(*opened_->database);
        ASSERT_TRUE(executor) << executor.error().describe();
        executor_ = *std::move(executor);
    }

    /// The answer to a request whose handler does this.
    [[nodiscard]] Response ask(const CommandHandler& handle) {
        const Route route = CommandRoutes(*executor_).route({.operation = "transfer.order", .handle = handle});
        Request request;
        request.method = "POST";
        request.headers = {{"Idempotency-Key", "k"}};
        request.correlation_id = "c";
        request.who = {.tenant = "t", .caller = "c"};
        request.retry.owner = "gateway";
        return route.handle(request);
    }
    [[nodiscard]] static std::string code(const Response& response) {
        return nlohmann::json::parse(response.content()).value("code", "");
    }

    std::optional<testing::TempDir> directory_;
    std::optional<OpenedDatabase> opened_;
    std::unique_ptr<Executor> executor_;
};

TEST_F(CommandRouteTest, WhatTheOtherSideDidNotAnswerIsNoFailureOfTheStore) {
    int asked = 0;
    const auto ask_the_bank = [&](const Request&, Work&) -> Result<CommandDecision> {
        ++asked;
        return fail(Fault::unknown, "the bank did not answer");
    };
    const Response answer = ask(ask_the_bank);
    EXPECT_EQ(answer.status, 409U) << answer.content();
    EXPECT_EQ(code(answer), "EXTERNAL_OUTCOME_UNKNOWN");
    EXPECT_THAT(std::string(answer.content()), ::testing::HasSubstr("may or may not have happened"));
    EXPECT_EQ(asked, 1);
    // Nothing is stored: the same key asks again, and learns what became of it.
    const Response settled = ask([](const Request&, Work&) -> Result<CommandDecision> { return Reply{.status = 201}; });
    EXPECT_EQ(settled.status, 201U) << settled.content();
}

TEST_F(CommandRouteTest, AGuardThatFoundAnotherVersionIsAVersionConflict) {
    const Response answer = ask([](const Request&, Work& work) -> Result<CommandDecision> {
        work.tx.post_expecting(1, "DELETE FROM semel_outbox_event WHERE position = 0");
        return Reply{.status = 200};
    });
    EXPECT_EQ(answer.status, 409U) << answer.content();
    EXPECT_EQ(code(answer), "VERSION_CONFLICT");
}

}  // namespace
}  // namespace semel::http
