// An event that does not keep its contract takes its whole command with it.

#include "semel/command/executor.hpp"
#include "semel/contract/contracts.hpp"
#include "tests/relay/fixture.hpp"

#include <gmock/gmock.h>

#include <array>

namespace semel::relaying {
namespace {

class RelayContract : public RelayTest {
protected:
    [[nodiscard]] std::unique_ptr<Executor> executor() {
        static constexpr std::array files{Contracts::File{"changed.v1", R"({"type":"object","required":["state"]})"}};
        const Contracts contracts = Contracts::parse(files).value();
        ExecutorOptions how;
        how.cache_bytes = 0;
        how.check_event = [contracts](const Event& one) { return contracts.check(one.type, one.payload, one.headers); };
        return Executor::create(*database, how).value();
    }
    static Command command(std::string_view key) {
        return {.identity = Identity::of("shop", "web", "order.change", key).value(),
                .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of("content"))}};
    }
    static auto telling(std::string payload) {
        return [payload](Work& work) -> Result<Reply> {
            Event one = event(1);
            one.payload = payload;
            work.outbox.append(one);
            return Reply{.status = 200, .body = "changed"};
        };
    }
};

TEST_P(RelayContract, ABreachIsTheProgramsErrorAndNothingIsKept) {
    const auto commands = executor();
    const auto broken = commands->execute(command("a"), telling("{}"));
    ASSERT_FALSE(broken.committed());
    EXPECT_FALSE(broken.unknown());
    EXPECT_EQ(broken.error().fault, Fault::broken);
    EXPECT_THAT(broken.error().describe(), ::testing::HasSubstr("state"));
    EXPECT_EQ(pending(), 0);
    const auto mended = commands->execute(command("a"), telling(R"({"state":"PAID"})"));
    ASSERT_TRUE(mended.committed()) << "the key is free for the mended program: " << mended.error().describe();
    EXPECT_EQ(mended.value().standing, Standing::executed);
    EXPECT_EQ(pending(), 1);
}

TEST_P(RelayContract, ARepeatIsAnsweredAlthoughTheProgramHasGotWorse) {
    const auto commands = executor();
    ASSERT_TRUE(commands->execute(command("a"), telling(R"({"state":"PAID"})")).committed());
    const auto repeat = commands->execute(command("a"), telling("{}"));
    ASSERT_TRUE(repeat.committed()) << repeat.error().describe();
    EXPECT_EQ(repeat.value().standing, Standing::replayed);
    EXPECT_EQ(pending(), 1);
}

INSTANTIATE_TEST_SUITE_P(Every, RelayContract,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
