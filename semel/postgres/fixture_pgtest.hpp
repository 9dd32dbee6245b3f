#pragma once

#include "semel/db/transaction.hpp"
#include "semel/postgres/migrations.hpp"
#include "semel/postgres/open.hpp"
#include "semel/postgres/session.hpp"
#include "semel/testing/postgres_fixture.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace semel::postgres {

/// Tests of sessions, each with an empty database that has semel's schema.
class SessionTest : public testing::PostgresTest {
protected:
    void SetUp() override {
        testing::PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        for (const Migration& step : migrations()) sql(std::string(step.sql));
    }

    static Deadline in(Duration duration) { return Deadline::after(system_clock().now(), duration); }
    static Deadline soon() { return in(std::chrono::seconds(20)); }

    static std::unique_ptr<PostgresSession> open(ConnectOptions options) {
        const auto connect = connector(std::move(options));
        EXPECT_TRUE(connect) << connect.error().describe();
        auto session = (*connect)(soon());
        EXPECT_TRUE(session) << session.error().describe();
        if (!session) return nullptr;
        return std::unique_ptr<PostgresSession>(static_cast<PostgresSession*>(session->release()));
    }
    std::unique_ptr<PostgresSession> open() {
        ConnectOptions options;
        options.connection = url();
        return open(options);
    }

    void sql(const std::string& text) {
        const Status done = postgres().sql(text, database());
        ASSERT_TRUE(done) << done.error().describe();
    }
    std::string ask(const std::string& text) {
        const auto answer = postgres().scalar(text, database());
        EXPECT_TRUE(answer) << answer.error().describe();
        return answer.value_or("");
    }
};

/// `outcome`, told in full when an expectation about it fails.
inline std::string told(const Outcome<>& outcome) {
    return outcome.committed() ? "committed"
                               : (outcome.unknown() ? "unknown: " : "not committed: ") + outcome.error().describe();
}

}  // namespace semel::postgres
