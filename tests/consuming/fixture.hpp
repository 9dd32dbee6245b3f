#pragma once

#include "semel/base/log.hpp"
#include "semel/consumer/consumer.hpp"
#include "semel/testing/scripted_source.hpp"
#include "tests/conformance/target.hpp"

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace semel::consuming {

using conformance::eventually;
using conformance::target_name;

using testing::ScriptedSource;

/// What a handler did, in the order of the commits of each key.
using Effects = std::vector<std::pair<std::string, std::string>>;

/// The handler of these tests: one row for each message.
inline Status note_effect(ConsumerWork& work) {
    work.tx.post("INSERT INTO effect (message, order_key) VALUES ($1, $2)", work.message.id, work.message.key);
    return {};
}

inline ReceivedMessage message(const std::string& id, const std::string& key = {}, const std::string& payload = "{}") {
    return {.id = id, .tenant = "shop", .topic = "orders", .key = key, .type = "changed", .payload = payload};
}

inline ConsumerOptions quick_options(const std::string& name = "billing") {
    ConsumerOptions options;
    options.name = name;
    options.rules.attempts_max = 3;
    options.rules.held_max = 32;
    options.rules.backoff.base = std::chrono::milliseconds(1);
    options.rules.backoff.throttled_base = std::chrono::milliseconds(1);
    options.rules.backoff.cap = std::chrono::milliseconds(20);
    options.rules.poll = std::chrono::milliseconds(50);
    return options;
}

/// A consumer that writes one row per message, on a broker in memory.
class ConsumerTest : public conformance::ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        set_log_sink({});
        run(sqlite() ? "CREATE TABLE effect (n INTEGER PRIMARY KEY AUTOINCREMENT, message TEXT NOT NULL,"
                       " order_key TEXT NOT NULL)"
                     : "CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text NOT NULL,"
                       " order_key text NOT NULL)");
    }
    void TearDown() override {
        set_log_sink(
            [](LogLevel, std::string_view line) { std::fprintf(stderr, "%.*s\n", int(line.size()), line.data()); });
    }
    [[nodiscard]] bool sqlite() const { return GetParam() == conformance::Target::sqlite; }

    [[nodiscard]] std::unique_ptr<Consumer> consumer(Source& from, const ConsumerOptions& options = quick_options(),
                                                     ConsumerHandler handler = note_effect) {
        auto made = Consumer::create(*database, from, options, std::move(handler));
        EXPECT_TRUE(made) << made.error().describe();
        return *std::move(made);
    }
    /// Works until everything was acknowledged or parked, waiting as the consumer would.
    static void work_off(Consumer& one, const ScriptedSource& from) {
        EXPECT_TRUE(eventually([&] {
            one.run_until_idle();
            return from.empty();
        }));
    }

    [[nodiscard]] Effects effects() {
        auto outcome = transact(*database, [](Transaction& tx) -> Result<Effects> {
            const Rows rows = SEMEL_TRY(tx.execute("SELECT message, order_key FROM effect ORDER BY n"));
            Effects all;
            for (const Row row : rows)
                all.emplace_back(SEMEL_TRY(row.get<std::string>(0)), SEMEL_TRY(row.get<std::string>(1)));
            return all;
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? std::move(outcome).value() : Effects{};
    }
    /// How often each message had its effect.
    [[nodiscard]] std::map<std::string, int> effect_counts() {
        std::map<std::string, int> counts;
        for (const auto& [id, key] : effects()) ++counts[id];
        return counts;
    }
    void expect_each_once(std::size_t messages) {
        const auto counts = effect_counts();
        EXPECT_EQ(counts.size(), messages) << "none is lost";
        for (const auto& [id, times] : counts) EXPECT_EQ(times, 1) << id;
    }
    [[nodiscard]] std::int64_t inbox_rows() {
        return sqlite() ? count("SELECT count(*) FROM semel_inbox_message")
                        : count("SELECT count(*) FROM semel.inbox_message");
    }
    [[nodiscard]] std::int64_t attempt_rows() {
        return sqlite() ? count("SELECT count(*) FROM semel_inbox_attempt")
                        : count("SELECT count(*) FROM semel.inbox_attempt");
    }

    ScriptedSource source;
};

}  // namespace semel::consuming
