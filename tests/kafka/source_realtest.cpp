// What becomes of deliveries when partitions go to another source of the group.

#include "semel/kafka/source.hpp"

#include "semel/kafka/sink.hpp"
#include "tests/kafka/cluster.hpp"

#include <gtest/gtest.h>

#include <set>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

class KafkaRebalance : public ::testing::Test {
protected:
    using Ids = std::multiset<std::string>;

    void SetUp() override {
        const auto shared = RealCluster::shared();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        real = *shared;
        topic = real->fresh_topic(4).value();
        send(40);
    }
    void send(int count) {
        KafkaSinkOptions options;
        options.connection.brokers = real->direct();
        options.topic = topic;
        const auto sink = KafkaSink::open(options).value();
        std::vector<Message> batch;
        for (int n = 0; n < count; ++n) {
            Message one;
            one.id = new_uuid();
            one.aggregate = {.type = "order", .id = std::to_string(n)};
            one.type = "changed";
            one.payload = "{}";
            one.headers = "{}";
            sent.insert(one.id.text());
            batch.push_back(std::move(one));
        }
        for (const Status& answer : sink->publish(batch, Deadline::never()))
            ASSERT_TRUE(answer) << answer.error().describe();
    }

    [[nodiscard]] std::unique_ptr<KafkaSource> open() const {
        KafkaSourceOptions options;
        options.connection.brokers = real->direct();
        options.topics = {topic};
        options.group = "group-" + topic;
        options.patience = 6s;
        // Only when partitions go, or the source is closed.
        options.commit_interval = 1h;
        return KafkaSource::open(options).value();
    }
    [[nodiscard]] static std::vector<Delivery> receive(Source& source, Duration limit = 200ms) {
        auto some = source.receive(100, Deadline::after(system_clock().now(), limit));
        EXPECT_TRUE(some) << some.error().describe();
        return some ? *std::move(some) : std::vector<Delivery>{};
    }
    [[nodiscard]] static std::vector<Delivery> take(Source& source, std::size_t count) {
        std::vector<Delivery> all;
        const Instant until = system_clock().now() + 20s;
        while (all.size() < count && system_clock().now() < until)
            for (Delivery& one : receive(source)) all.push_back(std::move(one));
        EXPECT_EQ(all.size(), count);
        return all;
    }
    [[nodiscard]] static std::vector<DeliveryTag> tags(std::span<const Delivery> deliveries) {
        std::vector<DeliveryTag> all;
        for (const Delivery& one : deliveries) all.push_back(one.tag);
        return all;
    }
    /// Asks both in turn until so many have come, and a little longer.
    [[nodiscard]] static std::pair<std::vector<Delivery>, std::vector<Delivery>> share(Source& one, Source& other,
                                                                                       std::size_t count) {
        std::pair<std::vector<Delivery>, std::vector<Delivery>> got;
        const Instant until = system_clock().now() + 20s;
        for (int more = 0; more < 3 && system_clock().now() < until;) {
            for (auto [source, all] : {std::pair(&one, &got.first), std::pair(&other, &got.second)})
                for (Delivery& delivery : receive(*source)) all->push_back(std::move(delivery));
            if (got.first.size() + got.second.size() >= count) ++more;
        }
        return got;
    }
    [[nodiscard]] static Ids ids(std::span<const Delivery> some) {
        Ids all;
        for (const Delivery& one : some) all.insert(one.message.id);
        return all;
    }

    RealCluster* real = nullptr;
    std::string topic;
    Ids sent;
};

TEST_F(KafkaRebalance, MakesTheAcknowledgementOfWhatWasTakenAwayMeaningless) {
    auto first = open();
    const auto before = take(*first, 40);
    auto second = open();
    const auto [kept, taken] = share(*first, *second, 40);
    Ids both = ids(kept);
    both.merge(ids(taken));
    EXPECT_EQ(both, sent) << "each came again, to one of them";
    EXPECT_FALSE(taken.empty());
    for (const auto& some : {kept, taken})
        for (const Delivery& one : some) EXPECT_TRUE(one.redelivered) << "someone had begun with it";
    // Neither the one nor the other moves a position.
    EXPECT_TRUE(first->acknowledge(tags(before)));
    EXPECT_TRUE(first->give_back(tags(before)));
    first.reset();
    second.reset();
    const auto third = open();
    EXPECT_EQ(ids(take(*third, 40)), sent) << "a stale acknowledgement lost something";
}

TEST_F(KafkaRebalance, WritesDownWhatIsDoneBeforePartitionsGo) {
    auto first = open();
    const auto before = take(*first, 40);
    ASSERT_TRUE(first->acknowledge(tags(std::span(before).first(25))));
    auto second = open();
    auto [kept, taken] = share(*first, *second, 15);
    Ids both = ids(kept);
    both.merge(ids(taken));
    EXPECT_EQ(both, ids(std::span(before).subspan(25))) << "what was done came again, or something is lost";
    ASSERT_TRUE(first->acknowledge(tags(kept)));
    ASSERT_TRUE(second->acknowledge(tags(taken)));
    first.reset();
    second.reset();
    const auto third = open();
    EXPECT_TRUE(receive(*third, 1500ms).empty()) << "not all of it was written down";
}

TEST_F(KafkaRebalance, FollowsAtOnceWhenASourceIsClosedHoweverMuchItHasFetchedAhead) {
    send(1'000);
    auto first = open();
    std::vector<Delivery> some;
    const Instant until = system_clock().now() + 20s;
    while (some.empty() && system_clock().now() < until)
        some = first->receive(10, Deadline::after(system_clock().now(), 200ms)).value();
    ASSERT_FALSE(some.empty());
    ASSERT_TRUE(first->acknowledge(tags(some)));
    first.reset();
    const auto second = open();
    const auto rest = take(*second, sent.size() - some.size());
    Ids all = ids(some);
    all.merge(ids(rest));
    EXPECT_EQ(all, sent) << "what was acknowledged was not written down";
}

TEST_F(KafkaRebalance, DoesNotHappenWhileASourceIsOnlyPaused) {
    const auto source = open();
    const auto held = take(*source, 40);
    source->pause();
    for (int n = 0; n < 5; ++n) EXPECT_TRUE(receive(*source, 100ms).empty());
    const auto back = std::span(held).subspan(10, 5);
    ASSERT_TRUE(source->give_back(tags(back)));
    EXPECT_TRUE(receive(*source, 100ms).empty()) << "given back, and it waits until the source is resumed";
    source->resume();
    const auto again = take(*source, 5);
    EXPECT_EQ(ids(again), ids(back)) << "nothing that is held comes again";
    EXPECT_TRUE(receive(*source, 300ms).empty());
}

}  // namespace
}  // namespace semel::kafka
