// A process is killed while it writes down that a call to the other side was not begun, because its intent was durable too
// late. No test waits for a slow disk: the call is to begin within a nanosecond, which no COMMIT is done in.

#include "semel/testing/process.hpp"
#include "tests/leased/fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace semel::crash {
namespace {

constexpr const char* late_child_address = "SEMEL_LATE_CALL_TEST_ADDRESS";
constexpr const char* late_child_scene = "SEMEL_LATE_CALL_TEST_SCENE";
constexpr const char* late_child_capability = "SEMEL_LATE_CALL_TEST_CAPABILITY";
constexpr const char* late_child_ledger = "SEMEL_LATE_CALL_TEST_LEDGER";

/// How often money was moved: the other side's own book, which outlives whoever is killed.
int payments_in(const std::filesystem::path& ledger) {
    std::ifstream file(ledger);
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
}

Integration bank_of(const std::filesystem::path& ledger, Capability capability, Duration start_within) {
    Integration bank{.name = "bank", .capability = capability, .start_within = start_within};
    bank.perform = [ledger, capability](const CallRequest& request, Deadline) -> Result<CallResponse> {
        if (capability != Capability::takes_key || payments_in(ledger) == 0)
            std::ofstream(ledger, std::ios::app) << request.external_request_id << '\n' << std::flush;
        return CallResponse{.status = 201, .body = "moved"};
    };
    bank.query = [ledger](const CallQuestion&, Deadline) -> Result<std::optional<CallResponse>> {
        if (payments_in(ledger) == 0) return std::nullopt;
        return CallResponse{.status = 200, .body = "found"};
    };
    return bank;
}

LeasedHandler transfer_through(Integration bank) {
    return [bank = std::move(bank)](LeasedWork& work) -> Result<Finish> {
        const CallResponse response = SEMEL_TRY(work.call("move", bank, "k", "5"));
        return Finish([response](Work& last) -> Result<Reply> {
            last.tx.post("INSERT INTO transfer (id, receipt) VALUES ('k', $1)", response.body);
            last.outbox.append({.aggregate = {.type = "transfer", .id = "k"}, .type = "t", .payload = "{}"});
            return Reply{.status = 201, .body = response.body};
        });
    };
}

constexpr Duration in_time = std::chrono::seconds(5);
constexpr Duration always_late = std::chrono::nanoseconds(1);

/// The child: asks for a transfer in time, asks for one that is always late, or sweeps and is late.
TEST(LateCallCrashTest, DISABLED_IsTheChild) {
    const std::string scene = std::getenv(late_child_scene);
    const Integration bank =
        bank_of(std::getenv(late_child_ledger), parse_capability(std::getenv(late_child_capability)).value(),
                scene == "in time" ? in_time : always_late);
    const auto opened = open(std::getenv(late_child_address)).value();
    Operations operations;
    ASSERT_TRUE(operations.add("transfer", transfer_through(bank), LeasedOptions()));
    const auto executor = Executor::create(*opened.database).value();
    const auto leased = LeasedExecutor::create(*executor, operations).value();
    if (scene == "late sweep") {
        std::ignore = Sweeper(*leased).sweep();
        return;
    }
    const Command transfer{.identity = Identity::of("shop", "web", "transfer", "k").value(),
                           .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of("5"))}};
    std::ignore = leased->execute(transfer, bytes_of("5"));
}

class LateCallCrashTest : public leased::LeasedTest {
protected:
    void kill_child(const std::string& scene, const std::string& failpoint, Capability capability) {
        testing::Command child;
        child.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                      "--gtest_filter=LateCallCrashTest.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                      "--gtest_brief=1"};
        child.environment = {std::string(late_child_address) + "=" + address_,
                             std::string(late_child_scene) + "=" + scene,
                             std::string(late_child_capability) + "=" + std::string(semel::name(capability)),
                             std::string(late_child_ledger) + "=" + ledger().string(), "SEMEL_FAILPOINTS=" + failpoint};
        const auto ended = testing::run(child, std::chrono::seconds(60));
        ASSERT_TRUE(ended) << ended.error().describe();
        EXPECT_EQ(ended->exit.signal, SIGKILL) << failpoint << " was not reached: " << ended->output;
    }

    [[nodiscard]] std::filesystem::path ledger() const { return ledger_directory_.path() / "ledger"; }

    void start_anew() {
        run(sqlite() ? "DELETE FROM transfer; DELETE FROM semel_command_record; DELETE FROM semel_outbox_event"
                     : "DELETE FROM transfer; DELETE FROM semel.command_record; DELETE FROM semel.outbox_event");
        std::filesystem::remove(ledger());
    }

    /// The client asks again, the sweeper comes by: one effect at most, and an end.
    void check_the_end(Capability capability, int moved_before, const std::string& where) {
        leased::Process healthy;
        add_process(healthy, transfer_through(bank_of(ledger(), capability, in_time)));
        std::ignore = execute(healthy, "k");
        sweep_to_the_end(healthy);
        const CommandState ended = state("k");
        const int moved = payments_in(ledger());
        EXPECT_EQ(transfers_written(), ended == CommandState::succeeded ? 1 : 0) << where;
        EXPECT_EQ(events(), transfers_written()) << where;
        if (capability == Capability::takes_key) {
            EXPECT_EQ(ended, CommandState::succeeded) << where << ": " << semel::name(ended);
            EXPECT_EQ(moved, 1) << where;
            return;
        }
        EXPECT_EQ(moved, moved_before) << where << ": an intent without an answer is no licence to call again";
        // Of a call that was not made there is nothing to be found.
        EXPECT_EQ(ended, moved_before == 1 && capability == Capability::queryable ? CommandState::succeeded
                                                                                  : CommandState::needs_reconciliation)
            << where << ": " << semel::name(ended);
        EXPECT_EQ(listed().commands.size(), ended == CommandState::succeeded ? 0U : 1U) << where;
    }

    testing::TempDir ledger_directory_ = testing::TempDir::make("late-call").value();
};

TEST_P(LateCallCrashTest, WhereACallIsNotBegunLeavesNoEffectAndAnEnd) {
    for (const Capability capability : {Capability::takes_key, Capability::queryable, Capability::neither}) {
        for (const int visit : {1, 2, 3}) {
            const std::string failpoint = "call.not_begun=kill@" + std::to_string(visit);
            start_anew();
            kill_child("late", failpoint, capability);
            EXPECT_EQ(payments_in(ledger()), 0) << "it was too late to begin";
            check_the_end(capability, 0, failpoint + ", " + std::string(semel::name(capability)));
        }
    }
}

TEST_P(LateCallCrashTest, WhereARepeatIsNotBegunLeavesTheFirstInDoubtAndOneEffect) {
    kill_child("in time", "call.after_perform=kill", Capability::takes_key);
    EXPECT_EQ(payments_in(ledger()), 1);
    age(std::chrono::seconds(120));
    kill_child("late sweep", "call.not_begun=kill", Capability::takes_key);
    EXPECT_EQ(payments_in(ledger()), 1);
    check_the_end(Capability::takes_key, 1, "repeat");
}

INSTANTIATE_TEST_SUITE_P(Databases, LateCallCrashTest,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres),
                         leased::target_name);

}  // namespace
}  // namespace semel::crash
