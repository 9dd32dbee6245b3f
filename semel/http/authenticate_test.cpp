#include "semel/http/authenticate.hpp"

#include "semel/http/message.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel::http {
namespace {

std::string hash_of(std::string_view token) { return hex(sha256(bytes_of(token))); }

TokenTable tokens() {
    TokenTable table;
    EXPECT_TRUE(table.add(hash_of("secret-a"), {"acme", "shop"}).has_value());
    EXPECT_TRUE(table.add(hash_of("secret-b"), {"umbra", "batch"}).has_value());
    return table;
}

TEST(Authenticate, KnowsTheCallerByTheTokenAlone) {
    const TokenTable table = tokens();
    EXPECT_EQ(authenticate(table, {{"Authorization", "Bearer secret-a"}}).value(), (Principal{"acme", "shop"}));
    EXPECT_EQ(authenticate(table, {{"authorization", "bearer  secret-b"}}).value(), (Principal{"umbra", "batch"}));
}

TEST(Authenticate, RefusesAMissingWrongOrRepeatedToken) {
    const TokenTable table = tokens();
    for (const Headers& headers :
         {Headers{}, Headers{{"Authorization", "Bearer secret-c"}}, Headers{{"Authorization", "Basic secret-a"}},
          Headers{{"Authorization", "Bearer "}}, Headers{{"Authorization", "Bearer"}},
          Headers{{"Authorization", "secret-a"}}, Headers{{"Authorization", "Bearer " + hash_of("secret-a")}},
          Headers{{"Authorization", "Bearer secret-a"}, {"Authorization", "Bearer secret-a"}}}) {
        const auto who = authenticate(table, headers);
        ASSERT_FALSE(who.has_value());
        EXPECT_EQ(who.error().why, Denial::unauthenticated);
    }
}

TEST(Authenticate, DoesNotLetATokenSpeakForAnotherTenantOrCaller) {
    const TokenTable table = tokens();
    const Headers::Field token{"Authorization", "Bearer secret-a"};
    EXPECT_TRUE(authenticate(table, {token, {"X-Tenant-Id", "acme"}, {"X-Caller-Id", "shop"}}).has_value());
    for (const Headers::Field& claim :
         {Headers::Field{"X-Tenant-Id", "umbra"}, Headers::Field{"X-Caller-Id", "batch"}}) {
        const auto who = authenticate(table, {token, claim});
        ASSERT_FALSE(who.has_value());
        EXPECT_EQ(who.error().why, Denial::forbidden);
    }
}

TEST(Authenticate, BelievesTheHeadersWhereThereAreNoTokens) {
    const TokenTable none;
    EXPECT_EQ(authenticate(none, {}).value(), (Principal{"public", "anonymous"}));
    EXPECT_EQ(authenticate(none, {{"X-Tenant-Id", "acme"}, {"X-Caller-Id", "a:b@c"}}).value(),
              (Principal{"acme", "a:b@c"}));
    for (const Headers& headers :
         {Headers{{"X-Tenant-Id", ""}}, Headers{{"X-Tenant-Id", "a b"}}, Headers{{"X-Caller-Id", std::string(65, 'a')}},
          Headers{{"X-Caller-Id", "a\xff"}}, Headers{{"X-Tenant-Id", "a"}, {"X-Tenant-Id", "b"}}}) {
        const auto who = authenticate(none, headers);
        ASSERT_FALSE(who.has_value());
        EXPECT_EQ(who.error().why, Denial::malformed);
    }
}

TEST(TokenTable, ReadsLinesAndNamesTheWrongOne) {
    const auto table = TokenTable::parse("# ours\n\n" + hash_of("t") + " acme shop\r\n");
    ASSERT_TRUE(table.has_value());
    EXPECT_EQ(table->size(), 1U);
    ASSERT_NE(table->find("t"), nullptr);
    EXPECT_EQ(table->find("t")->caller, "shop");
    for (const std::string& bad :
         {std::string("abc acme shop"), hash_of("t") + " acme", hash_of("t") + " acme shop more",
          hash_of("t") + " ac,me shop", std::string("t acme shop")}) {
        const auto refused = TokenTable::parse("# one\n" + bad);
        ASSERT_FALSE(refused.has_value()) << bad;
        EXPECT_TRUE(refused.error().message.starts_with("line 2")) << refused.error().message;
    }
    EXPECT_FALSE(TokenTable::parse(hash_of("t") + " a b\n" + hash_of("t") + " c d").has_value());
}

}  // namespace
}  // namespace semel::http
