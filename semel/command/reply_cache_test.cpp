#include "semel/command/reply_cache.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;

constexpr std::size_t shards = 16;  ///< Each has its share of the bytes.

/// Digests whose last byte, which chooses the shard, is the same.
Digest identity(int n) {
    Digest digest{};
    digest[0] = static_cast<std::byte>(n);
    digest[1] = static_cast<std::byte>(n >> 8);
    return digest;
}
Fingerprint asked(int n) { return {.version = 1, .digest = identity(n)}; }

std::shared_ptr<const Reply> reply(std::size_t size, char fill = 'x') {
    return std::make_shared<const Reply>(Reply{.status = 201, .body = std::string(size, fill), .headers = {}});
}

TEST(ReplyCache, GivesBackTheVeryReplyThatWasPut) {
    ManualClock clock;
    ReplyCache cache(std::size_t{1} << 20U, clock);
    EXPECT_EQ(cache.find(identity(1), asked(1)), nullptr);
    const auto stored = reply(10);
    cache.put(identity(1), asked(1), stored, 1h);
    EXPECT_EQ(cache.find(identity(1), asked(1)), stored);
    EXPECT_TRUE(cache.holds(identity(1)));
    EXPECT_FALSE(cache.holds(identity(2)));
}

TEST(ReplyCache, SaysNothingToAnotherRequestUnderTheSameKey) {
    ManualClock clock;
    ReplyCache cache(std::size_t{1} << 20U, clock);
    cache.put(identity(1), asked(1), reply(10), 1h);
    EXPECT_EQ(cache.find(identity(1), asked(2)), nullptr);
    Fingerprint other_rules = asked(1);
    other_rules.version = 2;
    EXPECT_EQ(cache.find(identity(1), other_rules), nullptr);
    EXPECT_NE(cache.find(identity(1), asked(1)), nullptr) << "asking for something else must not evict it";
}

TEST(ReplyCache, ForgetsAReplyWhenItsTimeIsOver) {
    ManualClock clock;
    ReplyCache cache(std::size_t{1} << 20U, clock);
    cache.put(identity(1), asked(1), reply(10), 10s);
    clock.advance(10s - 1ns);
    EXPECT_NE(cache.find(identity(1), asked(1)), nullptr);
    clock.advance(1ns);
    EXPECT_EQ(cache.find(identity(1), asked(1)), nullptr);
    EXPECT_EQ(cache.bytes(), 0U);
    cache.put(identity(2), asked(2), reply(10), 0s);
    cache.put(identity(3), asked(3), reply(10), -1s);
    EXPECT_EQ(cache.bytes(), 0U) << "what is over already is not kept";
    cache.put(identity(4), asked(4), reply(10), Duration::max());
    clock.advance(24h * 365);
    EXPECT_NE(cache.find(identity(4), asked(4)), nullptr);
}

TEST(ReplyCache, NeverHoldsMoreThanItMayWhateverIsPut) {
    ManualClock clock;
    constexpr std::size_t limit = 64 * 1024;
    ReplyCache cache(limit, clock);
    for (int n = 0; n < 2000; ++n) {
        Digest digest = identity(n);
        digest.back() = static_cast<std::byte>(n % 256);
        cache.put(digest, asked(n), reply(static_cast<std::size_t>(n % 700)), 1h);
        ASSERT_LE(cache.bytes(), limit);
    }
    EXPECT_GT(cache.bytes(), limit / 2) << "and it does use what it may";
}

TEST(ReplyCache, LetsTheLeastRecentlyUsedGoFirst) {
    ManualClock clock;
    ReplyCache cache(shards * 4096, clock);  // Three replies of this size fit into one shard.
    for (int n = 1; n <= 3; ++n) cache.put(identity(n), asked(n), reply(1000), 1h);
    ASSERT_NE(cache.find(identity(1), asked(1)), nullptr);  // Now 2 is the oldest.
    cache.put(identity(4), asked(4), reply(1000), 1h);
    EXPECT_EQ(cache.find(identity(2), asked(2)), nullptr);
    for (const int n : {1, 3, 4}) EXPECT_NE(cache.find(identity(n), asked(n)), nullptr) << n;
}

TEST(ReplyCache, KeepsNoReplyThatWouldCrowdOutEverythingElse) {
    ManualClock clock;
    ReplyCache cache(shards * 4096, clock);
    cache.put(identity(1), asked(1), reply(100), 1h);
    cache.put(identity(2), asked(2), reply(5000), 1h);
    EXPECT_EQ(cache.find(identity(2), asked(2)), nullptr);
    EXPECT_NE(cache.find(identity(1), asked(1)), nullptr);
    Reply with_headers{.status = 200, .body = "", .headers = {{"Link", std::string(5000, 'x')}}};
    cache.put(identity(3), asked(3), std::make_shared<const Reply>(std::move(with_headers)), 1h);
    EXPECT_EQ(cache.find(identity(3), asked(3)), nullptr) << "headers count too";
    ReplyCache none(0, clock);
    none.put(identity(1), asked(1), reply(0), 1h);
    EXPECT_EQ(none.find(identity(1), asked(1)), nullptr);
}

TEST(ReplyCache, CountsOnceWhatIsPutTwice) {
    ManualClock clock;
    ReplyCache cache(std::size_t{1} << 20U, clock);
    cache.put(identity(1), asked(1), reply(10, 'a'), 1h);
    const std::size_t once = cache.bytes();
    const auto later = reply(10, 'b');
    cache.put(identity(1), asked(1), later, 1h);
    EXPECT_EQ(cache.bytes(), once);
    EXPECT_EQ(cache.find(identity(1), asked(1)), later);
}

TEST(ReplyCache, ServesManyThreadsAtOnce) {
    ManualClock clock;
    ReplyCache cache(shards * 8192, clock);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&cache, thread] {
                for (int n = 0; n < 2000; ++n) {
                    const int key = (n * 7 + thread) % 50;
                    cache.put(identity(key), asked(key), reply(static_cast<std::size_t>(key), 'k'), 1h);
                    const auto found = cache.find(identity(key), asked(key));
                    if (found && found->body.size() != static_cast<std::size_t>(key)) ADD_FAILURE() << "a stranger's";
                }
            });
    }
    EXPECT_LE(cache.bytes(), shards * 8192);
}

}  // namespace
}  // namespace semel
