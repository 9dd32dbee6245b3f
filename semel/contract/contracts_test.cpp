#include "semel/contract/contracts.hpp"

#include <gmock/gmock.h>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace semel {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view first = R"({"type":"object","required":["total"],"additionalProperties":false,
    "properties":{"total":{"type":"string"},"id":{"type":"string","format":"uuid"}}})";
constexpr std::string_view second = R"({"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}})";

class ContractsTest : public ::testing::Test {
protected:
    static Contracts contracts() {
        static constexpr std::array files{Contracts::File{"order.created.v1", first},
                                          Contracts::File{"order.created.v2", second}};
        return Contracts::parse(files).value();
    }
    static std::string complaint(std::string_view payload, std::string_view headers = R"({"schemaVersion":1})",
                                 std::string_view type = "order.created") {
        const Status checked = contracts().check(type, payload, headers);
        if (checked) return "";
        EXPECT_EQ(checked.error().fault, Fault::broken);
        return checked.error().message;
    }
};

TEST_F(ContractsTest, LetsWhatKeepsItsContractPass) {
    EXPECT_EQ(complaint(R"({"total":"1.00"})"), "");
    EXPECT_EQ(complaint(R"({"total":"1.00","id":"0190d9a6-7c21-7000-8000-000000000001"})"), "");
}

TEST_F(ContractsTest, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(complaint(R"({"total":1})"), HasSubstr("[total]"));
    EXPECT_THAT(complaint(R"({})"), HasSubstr("total"));
    EXPECT_THAT(complaint(R"({"total":"1","more":1})"), HasSubstr("more"));
    EXPECT_THAT(complaint(R"({"total":"1","id":"nobody"})"), HasSubstr("[id]"));
    EXPECT_THAT(complaint("{"), HasSubstr("not JSON"));
}

