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

TEST(KeptText, IsUtf8WhateverTheOtherSideWrites) {
    EXPECT_EQ(kept_text("compte ferm\xe9"), "compte ferm?");
    EXPECT_EQ(kept_text("\xe9t\xe9"), "?t?");
    EXPECT_EQ(kept_text("\u00e4 \u20ac \U0001f600"), "\u00e4 \u20ac \U0001f600");
    EXPECT_EQ(kept_text("cut \xe2\x82"), "cut ??");
    EXPECT_EQ(kept_text("\xc0\xaf"), "??") << "longer than it must be";
    EXPECT_EQ(kept_text("\xe0\x9f\xbf"), "???") << "longer than it must be";
    EXPECT_EQ(kept_text("\xf0\x8f\xbf\xbf"), "????") << "longer than it must be";
    EXPECT_EQ(kept_text("\xed\xa0\x80"), "???") << "half of a pair";
    EXPECT_EQ(kept_text("\xf4\x90\x80\x80"), "????") << "past the last character";
    EXPECT_EQ(kept_text("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"), "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
    EXPECT_EQ(kept_text("\xff\xfe"), "??");
}

}  // namespace
}  // namespace semel
