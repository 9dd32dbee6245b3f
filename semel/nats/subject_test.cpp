#include "semel/nats/subject.hpp"

#include <gtest/gtest.h>

namespace semel::nats {
namespace {

Message subject_event(std::string type = "order.created") {
    Message one;
    one.tenant = "shop";
    one.aggregate = {.type = "order", .id = "o-1"};
    one.type = std::move(type);
    return one;
}

std::string subject(std::string_view text, const Message& message) {
    const auto made = SubjectTemplate::parse(text, "ORDERS");
    EXPECT_TRUE(made) << made.error().describe();
    return made->subject_of(message).value();
}

TEST(Subject, IsMadeOfWhatTheMessageIsAbout) {
    EXPECT_EQ(subject("{stream}.{aggregate_type}.{type}", subject_event()), "ORDERS.order.order.created");
    EXPECT_EQ(subject("{tenant}.{aggregate_id}", subject_event()), "shop.o-1");
    EXPECT_EQ(subject("fixed", subject_event()), "fixed");
    EXPECT_EQ(subject("a-{type}-z", subject_event("x")), "a-x-z");
}

TEST(Subject, HoldsNothingThatHasAMeaningOfItsOwn) {
    Message message = subject_event("a.*.>.b c\r\nPUB");
    message.aggregate.type = "order.line";
    message.aggregate.id = "../*";
    message.tenant = "";
    EXPECT_EQ(subject("{tenant}.{aggregate_type}.{aggregate_id}.{type}", message),
              "_.order_line.___"
              "_.a._._.b_c__PUB");
    EXPECT_EQ(subject("{type}", subject_event("a..b.")), "a._.b._") << "no token is empty";
}

TEST(Subject, RefusesTemplatesThatMakeNone) {
    for (const char* text : {"", ".", "a.", ".a", "a..b", "a b", "a.*", "a.>", "{nothing}", "{type", "{type}."})
        EXPECT_FALSE(SubjectTemplate::parse(text, "S")) << text;
}

TEST(Subject, HasAnEnd) {
    const auto made = SubjectTemplate::parse("{type}", "S").value();
    const auto refused = made.subject_of(subject_event(std::string(2'000, 'x')));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
}

TEST(Subject, IsCoveredByPatternsAsNatsDoesIt) {
    const auto covered = [](std::string pattern, std::string_view by) {
        const std::vector<std::string> patterns{"other", std::move(pattern)};
        return covers(patterns, by);
    };
    EXPECT_TRUE(covered("a.b", "a.b"));
    EXPECT_TRUE(covered("a.*", "a.b"));
    EXPECT_TRUE(covered("a.>", "a.b"));
    EXPECT_TRUE(covered("a.>", "a.b.c"));
    EXPECT_TRUE(covered(">", "a"));
    EXPECT_FALSE(covered("a.*", "a.b.c"));
    EXPECT_FALSE(covered("a.>", "a"));
    EXPECT_FALSE(covered("a.b", "a"));
    EXPECT_FALSE(covered("a", "a.b"));
    EXPECT_FALSE(covers({}, "a"));
}

TEST(PlainName, IsOneTokenWithoutWildcards) {
    EXPECT_TRUE(is_plain_name("ORDERS-1_a"));
    for (const char* name : {"", "a.b", "a b", "*", ">", "a/b"}) EXPECT_FALSE(is_plain_name(name)) << name;
}

}  // namespace
}  // namespace semel::nats
