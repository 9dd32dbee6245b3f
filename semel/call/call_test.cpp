#include "semel/call/call.hpp"

#include "semel/call/journal.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(CallId, IsTheSameForEveryRerunAndAnotherForEveryOtherCall) {
    const Digest one = sha256(bytes_of("one"));
    const Digest two = sha256(bytes_of("two"));
    EXPECT_EQ(external_request_id(one, "charge"), external_request_id(one, "charge"));
    EXPECT_NE(external_request_id(one, "charge"), external_request_id(one, "refund"));
    EXPECT_NE(external_request_id(one, "charge"), external_request_id(two, "charge"));
    EXPECT_EQ(call_id(one, "charge").size(), 37U);
    EXPECT_NE(call_id(one, "charge"), call_id(two, "charge"));
}

TEST(CallId, GoesOutInTheFormOfAUuidBecauseManySystemsAskForOne) {
    const auto id = Uuid::parse(external_request_id(sha256(bytes_of("one")), "charge"));
    ASSERT_TRUE(id) << id.error().describe();
    EXPECT_EQ(std::to_integer<int>(id->bytes[6] >> 4U), 8);
    EXPECT_EQ(std::to_integer<int>(id->bytes[8] >> 6U), 2);
}

TEST(CallId, NeverChanges) {
    // A process of the next version that goes on with a command must send the same key.
    EXPECT_EQ(external_request_id(sha256(bytes_of("one")), "charge"), "59b7b1a1-77f9-8950-949b-cd80a4f0cccf");
}

TEST(CallStatus, IsReadAsItIsWritten) {
    for (const auto status : {CallStatus::intended, CallStatus::confirmed, CallStatus::failed, CallStatus::unknown})
        EXPECT_EQ(parse_call_status(name(status)), status);
    for (const auto capability : {Capability::takes_key, Capability::queryable, Capability::neither})
        EXPECT_EQ(parse_capability(name(capability)), capability);
    EXPECT_FALSE(parse_call_status("done"));
    EXPECT_FALSE(parse_capability(""));
}

TEST(KeptText, IsShortAndCanBeStored) {
    EXPECT_EQ(kept_text("short"), "short");
    EXPECT_EQ(kept_text(std::string_view("a\0b", 3)), "a b");
    // 999 letters and characters of two bytes each: the one that would be cut is left out.
    std::string text(999, 'x');
    text += "\u00e4\u00e4";
    EXPECT_EQ(kept_text(text), std::string(999, 'x'));
}

}  // namespace
}  // namespace semel
