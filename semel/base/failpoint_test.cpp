#include "semel/base/failpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace semel {
namespace {

#if defined(SEMEL_FAILPOINTS)

using ::testing::ElementsAre;

TEST(Failpoint, CallsTheHookWhileItLives) {
    std::vector<std::string> visited;
    {
        const failpoint::Hook hook([&](std::string_view name) { visited.emplace_back(name); });
        SEMEL_FAILPOINT("base_test.one");
        SEMEL_FAILPOINT("base_test.two");
    }
    SEMEL_FAILPOINT("base_test.three");
    EXPECT_THAT(visited, ElementsAre("base_test.one", "base_test.two"));
}

TEST(FailpointDeathTest, OnlyOneHookAtATime) {
    const failpoint::Hook hook([](std::string_view) {});
    EXPECT_DEATH(failpoint::Hook([](std::string_view) {}), "one failpoint hook at a time");
}

/// The environment is read once per process, so each of these runs in a new one.
class FailpointEnvironmentDeathTest : public ::testing::Test {
protected:
    FailpointEnvironmentDeathTest() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
    /// Visits three failpoints with this environment, then ends with code 0.
    static void visit_with(const char* environment) {
        ::setenv("SEMEL_FAILPOINTS", environment, 1);
        SEMEL_FAILPOINT("base_test.first");
        SEMEL_FAILPOINT("base_test.second");
        SEMEL_FAILPOINT("base_test.second");
        std::_Exit(0);
    }
};

TEST_F(FailpointEnvironmentDeathTest, KillsTheProcessAtTheNamedOne) {
    EXPECT_EXIT(visit_with("base_test.first=kill"), ::testing::KilledBySignal(SIGKILL), "");
    EXPECT_EXIT(visit_with("other=kill,base_test.second=kill@2"), ::testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FailpointEnvironmentDeathTest, LeavesTheProcessAloneAtAllOthers) {
    EXPECT_EXIT(visit_with("other=kill"), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(visit_with("base_test.second=kill@3"), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(visit_with(""), ::testing::ExitedWithCode(0), "");
}

TEST_F(FailpointEnvironmentDeathTest, MisspeltActionAborts) {
    for (const char* wrong : {"base_test.first", "base_test.first=kil", "base_test.first=kill@",
                              "base_test.first=kill@0", "base_test.first=kill2"})
        EXPECT_EXIT(visit_with(wrong), ::testing::KilledBySignal(SIGABRT), "assertion failed") << wrong;
}

#else

TEST(Failpoint, IsCompiledOut) {
    SEMEL_FAILPOINT("base_test.nothing");
    SUCCEED();
}

#endif

}  // namespace
}  // namespace semel