TEST_F(ContractsTest, WhatCannotBeCheckedSafelyIsRefused) {
    const std::string digits(60'000, '7');
    EXPECT_THAT(complaint(R"({"total":"1","id":")" + digits + "\"}"), HasSubstr("too much to check"));
    EXPECT_THAT(complaint("{\"" + digits + "\":1}"), HasSubstr("too much to check"));
    EXPECT_THAT(complaint(R"({"total":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
                HasSubstr("too much to check"));
}

TEST_F(ContractsTest, AnEventWithoutAContractIsRefused) {
    EXPECT_THAT(complaint("{}", "{}", "order.forgotten"), HasSubstr("`order.forgotten`"));
}

TEST_F(ContractsTest, AnEventWithoutAContractPassesWhereThatIsAllowed) {
    EXPECT_TRUE(contracts().check("order.forgotten", "{}", "{}", UnknownTypes::allow));
    EXPECT_TRUE(contracts().breach("order.forgotten", "{}")->unknown_type);
    const auto unversioned = contracts().breach("order.created", R"({"sum":1})", R"({"schemaVersion":9})");
    ASSERT_TRUE(unversioned);
    EXPECT_FALSE(unversioned->unknown_type) << "the type is known, and this version of it is not";
    EXPECT_FALSE(contracts().check("order.created", R"({"sum":1})", R"({"schemaVersion":9})", UnknownTypes::allow));
}

TEST_F(ContractsTest, AVersionThatIsNoSmallNumberIsNone) {
    for (const char* version :
         {"4294967297", "-4294967295", "18446744073709551617", "18446744073709551615", "1.0", "null"})
        EXPECT_THAT(complaint(R"({"total":"1"})", R"({"schemaVersion":)" + std::string(version) + "}"),
                    HasSubstr("none of version"))
            << version;
}

TEST_F(ContractsTest, TheNewestVersionHoldsUnlessTheEventNamesOne) {
    EXPECT_EQ(complaint(R"({"sum":1})", "{}"), "");
    EXPECT_NE(complaint(R"({"total":"1"})", "{}"), "");
    EXPECT_EQ(complaint(R"({"sum":1})", R"({"schemaVersion":2})"), "");
    EXPECT_THAT(complaint(R"({"sum":1})", R"({"schemaVersion":3})"), HasSubstr("version 3"));
    EXPECT_THAT(complaint(R"({"sum":1})", R"({"schemaVersion":"2"})"), HasSubstr("version \"2\""));
    EXPECT_THAT(complaint(R"({"sum":1})", R"({"schemaVersion":[2]})"), HasSubstr("version (not a number)"));
}

TEST_F(ContractsTest, AContractThatCannotBeUsedIsNamed) {
    const auto why = [](std::string_view name, std::string_view text) {
        const std::array files{Contracts::File{name, text}};
        const auto parsed = Contracts::parse(files);
        return parsed ? "" : parsed.error().message;
    };
    EXPECT_THAT(why("order.created", "{}"), HasSubstr("order.created.json"));
    EXPECT_THAT(why("order.created.v0", "{}"), HasSubstr("<type>.v<version>"));
    EXPECT_THAT(why("order.created.vx", "{}"), HasSubstr("<type>.v<version>"));
    EXPECT_THAT(why("order.created.v1", "["), HasSubstr("not a JSON object"));
    EXPECT_THAT(why("order.created.v1", R"({"type":7})"), HasSubstr("order.created.v1.json"));
    EXPECT_THAT(why("order.created.v1", R"({"properties":{"id":{"pattern":"[0-9"}}})"), HasSubstr("`[0-9`"));
    EXPECT_THAT(why("order.created.v1", R"({"anyOf":[{"patternProperties":{"(":{}}}]})"), HasSubstr("`(`"));
    EXPECT_EQ(why("order.created.v1", R"({"enum":[{"pattern":"("}],"properties":{"pattern":{"type":"string"}}})"), "")
        << "not every member of this name is a pattern";
    EXPECT_THAT(why("order.created.v1", R"({"properties":{"default":{"pattern":"[0-9"}}})"), HasSubstr("`[0-9`"))
        << "a property may have any name";
    EXPECT_THAT(Contracts::load("/nowhere/at/all").error().message, HasSubstr("/nowhere/at/all"));
}

TEST_F(ContractsTest, AFolderHoldsAtLeastOne) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "semel_contracts_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "README.md") << "nothing here";
    EXPECT_THAT(Contracts::load(folder).error().message, HasSubstr("no contract in"));
    std::ofstream(folder / "order.created.v1.json") << first;
    EXPECT_EQ(Contracts::load(folder)->size(), 1U);
    std::ofstream(folder / "order.created.v2.json") << "{";
    EXPECT_THAT(Contracts::load(folder).error().message, HasSubstr("order.created.v2.json"));
    std::filesystem::remove(folder / "order.created.v2.json");
    std::filesystem::create_directory(folder / "order.created.v3.json");
    EXPECT_THAT(Contracts::load(folder).error().message, HasSubstr("order.created.v3.json: it cannot be read"));
    std::filesystem::remove_all(folder);
}

/// Calls it on a thread that has only 1 MiB of stack.
void on_small_stack(std::function<void()> call) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{1} << 20U), 0);
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        (*static_cast<std::function<void()>*>(argument))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &call), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

TEST_F(ContractsTest, TheLongestTextIsCheckedWhateverTheStackOfTheCaller) {
    const std::array files{
        Contracts::File{"order.created.v1", R"({"properties":{"id":{"pattern":"^(?:[a-z]|[0-9]|-)*$"}}})"}};
    const auto contracts = Contracts::parse(files).value();
    const auto payload = [](std::size_t length, char last) {
        return R"({"id":")" + std::string(length - 1, 'x') + last + R"("})";
    };
    on_small_stack([&] {
        constexpr std::size_t longest = 16 * 1024;
        for (const std::size_t length : {std::size_t{1}, std::size_t{128}, std::size_t{129}, longest}) {
            EXPECT_TRUE(contracts.check("order.created", payload(length, 'x'))) << length;
            const Status wrong = contracts.check("order.created", payload(length, '!'));
            ASSERT_FALSE(wrong) << length;
            EXPECT_THAT(wrong.error().message, HasSubstr("pattern")) << length;
        }
        EXPECT_THAT(contracts.check("order.created", payload(longest + 1, 'x')).error().message, HasSubstr("16 KiB"));
    });
}

/// Leaves this process as much address space as it has and a little more: too little for a large stack.
void take_address_space() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20U);
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
}

TEST_F(ContractsTest, AGoodEventIsNotCalledWrongForWantOfAThread) {
    const auto checked_by_the_last = [] {
        const std::array files{Contracts::File{"order.created.v1", R"({"properties":{"id":{"pattern":"^x*$"}}})"}};
        const auto contracts = Contracts::parse(files).value();
        const std::string good = R"({"id":")" + std::string(500, 'x') + R"("})";
        const std::string wrong = R"({"id":")" + std::string(500, 'y') + R"("})";
        take_address_space();
        std::_Exit(contracts.check("order.created", good) && !contracts.check("order.created", wrong) ? 0 : 1);
    };
    EXPECT_EXIT(checked_by_the_last(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace semel
