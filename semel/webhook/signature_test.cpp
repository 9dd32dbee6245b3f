#include "semel/webhook/signature.hpp"

#include <gtest/gtest.h>

#include <array>

namespace semel::webhook {
namespace {

const Timestamp now{std::chrono::seconds(1614265330)};

Timestamp later(Duration length) { return std::chrono::time_point_cast<Timestamp::duration>(now + length); }

Secret secret_of(std::string_view text) { return Secret::parse(text).value(); }

const std::array<Secret, 1> known{secret_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")};
const std::array<Secret, 1> other{secret_of("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")};

constexpr Signed message{
    .id = "msg_p5jXN8AQM9LWM0D4loKWxJek", .timestamp = "1614265330", .body = R"({"test": 2432232314})"};
constexpr std::string_view signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

TEST(WebhookSignature, AgreesWithTheExampleOfTheSpecification) {
    EXPECT_EQ(sign(message, known), signature);
    EXPECT_TRUE(verify(message, signature, known, now));
}

TEST(WebhookSignature, OfSeveralOneThatFitsIsEnough) {
    const std::array both{other[0], known[0]};
    EXPECT_TRUE(verify(message, sign(message, both), known, now));
    EXPECT_TRUE(verify(message, signature, both, now));
    EXPECT_TRUE(verify(message, "v2,abc v1,!! " + std::string(signature), known, now));
}

TEST(WebhookSignature, WhatWasChangedDoesNotFit) {
    Signed changed = message;
    changed.body = R"({"test": 2432232315})";
    EXPECT_FALSE(verify(changed, signature, known, now));
    changed = message;
    changed.id = "msg_other";
    EXPECT_FALSE(verify(changed, signature, known, now));
    changed = message;
    changed.timestamp = "1614265331";
    EXPECT_FALSE(verify(changed, signature, known, now));
    EXPECT_FALSE(verify(message, signature, other, now));
    EXPECT_FALSE(verify(message, signature, {}, now));
    for (const std::string_view text : {"", "v1,", "v1", " ", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="})
        EXPECT_FALSE(verify(message, text, known, now)) << text;
}

TEST(WebhookSignature, ARecordedRequestIsOfNoUseLater) {
    EXPECT_TRUE(verify(message, signature, known, later(timestamp_tolerance)));
    EXPECT_FALSE(verify(message, signature, known, later(timestamp_tolerance + std::chrono::seconds(1))));
    EXPECT_FALSE(verify(message, signature, known, later(-timestamp_tolerance - std::chrono::seconds(1))));
}

TEST(WebhookSignature, MalformedPartsAreRefused) {
    for (const std::string_view time : {"", "now", "-1", "16142653300000000", "1614265330.5", " 1614265330"}) {
        Signed odd = message;
        odd.timestamp = time;
        EXPECT_FALSE(verify(odd, sign(odd, known), known, now)) << time;
    }
    Signed nameless = message;
    nameless.id = "";
    EXPECT_FALSE(verify(nameless, sign(nameless, known), known, now));
}

TEST(WebhookSignature, OnlyTheFirstFewSignaturesAreLookedAt) {
    std::string many;
    for (int i = 0; i < 16; ++i) many += "v1,AAAA ";
    EXPECT_FALSE(verify(message, many + std::string(signature), known, now));
}

TEST(WebhookSecret, HasASizeThatCannotBeGuessed) {
    EXPECT_TRUE(Secret::parse("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    for (const std::string_view text : {"", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64 at all", "secret"})
        EXPECT_FALSE(Secret::parse(text)) << text;
}

}  // namespace
}  // namespace semel::webhook
