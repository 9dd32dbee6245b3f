#pragma once

#include "semel/command/executor.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"
#include "semel/testing/postgres_cluster.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

namespace semel::protocol {

/// Asks until it is so; false: not within ten seconds. For what another process or thread brings about.
[[nodiscard]] inline bool eventually(const std::function<bool()>& so) {
    const Instant limit = system_clock().now() + std::chrono::seconds(10);
    while (!so()) {
        if (system_clock().now() > limit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

/// A door that a thread waits at until another opens it.
class Gate {
public:
    /// Returns once it is open.
    void pass() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
    }
    /// Returns once someone waits at it.
    void await_someone() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_ > 0; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

/// Opens the gate at the end of the scope, whatever fails before.
struct OpenAtEnd {
    Gate& gate;
    ~OpenAtEnd() { gate.open(); }
    OpenAtEnd(Gate& one) : gate(one) {}
    OpenAtEnd(const OpenAtEnd&) = delete;
    OpenAtEnd& operator=(const OpenAtEnd&) = delete;
};

/// The business of these tests: payments, one event each, and a till whose row payments may change.
inline constexpr std::string_view shop_schema =
    "CREATE TABLE payment (id TEXT NOT NULL, amount BIGINT NOT NULL);"
    "CREATE TABLE till (id BIGINT PRIMARY KEY, epoch BIGINT NOT NULL, total BIGINT NOT NULL);"
    "INSERT INTO till (id, epoch, total) VALUES (1, 1, 0);";

inline Command command(std::string_view key, std::string_view content = "amount 1") {
    return {.identity = Identity::of("shop", "web", "payment.create", key).value(),
            .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(content))}};
}

inline Reply reply_of(const std::string& id) {
    return {.status = 201, .body = "paid " + id, .headers = {{"Location", "/payments/" + id}}};
}

inline void post_payment(Work& work, const std::string& id) {
    // No unique key of the business's own: a second effect would show.
    work.tx.post("INSERT INTO payment (id, amount) VALUES ($1, 1)", id);
    work.outbox.append(
        {.aggregate = {.type = "payment", .id = id}, .type = "payment.created", .payload = R"({"paid":true})"});
}

/// Only posts: one flush in all.
inline auto pays_blindly(const std::string& id) {
    return [id](Work& work) -> Result<Reply> {
        post_payment(work, id);
        return reply_of(id);
    };
}

/// Reads first: the claim is answered before COMMIT is sent.
inline auto pays_after_reading(const std::string& id) {
    return [id](Work& work) -> Result<Reply> {
        SEMEL_TRY(work.tx.execute("SELECT epoch FROM till WHERE id = 1"));
        post_payment(work, id);
        return reply_of(id);
    };
}

inline Handler pays(bool blind, const std::string& id) {
    return [blind, id](Work& work) -> Result<CommandDecision> {
        return CommandDecision(SEMEL_TRY(blind ? pays_blindly(id)(work) : pays_after_reading(id)(work)));
    };
}

/// Options for servers that these tests maltreat: the breaker and the budget are not what is tested.
inline DatabaseOptions patient(std::size_t pool_size = 16) {
    DatabaseOptions options;
    options.pool.size = pool_size;
    options.breaker.attempts_min = 100'000;
    options.budget.floor_per_second = 100'000;
    return options;
}

/// A database with its schema and an executor without a cache, so that every repeat asks.
struct Shop {
    std::unique_ptr<Database> database;
    std::unique_ptr<Executor> executor;

    [[nodiscard]] Outcome<Answer> pay(bool blind, const std::string& key, Deadline deadline = {}) const {
        Command asked = command(key);
        asked.deadline = deadline;
        return executor->execute(asked, pays(blind, key));
    }
    [[nodiscard]] Deadline in(Duration duration) const { return Deadline::after(database->clock().now(), duration); }
};

inline Result<Shop> open_shop(std::string_view address, const DatabaseOptions& options = patient(),
                              std::size_t cache_bytes = 0) {
    auto opened = SEMEL_TRY(open(address, options));
    Shop shop{.database = std::move(opened.database), .executor = nullptr};
    SEMEL_TRY(migrate(*shop.database, "semel", opened.schema, shop.in(std::chrono::seconds(30))));
    shop.executor = SEMEL_TRY(Executor::create(*shop.database, {.cache_bytes = cache_bytes}));
    return shop;
}

inline std::string told(const Outcome<Answer>& outcome) {
    if (outcome.committed()) return "committed: " + outcome.value().reply.body;
    return (outcome.unknown() ? "unknown: " : "not committed: ") + outcome.error().describe();
}

inline std::optional<ClaimVerdict> refused(const Outcome<Answer>& outcome) {
    EXPECT_TRUE(outcome.not_committed()) << told(outcome);
    return outcome.not_committed() ? verdict_of(outcome.error()) : std::nullopt;
}

/// What a PostgreSQL database holds, read past the library.
struct Ledger {
    std::string payments, events, records;
    friend bool operator==(const Ledger&, const Ledger&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Ledger& ledger) {
    return out << ledger.payments << " payments, " << ledger.events << " events, " << ledger.records << " records";
}
inline Ledger ledger(const testing::PostgresCluster& server, std::string_view database) {
    const auto ask = [&](const std::string& sql) { return server.scalar(sql, database).value_or("no answer"); };
    return {.payments = ask("SELECT count(*) FROM payment"),
            .events = ask("SELECT count(*) FROM semel.outbox_event"),
            .records = ask("SELECT count(*) FROM semel.command_record")};
}
inline Ledger ledger_of(const testing::PostgresCluster& server, std::string_view database, const std::string& key) {
    const auto ask = [&](const std::string& sql) { return server.scalar(sql, database, {key}).value_or("no answer"); };
    return {.payments = ask("SELECT count(*) FROM payment WHERE id = $1"),
            .events = ask("SELECT count(*) FROM semel.outbox_event WHERE aggregate_id = $1"),
            .records = ask("SELECT count(*) FROM semel.command_record WHERE key = $1 AND state = 'succeeded'")};
}

}  // namespace semel::protocol
