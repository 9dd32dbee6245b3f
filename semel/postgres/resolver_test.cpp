#include "semel/postgres/resolver.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gmock/gmock.h>

#include <netdb.h>

#include <future>

namespace semel::postgres {
namespace {

using testing::ManualClock;

TEST(Resolver, TakesAnAddressAsItIs) {
    ManualClock clock;
    const Lookup never = [](const std::string&, std::vector<std::string>&) -> int { return EAI_FAIL; };
    EXPECT_THAT(*resolve_name("127.0.0.1", Deadline::never(), clock, never), ::testing::ElementsAre("127.0.0.1"));
    EXPECT_THAT(*resolve_name("::1", Deadline::never(), clock, never), ::testing::ElementsAre("::1"));
}

TEST(Resolver, GivesUpOnANameServerThatDoesNotAnswer) {
    ManualClock clock;
    std::promise<void> answer;
    std::promise<void> ended;
    const Lookup slow = [&](const std::string&, std::vector<std::string>&) -> int {
        answer.get_future().wait();
        ended.set_value();
        return 0;
    };
    const auto found = resolve_name("db.example", Deadline::after(clock.now(), std::chrono::seconds(3)), clock, slow);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().cause.timeout, Timeout::dns);
    EXPECT_EQ(found.error().fault, Fault::unavailable);
    EXPECT_THAT(found.error().message, ::testing::HasSubstr("db.example"));
    answer.set_value();
    ended.get_future().wait();
}

TEST(Resolver, SaysThatANameIsUnknown) {
    ManualClock clock(ManualClock::Waiting::blocks);
    const Lookup unknown = [](const std::string&, std::vector<std::string>&) -> int { return EAI_NONAME; };
    const auto found = resolve_name("db.exmaple", Deadline::never(), clock, unknown);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message, "host name db.exmaple is unknown");
    EXPECT_EQ(found.error().cause.timeout, Timeout::none);
    EXPECT_THAT(found.error().cause.hint, ::testing::HasSubstr("spelling"));
}

TEST(Resolver, KeepsTheOrderOfTheAddresses) {
    ManualClock clock(ManualClock::Waiting::blocks);
    const Lookup two = [](const std::string&, std::vector<std::string>& addresses) -> int {
        addresses = {"10.0.0.2", "10.0.0.1"};
        return 0;
    };
    EXPECT_THAT(*resolve_name("db.example", Deadline::never(), clock, two),
                ::testing::ElementsAre("10.0.0.2", "10.0.0.1"));
}

}  // namespace
}  // namespace semel::postgres
