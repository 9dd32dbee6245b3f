#include "semel/command/leased_executor.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

/// A doorbell that rings after each command.
class RelayRing : public RelayTest {
protected:
    [[nodiscard]] std::unique_ptr<Executor> executor() {
        return Executor::create(*database, {.on_executed = [this] { bell.ring(); }}).value();
    }
    static Command command(std::string_view key, std::string_view operation = "order.change") {
        return {.identity = Identity::of("shop", "web", operation, key).value(),
                .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of("content"))}};
    }
    static Result<Reply> change(Work& work) {
        work.outbox.append(event(1));
        return Reply{.status = 200, .body = "changed"};
    }
};

TEST_P(RelayRing, RingsForWhatCommittedAndForNothingElse) {
    const auto commands = executor();
    const auto first = commands->execute(command("a"), change);
    ASSERT_TRUE(first.committed()) << first.error().describe();
    EXPECT_EQ(bell.rings(), 1U);
    EXPECT_EQ(pending(), 1) << "what it rang for is visible";
    const auto repeat = commands->execute(command("a"), change);
    ASSERT_TRUE(repeat.committed());
    EXPECT_EQ(repeat.value().standing, Standing::replayed);
    const auto failed = commands->execute(
        command("b"), [](Work&) -> Result<Reply> { return fail(Fault::rejected, "it cannot be done"); });
    EXPECT_FALSE(failed.committed());
    EXPECT_EQ(bell.rings(), 1U);
}

TEST_P(RelayRing, RingsForALeasedCommandOnceItsEndHasCommitted) {
    const auto commands = executor();
    Operations operations;
    const LeasedHandler handler = [this](LeasedWork&) -> Result<Finish> {
        EXPECT_EQ(bell.rings(), 0U) << "nothing has been told yet";
        return Finish([](Work& last) { return change(last); });
    };
    ASSERT_TRUE(operations.add("order.lease", handler, LeasedOptions()));
    const auto leased = LeasedExecutor::create(*commands, operations).value();
    const auto done = leased->execute(command("a", "order.lease"), bytes_of("content"));
    ASSERT_TRUE(done.committed()) << done.error().describe();
    EXPECT_EQ(bell.rings(), 1U);
    EXPECT_EQ(pending(), 1);
}

INSTANTIATE_TEST_SUITE_P(Every, RelayRing,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
