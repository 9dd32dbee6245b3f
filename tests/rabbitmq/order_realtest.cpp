// The events of a key come in their order, whoever goes, connects anew or gives back.

#include "tests/rabbitmq/half_open_proxy.hpp"
#include "tests/rabbitmq/server_realtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace semel::rabbitmq {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr int events_sent = 20;
constexpr std::uint16_t prefetched = 10;

Deadline shortly(Duration limit) { return Deadline::after(system_clock().now(), limit); }

class RabbitmqOrder : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = testing::shared_rabbitmq();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        port = (*shared)->port();
    }
    [[nodiscard]] RabbitmqSourceOptions options(int at) const {
        RabbitmqSourceOptions how = source_from(at, exchange, "billing");
        how.prefetch = prefetched;
        how.heartbeat = 60s;  // The server is not to find out by itself.
        return how;
    }
    [[nodiscard]] static std::unique_ptr<RabbitmqSource> open(const RabbitmqSourceOptions& how) {
        auto opened = RabbitmqSource::open(how);
        EXPECT_TRUE(opened) << opened.error().describe();
        return *std::move(opened);
    }
    /// All of one key.
    void send() const {
        const auto sink = RabbitmqSink::open(sink_to(port, exchange)).value();
        for (int n = 1; n <= events_sent; ++n) {
            Message one;
            one.id = new_uuid();
            one.aggregate = {.type = "order", .id = "7"};
            one.type = "changed";
            one.payload = std::to_string(n);
            one.headers = "{}";
            one.created_at = system_clock().wall();
            const Status taken = sink->publish(std::vector{one}, shortly(20s)).at(0);
            ASSERT_TRUE(taken) << taken.error().describe();
        }
    }
    struct Got {
        std::vector<int> numbers;
        std::vector<DeliveryTag> tags;
    };
    /// Up to so many, as long as some come soon; acknowledged at once, or never.
    static Got take(RabbitmqSource& source, std::size_t limit, Duration patience, bool acknowledge) {
        Got got;
        Deadline until = shortly(patience);
        while (got.numbers.size() < limit && !until.passed(system_clock().now())) {
            const auto some = source.receive(limit - got.numbers.size(), until);
            if (!some) continue;
            for (const Delivery& one : *some) {
                got.numbers.push_back(std::stoi(one.message.payload));
                got.tags.push_back(one.tag);
                if (acknowledge) {
                    EXPECT_TRUE(source.acknowledge(std::vector{one.tag}));
                }
            }
            if (!some->empty()) until = shortly(patience);
        }
        return got;
    }
    static std::vector<int> numbers(int first, int last) {
        std::vector<int> all(static_cast<std::size_t>(last - first + 1));
        std::iota(all.begin(), all.end(), first);
        return all;
    }

    int port = 0;
    std::string exchange = "order-" + fresh_exchange();
};

TEST_F(RabbitmqOrder, IsKeptByASourceThatConnectsAnewBeforeTheBrokerMissesIt) {
    HalfOpenProxy proxy(port);
    const auto source = open(options(proxy.port()));
    send();
    ASSERT_EQ(take(*source, prefetched, 5s, false).numbers, numbers(1, prefetched));
    proxy.lose_clients();
    EXPECT_FALSE(source->receive(1, shortly(5s))) << "the connection is gone";
    EXPECT_THAT(take(*source, events_sent, 1s, true).numbers, IsEmpty()) << "what comes before them is not back yet";
    proxy.let_go();
    EXPECT_THAT(take(*source, events_sent, 10s, true).numbers, ElementsAreArray(numbers(1, events_sent)));
}

TEST_F(RabbitmqOrder, IsNotKeptWhereTheQueueGoesToSeveralConsumersAtATime) {
    HalfOpenProxy proxy(port);
    RabbitmqSourceOptions how = options(proxy.port());
    how.single_active_consumer = false;
    const auto source = open(how);
    send();
    ASSERT_EQ(take(*source, prefetched, 5s, false).numbers, numbers(1, prefetched));
    proxy.lose_clients();
    EXPECT_FALSE(source->receive(1, shortly(5s))) << "the connection is gone";
    // The option is there for whoever needs no order: that it costs it is why it is not the default.
    const auto overtakers = take(*source, events_sent - prefetched, 5s, true).numbers;
    EXPECT_THAT(overtakers, ElementsAreArray(numbers(prefetched + 1, events_sent)));
    proxy.let_go();
    EXPECT_THAT(take(*source, prefetched, 10s, true).numbers, ElementsAreArray(numbers(1, prefetched)));
}

TEST_F(RabbitmqOrder, IsKeptWhenASourceIsClosedAndAnotherTakesOver) {
    auto first = open(options(port));
    const auto second = open(options(port));
    send();
    ASSERT_EQ(take(*first, 3, 5s, true).numbers, numbers(1, 3));
    ASSERT_EQ(take(*first, 3, 5s, false).numbers, numbers(4, 6));
    EXPECT_THAT(take(*second, 1, 500ms, true).numbers, IsEmpty()) << "one at a time";
    first.reset();
    EXPECT_THAT(take(*second, events_sent, 5s, true).numbers, ElementsAreArray(numbers(4, events_sent)));
}

TEST_F(RabbitmqOrder, IsKeptWhenASourceGivesBackWhileAnotherWaits) {
    const auto first = open(options(port));
    const auto second = open(options(port));
    send();
    ASSERT_EQ(take(*first, 3, 5s, true).numbers, numbers(1, 3));
    const Got given = take(*first, 3, 5s, false);
    ASSERT_EQ(given.numbers, numbers(4, 6));
    ASSERT_TRUE(first->give_back(given.tags));
    // Whichever of them is the next one.
    std::vector<int> all;
    const Instant limit = system_clock().now() + 10s;
    while (all.size() < events_sent - 3 && system_clock().now() < limit)
        for (RabbitmqSource* one : {first.get(), second.get()})
            for (const int number : take(*one, events_sent, 300ms, true).numbers) all.push_back(number);
    EXPECT_THAT(all, ElementsAreArray(numbers(4, events_sent)));
}

TEST_F(RabbitmqOrder, OfWhatIsGivenBackIsThatOfWhatIsStillBeingWorkedOn) {
    const auto first = open(options(port));
    const auto second = open(options(port));
    send();
    const Got held = take(*first, 3, 5s, false);
    ASSERT_EQ(held.numbers, numbers(1, 3));
    ASSERT_TRUE(first->give_back(std::span(held.tags).subspan(1)));
    EXPECT_THAT(take(*first, 1, 500ms, true).numbers, IsEmpty());
    EXPECT_THAT(take(*second, 1, 500ms, true).numbers, IsEmpty()) << "the one before them is not done";
    const Status done = first->acknowledge(std::span(held.tags).first(1));
    ASSERT_TRUE(done) << done.error().describe();
    EXPECT_THAT(take(*second, events_sent, 5s, true).numbers, ElementsAreArray(numbers(2, events_sent)));
    EXPECT_THAT(take(*first, 1, 500ms, true).numbers, IsEmpty());
}

}  // namespace
}  // namespace semel::rabbitmq
