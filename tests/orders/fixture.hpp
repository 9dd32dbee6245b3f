#pragma once

#include "semel/db/transact.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/orders/http_client.hpp"
#include "tests/orders/openapi_check.hpp"
#include "tests/orders/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace orders::testing {

enum class Target { sqlite, postgres };

inline const char* name(Target target) { return target == Target::sqlite ? "sqlite" : "postgres"; }

/// Base of the tests that run on both databases: an empty one for each test, and the real service on it.
class OrdersTest : public ::testing::TestWithParam<Target> {
protected:
    void SetUp() override {
        if (GetParam() == Target::sqlite) {
            auto made = semel::testing::TempDir::make("orders");
            ASSERT_TRUE(made) << made.error().describe();
            directory_.emplace(*std::move(made));
            address = "sqlite:" + (directory_->path() / "orders.db").string();
        } else {
            const auto shared = semel::testing::shared_postgres();
            if (!shared) GTEST_SKIP() << shared.error().describe();
            const auto made = (*shared)->fresh_database();
            ASSERT_TRUE(made) << made.error().describe();
            address = *made;
        }
    }

    void start(ServiceOptions options = {}) {
        if (options.database.empty()) options.database = address;
        auto started = Service::start(std::move(options));
        ASSERT_TRUE(started) << started.error().describe();
        service.emplace(*std::move(started));
        openapi = OpenApiCheck::of_service(service->port());
        ASSERT_TRUE(openapi);
    }

    /// One request on a connection of its own. A request that gets no answer fails the test and has status 0; an
    /// answer that /openapi.json does not allow fails it too.
    [[nodiscard]] HttpResponse send(const HttpRequest& request) const {
        auto answered = call(service->port(), request);
        EXPECT_TRUE(answered) << request.method << " " << request.target << ": " << answered.error().describe();
        if (!answered) return {};
        EXPECT_EQ(openapi->complaint(request, *answered), "")
            << request.method << " " << request.target << " -> " << answered->status << " " << answered->body;
        return *std::move(answered);
    }
    [[nodiscard]] HttpResponse get(const std::string& target, const Fields& headers = {}) const {
        return send({.method = "GET", .target = target, .headers = headers});
    }
    [[nodiscard]] static HttpRequest posting(const std::string& target, const std::string& key, const std::string& body,
                                             const Fields& headers = {}) {
        HttpRequest request{.method = "POST", .target = target, .headers = headers, .body = body};
        request.headers.emplace_back("Idempotency-Key", key);
        request.headers.emplace_back("Content-Type", "application/json");
        return request;
    }
    [[nodiscard]] HttpResponse post(const std::string& target, const std::string& key, const std::string& body,
                                    const Fields& headers = {}) const {
        return send(posting(target, key, body, headers));
    }

    // Bodies that are fine.
    static constexpr const char* quote_body = R"({"customerId":"c-1","currency":"EUR"})";
    static constexpr const char* item_body = R"({"sku":"chair","quantity":2,"unitPrice":"12.50"})";
    [[nodiscard]] static std::string payment_body(const std::string& reference, const std::string& amount = "10.00") {
        return R"({"reference":")" + reference + R"(","amount":")" + amount + R"(","currency":"EUR"})";
    }
    /// The id of a new quote.
    [[nodiscard]] std::string make_quote(const std::string& key = "make-quote") const {
        const HttpResponse made = post("/api/v1/quotes", key, quote_body);
        EXPECT_EQ(made.status, 201) << made.body;
        return made.member("quoteId");
    }

    /// The same database, as the test sees it.
    [[nodiscard]] semel::Database& database() {
        if (!database_) database_ = semel::open(address).value().database;
        return *database_;
    }
    template <class... Values>
    [[nodiscard]] std::int64_t count(semel::Sql sql, const Values&... values) {
        const auto outcome = semel::transact(database(), [&](semel::Transaction& tx) -> semel::Result<std::int64_t> {
            return SEMEL_TRY(tx.execute(sql, values...)).template scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }
    void run(std::string_view script) {
        const auto outcome = semel::transact(database(), [&](semel::Transaction& tx) { return tx.run_script(script); });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    [[nodiscard]] std::int64_t events() {
        return GetParam() == Target::sqlite ? count("SELECT count(*) FROM semel_outbox_event")
                                            : count("SELECT count(*) FROM semel.outbox_event");
    }
    [[nodiscard]] std::int64_t events(std::string_view type) {
        return GetParam() == Target::sqlite ? count("SELECT count(*) FROM semel_outbox_event WHERE type = $1", type)
                                            : count("SELECT count(*) FROM semel.outbox_event WHERE type = $1", type);
    }

    template <class... Values>
    [[nodiscard]] std::string text(semel::Sql sql, const Values&... values) {
        const auto outcome = semel::transact(database(), [&](semel::Transaction& tx) -> semel::Result<std::string> {
            return SEMEL_TRY(tx.execute(sql, values...)).template scalar<std::string>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : "";
    }
    /// The payload of the last event of this type that tells of this thing.
    [[nodiscard]] std::string payload_of(std::string_view type, std::string_view aggregate_id) {
        return GetParam() == Target::sqlite
                   ? text(
                         "SELECT payload FROM semel_outbox_event WHERE type = $1 AND aggregate_id = $2"
                         " ORDER BY position DESC LIMIT 1",
                         type, aggregate_id)
                   : text(
                         "SELECT payload FROM semel.outbox_event WHERE type = $1 AND aggregate_id = $2"
                         " ORDER BY position DESC LIMIT 1",
                         type, aggregate_id);
    }
    /// What a consumer has processed, and what it has set aside.
    [[nodiscard]] std::int64_t inbox(std::string_view consumer) {
        return GetParam() == Target::sqlite
                   ? count("SELECT count(*) FROM semel_inbox_message WHERE consumer = $1", consumer)
                   : count("SELECT count(*) FROM semel.inbox_message WHERE consumer = $1", consumer);
    }
    [[nodiscard]] std::int64_t parked(std::string_view consumer) {
        return GetParam() == Target::sqlite
                   ? count("SELECT count(*) FROM semel_inbox_parked WHERE consumer = $1", consumer)
                   : count("SELECT count(*) FROM semel.inbox_parked WHERE consumer = $1", consumer);
    }
    /// Why.
    [[nodiscard]] std::string parked_reason(std::string_view consumer, std::string_view message_id) {
        return GetParam() == Target::sqlite
                   ? text("SELECT reason FROM semel_inbox_parked WHERE consumer = $1 AND message_id = $2", consumer,
                          message_id)
                   : text("SELECT reason FROM semel.inbox_parked WHERE consumer = $1 AND message_id = $2", consumer,
                          message_id);
    }

    std::optional<semel::testing::TempDir> directory_;
    std::string address;
    std::optional<Service> service;
    std::shared_ptr<OpenApiCheck> openapi;  ///< Of what `start` started.

private:
    std::unique_ptr<semel::Database> database_;
};

/// Keeps writers waiting from construction until `release`: in SQLite all of them, in PostgreSQL those whom `lock` stops.
class Blocker {
public:
    Blocker(semel::Database& database, Target target, std::string lock);
    ~Blocker() { release(); }
    void release();

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool held_ = false;
    bool released_ = false;
    std::jthread thread_;
};

inline void pause_for(semel::Duration length) {
    semel::Clock& clock = semel::system_clock();
    std::ignore = clock.sleep(clock.now() + length, {});
}

}  // namespace orders::testing
