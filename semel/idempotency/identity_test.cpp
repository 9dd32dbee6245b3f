#include "semel/idempotency/identity.hpp"

#include "semel/db/lock_key.hpp"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

namespace semel {
namespace {

// A key alone identifies nothing, no part can be left out, and none can stand for another.
static_assert(!std::is_constructible_v<Identity, Key>);
static_assert(!std::is_constructible_v<Identity, std::string_view>);
static_assert(!std::is_constructible_v<Identity, Caller, Operation, Key>);
static_assert(!std::is_constructible_v<Identity, Tenant, Operation, Caller, Key>);
static_assert(!std::is_constructible_v<Identity, const char*, const char*, const char*, const char*>);
static_assert(!std::is_default_constructible_v<Identity>);
static_assert(!std::is_constructible_v<Key, std::string_view>, "only `of` makes one: it checks");
static_assert(!std::is_convertible_v<Key, Tenant>);
static_assert(std::is_constructible_v<Identity, Tenant, Caller, Operation, Key>);

Identity identity(std::string_view tenant, std::string_view caller, std::string_view operation, std::string_view key) {
    return Identity::of(tenant, caller, operation, key).value();
}

template <class Part>
void expect_limits(std::size_t size_max) {
    EXPECT_FALSE(Part::of(""));
    EXPECT_TRUE(Part::of("x"));
    EXPECT_TRUE(Part::of(std::string(size_max, 'x')));
    EXPECT_FALSE(Part::of(std::string(size_max + 1, 'x')));
    EXPECT_TRUE(Part::of(" ~")) << "the first and the last printable character";
    for (const std::string_view bad : {"a\nb", "a\tb", "a\x7f", "\xc3\xa9"}) EXPECT_FALSE(Part::of(bad)) << bad;
    EXPECT_FALSE(Part::of(std::string_view("a\0b", 3)));
}

TEST(Identity, RefusesPartsThatAreEmptyTooLongOrNotPrintable) {
    expect_limits<Tenant>(64);
    expect_limits<Caller>(128);
    expect_limits<Operation>(128);
    expect_limits<Key>(255);
}

TEST(Identity, NamesThePartThatItRefusesAndRepeatsNothingOfIt) {
    const auto refused = Identity::of("shop", "web", "pay", std::string(256, 'k'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected);
    EXPECT_EQ(refused.error().message, "the idempotency key is longer than 255 characters");
    EXPECT_EQ(Identity::of("", "web", "pay", "k").error().message, "the tenant is empty");
    EXPECT_EQ(Identity::of("shop", "", "pay", "k").error().message, "the caller is empty");
    EXPECT_EQ(Identity::of("shop", "web", "p\n", "k").error().message,
              "the operation may hold printable ASCII characters only");
}

TEST(Identity, DiffersWhereverAPartDiffersOrABoundaryMoves) {
    std::set<std::string> seen;
    const std::vector<Identity> all{
        identity("shop", "web", "pay", "k"), identity("mall", "web", "pay", "k"), identity("shop", "app", "pay", "k"),
        identity("shop", "web", "buy", "k"), identity("shop", "web", "pay", "l"), identity("sho", "pweb", "pay", "k"),
        identity("shop", "we", "bpay", "k"), identity("shop", "web", "pa", "yk"), identity("web", "shop", "pay", "k")};
    std::set<std::int64_t> locks;
    for (const Identity& one : all) {
        seen.insert(hex(one.digest()));
        locks.insert(one.lock());
    }
    EXPECT_EQ(seen.size(), all.size());
    EXPECT_EQ(locks.size(), all.size());
}

TEST(Identity, IsTheSameForEver) {
    // Records outlive the program that wrote them: should this change, no retry would find its reply any more.
    const Identity one = identity("shop", "web", "payment.create", "key-1");
    EXPECT_EQ(hex(one.digest()), "5f9bf9d43c4f613de3f85a70f611d30a3b3aca3a2fffb96af3623f1e0dba338f");
    EXPECT_EQ(one.lock(), 2727223235269689943);
    EXPECT_EQ(one.lock(), lock_key("semel.claim", one.digest()));
    EXPECT_NE(one.lock(), lock_key("semel.append", one.digest())) << "locks of different domains are apart";
}

TEST(Identity, GivesACommandAnIdThatLeadsBackToIt) {
    const Identity one = identity("shop", "web", "pay", "k");
    const std::string id = one.command_id();
    EXPECT_EQ(id, "cmd_" + hex(one.digest()).substr(0, 32));
    const auto bytes = parse_command_id(id);
    ASSERT_TRUE(bytes) << bytes.error().describe();
    EXPECT_EQ("cmd_" + hex(*bytes), id);
}

TEST(Identity, RefusesWhatIsNoCommandId) {
    const std::string good = identity("shop", "web", "pay", "k").command_id();
    std::string upper = good;
    upper[5] = 'A';
    for (const std::string& bad : {std::string(), std::string("cmd_"), good.substr(0, good.size() - 1), good + "0",
                                   good.substr(4), "CMD_" + good.substr(4), upper, "cmd_" + std::string(32, 'g')}) {
        const auto refused = parse_command_id(bad);
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().fault, Fault::rejected);
    }
}

}  // namespace
}  // namespace semel
