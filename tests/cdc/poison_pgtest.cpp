// An event that the broker will never take concerns its own aggregate and nobody else, and the log is not held up by it.

#include "semel/outbox/parked.hpp"
#include "semel/sink/checked_sink.hpp"
#include "tests/cdc/fixture.hpp"

namespace semel::cdc {
namespace {

using namespace std::chrono_literals;

using enum ScriptedSink::Answer;

class CdcPoison : public CdcTest {
protected:
    void SetUp() override {
        CdcTest::SetUp();
        shop->switch_in();
        sink.play([this](const Message& message) { return message.aggregate.id == "1" && poison ? refuse : take; });
        one = shop->process(sink);
        one.relay->start();
        ASSERT_TRUE(shop->streams());
    }
    /// Events of the poisoned aggregate among those of others.
    void tell_all(const std::string& type) {
        for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({1, 2, 1, 3}, type));
    }
    [[nodiscard]] std::size_t taken_of(const std::string& aggregate) const {
        return static_cast<std::size_t>(
            std::ranges::count(sink.first_taken(), aggregate, [](const Message& m) { return m.aggregate.id; }));
    }
    /// Everything of the log is confirmed, poison or not.
    [[nodiscard]] bool log_is_free() {
        const double end = std::stod(shop->ask("SELECT pg_current_wal_lsn() - '0/0'"));
        return eventually([&] {
            return std::stod(shop->ask("SELECT confirmed_flush_lsn - '0/0' FROM pg_replication_slots WHERE database = "
                                       "current_database()")) >= end;
        });
    }

    std::atomic<bool> poison = true;
    ScriptedSink sink;
    CdcProcess one;
};

TEST_F(CdcPoison, BlocksItsAggregateAndNoOtherAndNotTheLog) {
    tell_all("order");
    EXPECT_TRUE(eventually([&] { return taken_of("2") == 5 && taken_of("3") == 5; }));
    EXPECT_TRUE(eventually([&] { return shop->pending() == "10"; })) << shop->pending();
    EXPECT_EQ(taken_of("1"), 0U);
    EXPECT_TRUE(log_is_free());
    EXPECT_GE(one.feed->report().diverted, 10U);
    poison = false;
    shop->expect_all(sink);
    EXPECT_TRUE(eventually([&] { return shop->pending() == "0"; }));
    EXPECT_EQ(shop->waiting(), "0");
    // Once it has left, its aggregate goes through the log again.
    const std::uint64_t diverted = one.feed->report().diverted;
    std::this_thread::sleep_for(300ms);
    ASSERT_TRUE(shop->tell({1}));
    shop->expect_all(sink);
    EXPECT_EQ(one.feed->report().diverted, diverted);
}

TEST_F(CdcPoison, IsParkedWithItsFollowersAndRedrivenInOrder) {
    tell_all("parks");
    EXPECT_TRUE(eventually([&] { return shop->parked() == "10" && shop->pending() == "0"; }))
        << shop->parked() << " parked, " << shop->pending() << " pending";
    EXPECT_EQ(shop->waiting(), "0");
    EXPECT_EQ(taken_of("2"), 5U);
    EXPECT_EQ(taken_of("3"), 5U);
    // What comes later follows.
    ASSERT_TRUE(shop->tell({1, 2}, "parks"));
    EXPECT_TRUE(eventually([&] { return shop->parked() == "11"; }));
    EXPECT_EQ(taken_of("1"), 0U);
    EXPECT_TRUE(log_is_free());
    poison = false;
    const auto redriven = Parked::of(*shop->database).value().redrive("shop", {.type = "parks", .id = "1"}, in(10s));
    ASSERT_TRUE(redriven.committed()) << redriven.error().describe();
    EXPECT_EQ(redriven.value(), 11);
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({1}, "parks"));
    shop->expect_all(sink);
    EXPECT_EQ(taken_of("1"), 16U);
    EXPECT_TRUE(eventually([&] { return shop->parked() == "0"; }));
}

