#include "semel/sink/null_sink.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(NullSink, AcknowledgesEachMessage) {
    NullSink sink;
    const std::vector<Message> messages(3);
    const auto answers = sink.publish(messages, {});
    ASSERT_EQ(answers.size(), 3U);
    for (const Status& answer : answers) EXPECT_TRUE(answer);
}

TEST(SameAggregate, ComparesTenantTypeAndIdAndNotTheVersion) {
    const Message one{.id = {},
                      .tenant = "shop",
                      .aggregate = {.type = "order", .id = "1", .version = 1},
                      .type = "a",
                      .payload = {},
                      .headers = {},
                      .created_at = {}};
    Message other = one;
    other.aggregate.version = 2;
    EXPECT_TRUE(same_aggregate(one, other));
    for (std::string* part : {&other.tenant, &other.aggregate.type, &other.aggregate.id}) {
        const std::string kept = *part;
        *part = "else";
        EXPECT_FALSE(same_aggregate(one, other));
        *part = kept;
    }
}

}  // namespace
}  // namespace semel
