#include "semel/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace semel {
namespace {

using ::testing::ElementsAre;

TEST(Log, GoesWhereItIsSent) {
    std::vector<std::string> lines;
    set_log_sink([&](LogLevel level, std::string_view line) {
        lines.push_back(std::string(name(level)) + " " + std::string(line));
    });
    log(LogLevel::warning, "a session leaked");
    log(LogLevel::error, "the store is poisoned");
    set_log_sink({});
    log(LogLevel::error, "nobody hears this");
    EXPECT_THAT(lines, ElementsAre("warning a session leaked", "error the store is poisoned"));
}

TEST(LogDeathTest, GoesToStandardErrorUnlessReplaced) {
    // In a process of its own, where nobody has replaced it.
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            log(LogLevel::info, "ready");
            std::fflush(stderr);
            std::_Exit(0);
        },
        ::testing::ExitedWithCode(0), "semel: info: ready");
}

TEST(Log, EveryLevelHasAName) {
    EXPECT_EQ(name(LogLevel::debug), "debug");
    EXPECT_EQ(name(LogLevel::info), "info");
    EXPECT_EQ(name(LogLevel::warning), "warning");
    EXPECT_EQ(name(LogLevel::error), "error");
}

TEST(Log, SinkMayLogItself) {
    int lines = 0;
    set_log_sink([&](LogLevel, std::string_view line) {
        ++lines;
        if (line == "outer") log(LogLevel::debug, "inner");
    });
    log(LogLevel::debug, "outer");
    set_log_sink({});
    EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace semel
