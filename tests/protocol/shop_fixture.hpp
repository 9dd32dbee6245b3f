#pragma once

#include "semel/postgres/migrations.hpp"
#include "semel/postgres/open.hpp"
#include "semel/postgres/session.hpp"
#include "semel/testing/postgres_fixture.hpp"
#include "tests/protocol/shop.hpp"

#include <future>

namespace semel::protocol {

/// The shop in an empty database of the shared PostgreSQL.
class ShopTest : public testing::PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        auto opened = open_shop(url());
        ASSERT_TRUE(opened) << opened.error().describe();
        shop = *std::move(opened);
        const Status made = postgres().sql(std::string(shop_schema), database());
        ASSERT_TRUE(made) << made.error().describe();
    }

    [[nodiscard]] Ledger books() { return ledger(postgres(), database()); }
    [[nodiscard]] Ledger books(const std::string& key) { return ledger_of(postgres(), database(), key); }
    [[nodiscard]] std::string ask(const std::string& sql, const std::vector<std::string>& parameters = {}) {
        const auto answer = postgres().scalar(sql, database(), parameters);
        EXPECT_TRUE(answer) << answer.error().describe();
        return answer.value_or("");
    }

    /// A session past the executor: a bystander, or another program.
    [[nodiscard]] std::unique_ptr<postgres::PostgresSession> session(const std::string& address) {
        postgres::ConnectOptions options;
        options.connection = address;
        options.application_name = "bystander";
        auto made = postgres::connector(options).value()(shop.in(std::chrono::seconds(20)));
        EXPECT_TRUE(made) << made.error().describe();
        return std::unique_ptr<postgres::PostgresSession>(static_cast<postgres::PostgresSession*>(made->release()));
    }
    [[nodiscard]] std::unique_ptr<postgres::PostgresSession> session() { return session(url()); }

    /// How many server processes of this database wait for a lock right now.
    [[nodiscard]] int waiting_for_locks() {
        return std::stoi(ask(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"));
    }
    [[nodiscard]] std::string deadlocks() {
        return ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    }

    Shop shop;
};

/// Runs on a thread of its own.
template <class F>
[[nodiscard]] auto start(F work) {
    return std::async(std::launch::async, std::move(work));
}

}  // namespace semel::protocol
