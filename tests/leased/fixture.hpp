#pragma once

#include "semel/command/accept.hpp"
#include "semel/command/leased_settle.hpp"
#include "semel/command/sweeper.hpp"
#include "semel/command/worker.hpp"
#include "tests/conformance/target.hpp"
#include "tests/leased/bank.hpp"

#include <memory>
#include <string>

namespace semel::leased {

/// A process of its own: its sessions, its handlers, its executor.
struct Process {
    std::unique_ptr<Database> database;
    Operations operations;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<LeasedExecutor> leased;
};

/// Transfers that go through a bank: one row, one event and one reply for each. Time passes when `age` says so: it
/// moves everything that is stored back.
class LeasedTest : public conformance::ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run("CREATE TABLE transfer (id TEXT NOT NULL, receipt TEXT NOT NULL)");
        run("CREATE TABLE note (id TEXT NOT NULL)");
    }

    [[nodiscard]] bool sqlite() const { return GetParam() == conformance::Target::sqlite; }

    [[nodiscard]] static LeasedOptions options() {
        LeasedOptions options;
        options.lease = std::chrono::seconds(30);
        options.ask = {.grace = std::chrono::seconds(5), .asks_max = 3};
        options.attempts_max = 5;
        options.backoff.base = std::chrono::seconds(1);
        options.backoff.cap = std::chrono::seconds(10);
        return options;
    }

    /// Calls the bank, then writes down what it said. The payload is the amount.
    static LeasedHandler transfers(Bank& bank) {
        return [&bank](LeasedWork& work) -> Result<Finish> {
            const std::string key = work.command().identity.key();
            const Integration integration = bank.integration();
            const CallResponse response = SEMEL_TRY(work.call("move", integration, key, work.payload_text()));
            return Finish([key, response](Work& last) -> Result<Reply> { return written(last, key, response.body); });
        };
    }

    static Result<Reply> written(Work& work, const std::string& key, const std::string& receipt) {
        work.tx.post("INSERT INTO transfer (id, receipt) VALUES ($1, $2)", key, receipt);
        work.outbox.append(
            {.aggregate = {.type = "transfer", .id = key}, .type = "transfer.done", .payload = R"({"done":true})"});
        return Reply{.status = 201, .body = "transferred " + key + ": " + receipt, .headers = {{"ETag", "\"1\""}}};
    }

    void add_process(Process& process, LeasedHandler handler, const LeasedOptions& how = options(),
                     std::unique_ptr<Database> through = nullptr) {
        process.database = through ? std::move(through) : open_again();
        ASSERT_TRUE(process.operations.add("transfer", std::move(handler), how));
        auto executor = Executor::create(*process.database, {.cache_bytes = 0});
        ASSERT_TRUE(executor) << executor.error().describe();
        process.executor = *std::move(executor);
        auto leased = LeasedExecutor::create(*process.executor, process.operations);
        ASSERT_TRUE(leased) << leased.error().describe();
        process.leased = *std::move(leased);
    }

    [[nodiscard]] std::unique_ptr<Database> open_again(std::size_t sessions = 4) {
        DatabaseOptions how;
        how.catalogue = driver_.catalogue;
        how.pool.size = sessions;
        return Database::create(driver_.connect, how).value();
    }

    static Command command(std::string_view key, std::string_view content = "5") {
        return {.identity = Identity::of("shop", "web", "transfer", key).value(),
                .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(content))}};
    }
    static Outcome<Answer> execute(Process& process, std::string_view key, std::string_view content = "5") {
        return process.leased->execute(command(key, content), bytes_of(content));
    }

    static Answer answer(const Outcome<Answer>& outcome) {
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : Answer{};
    }
    static std::optional<ClaimVerdict> refused(const Outcome<Answer>& outcome) {
        EXPECT_TRUE(outcome.not_committed());
        return outcome.not_committed() ? verdict_of(outcome.error()) : std::nullopt;
    }

    /// Lets time pass for everything that is stored.
    void age(std::chrono::seconds by) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            const std::int64_t seconds = by.count();
            if (sqlite()) {
                tx.post(
                    "UPDATE semel_command_record SET lease_until = lease_until - $1 * 1000000, "
                    "next_attempt_at = next_attempt_at - $1 * 1000000, expires_at = expires_at - $1 * 1000000",
                    seconds);
                tx.post(
                    "UPDATE semel_call SET must_start_before = must_start_before - $1 * 1000000, "
                    "ends_by = ends_by - $1 * 1000000",
                    seconds);
            } else {
                tx.post(
                    "UPDATE semel.command_record SET lease_until = lease_until - $1 * interval '1 second', "
                    "next_attempt_at = next_attempt_at - $1 * interval '1 second', "
                    "expires_at = expires_at - $1 * interval '1 second'",
                    seconds);
                tx.post(
                    "UPDATE semel.call SET must_start_before = must_start_before - $1 * interval '1 second', "
                    "ends_by = ends_by - $1 * interval '1 second'",
                    seconds);
            }
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }

    static SweepReport sweep(Process& process) {
        const auto report = Sweeper(*process.leased).sweep();
        EXPECT_TRUE(report) << report.error().describe();
        return report.value_or(SweepReport());
    }
    /// Time passes and the sweeper comes by, until there is nothing left to do; bounded.
    void sweep_to_the_end(Process& process) {
        for (int i = 0; i < 20; ++i) {
            age(std::chrono::seconds(120));
            const std::int64_t ran = sweep(process).total();
            const auto worked = Worker(*process.leased).run_one();
            EXPECT_TRUE(worked) << worked.error().describe();
            if (ran == 0 && worked && !*worked) return;
        }
        ADD_FAILURE() << "something is swept again and again";
    }

    [[nodiscard]] NamedRecord record(std::string_view key) {
        auto executor = Executor::create(*database, {.cache_bytes = 0}).value();
        const auto found = executor->look_up(command(key).identity.command_id(), soon());
        EXPECT_TRUE(found) << found.error().describe();
        return found && *found ? **found : NamedRecord{};
    }
    [[nodiscard]] CommandState state(std::string_view key) { return record(key).record.state; }

    [[nodiscard]] std::int64_t transfers_written() { return count("SELECT count(*) FROM transfer"); }
    [[nodiscard]] std::int64_t notes() { return count("SELECT count(*) FROM note"); }
    [[nodiscard]] std::int64_t events() {
        return sqlite() ? count("SELECT count(*) FROM semel_outbox_event")
                        : count("SELECT count(*) FROM semel.outbox_event");
    }
    [[nodiscard]] Unresolved listed() {
        const auto found = unresolved(*database, soon());
        EXPECT_TRUE(found) << found.error().describe();
        return found.value_or(Unresolved());
    }
};

inline const char* target_name(const ::testing::TestParamInfo<conformance::Target>& target) {
    return conformance::name(target.param);
}

}  // namespace semel::leased