TEST_F(CdcPoison, IsParkedAtTheFirstAttemptWhereItIsRefusedForGood) {
    class Passing final : public Sink {
    public:
        explicit Passing(Sink& sink) : sink_(&sink) {}
        std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override {
            return sink_->publish(messages, deadline);
        }

    private:
        Sink* sink_;
    };
    CheckedSink checked(std::make_unique<Passing>(sink), [this](const Message& message) -> Status {
        if (message.aggregate.id != "1" || !poison) return {};
        return fail(Fault::broken, "it does not keep its contract");
    });
    one.relay->stop();
    one = shop->process(checked);
    one.relay->start();
    tell_all("order");
    EXPECT_TRUE(eventually([&] { return shop->parked() == "10" && shop->pending() == "0"; }))
        << shop->parked() << " parked, " << shop->pending() << " pending";
    EXPECT_EQ(shop->ask("SELECT max(attempts) FROM semel.outbox_parked"), "1");
    EXPECT_TRUE(eventually([&] { return taken_of("2") == 5 && taken_of("3") == 5; }));
    EXPECT_EQ(taken_of("1"), 0U);
    EXPECT_TRUE(log_is_free());
    poison = false;
    const auto redriven = Parked::of(*shop->database).value().redrive("shop", {.type = "order", .id = "1"}, in(10s));
    ASSERT_TRUE(redriven.committed()) << redriven.error().describe();
    EXPECT_EQ(redriven.value(), 10);
    shop->expect_all(sink);
    one.relay->stop();
    one = {};
}

TEST_F(CdcPoison, OfMoreAggregatesThanCanBeNamedHoldsTheOrderAndNotTheLog) {
    one.relay->stop();
    shop->held_max = 2;
    one = shop->process(sink);
    sink.play([this](const Message& message) { return std::stoi(message.aggregate.id) < 5 && poison ? refuse : take; });
    one.relay->start();
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(shop->tell({0, 1, 2, 3, 4, 5, 6}, "parks"));
    EXPECT_TRUE(eventually([&] { return shop->parked() == "25" && shop->pending() == "0"; }))
        << shop->parked() << " parked, " << shop->pending() << " pending";
    EXPECT_EQ(taken_of("5"), 5U);
    ASSERT_TRUE(shop->tell({5, 6, 7}, "parks"));
    EXPECT_TRUE(eventually([&] { return taken_of("5") == 6 && taken_of("7") == 1; }));
    EXPECT_TRUE(log_is_free());
    poison = false;
    for (int n = 0; n < 5; ++n) {
        const auto redriven =
            Parked::of(*shop->database).value().redrive("shop", {.type = "parks", .id = std::to_string(n)}, in(10s));
        ASSERT_TRUE(redriven.committed()) << redriven.error().describe();
    }
    ASSERT_TRUE(shop->tell({0, 1, 2, 3, 4, 5, 6}, "parks"));
    shop->expect_all(sink);
}

TEST_F(CdcPoison, IsSkippedAlone) {
    sink.play([first = std::make_shared<std::atomic<std::int64_t>>(0)](const Message& message) {
        if (message.aggregate.id != "1") return take;
        std::int64_t none = 0;
        first->compare_exchange_strong(none, message.position);
        return message.position == *first ? refuse : take;
    });
    tell_all("skips");
    EXPECT_TRUE(eventually([&] { return taken_of("1") == 9; })) << taken_of("1");
    EXPECT_TRUE(eventually([&] { return shop->parked() == "1" && shop->pending() == "0"; }));
    CdcShop::expect_order(sink);
}

TEST_F(CdcPoison, AnAnswerThatGotLostIsAskedForAgainUnderTheSameId) {
    sink.play([lost = std::make_shared<std::set<std::int64_t>>()](const Message& message) {
        return lost->insert(message.position).second ? lose_answer : take;
    });
    ASSERT_TRUE(shop->tell({1, 1, 2, 3}));
    shop->expect_all(sink);
    EXPECT_TRUE(eventually([&] { return shop->pending() == "0"; }));
    EXPECT_LE(sink.taken().size(), 8U);
}

TEST_F(CdcPoison, ASinkThatIsAwayCostsNoWrite) {
    sink.play([](const Message&) { return away; });
    ASSERT_TRUE(shop->tell({1, 2, 3}));
    ASSERT_TRUE(eventually([&] { return sink.publishes() > 3; }));
    EXPECT_EQ(shop->pending(), "0");
    EXPECT_EQ(one.feed->report().diverted, 0U);
    sink.play({});
    shop->expect_all(sink);
    EXPECT_EQ(CdcShop::repeats(sink), 0U);
}

}  // namespace
}  // namespace semel::cdc
