// Which messages reach a consumer at all.

#include "apps/orders/consumers/wanted_source.hpp"
#include "semel/testing/manual_clock.hpp"
#include "semel/testing/scripted_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace orders {
namespace {

constexpr std::array<std::string_view, 2> wanted_types{"order.created", "task.ready"};

class Wanted : public ::testing::Test {
protected:
    void send(const std::string& id, const std::string& type) {
        semel::ReceivedMessage message;
        message.id = id;
        message.type = type;
        inner.send(std::move(message));
    }
    [[nodiscard]] std::vector<std::string> receive() {
        const auto received = source.receive(10, semel::Deadline::at(clock.now()));
        EXPECT_TRUE(received);
        std::vector<std::string> ids;
        for (const semel::Delivery& one : *received) {
            ids.push_back(one.message.id);
            tags.push_back(one.tag);
        }
        return ids;
    }

    semel::testing::ManualClock clock;
    semel::testing::ScriptedSource inner{clock};
    int done = 0;
    WantedSource source{inner, wanted_types, [this] { ++done; }};
    std::vector<semel::DeliveryTag> tags;
};

TEST_F(Wanted, OnlyTheTypesThatAreWantedComeThroughAndTheOthersNeverComeAgain) {
    send("1", "order.created");
    send("2", "quote.created");
    send("3", "");
    send("4", "task.ready");
    send("5", "order.created.v2");
    EXPECT_THAT(receive(), ::testing::ElementsAre("1", "4"));
    EXPECT_EQ(done, 0) << "nothing was committed";
    inner.disconnect();
    EXPECT_THAT(receive(), ::testing::ElementsAre("1", "4"));
}

TEST_F(Wanted, WhatIsAcknowledgedIsGoneAndWhatItLedToIsAnnounced) {
    send("1", "order.created");
    ASSERT_THAT(receive(), ::testing::ElementsAre("1"));
    EXPECT_TRUE(source.acknowledge(tags));
    EXPECT_EQ(done, 1);
    inner.disconnect();
    EXPECT_THAT(receive(), ::testing::IsEmpty());
}

TEST_F(Wanted, WhatIsGivenBackComesAgain) {
    send("1", "task.ready");
    ASSERT_THAT(receive(), ::testing::ElementsAre("1"));
    EXPECT_TRUE(source.give_back(tags));
    EXPECT_EQ(done, 0);
    EXPECT_THAT(receive(), ::testing::ElementsAre("1"));
}

TEST_F(Wanted, WhileTheSourceIsAwayThatIsSaid) {
    inner.be_away(true);
    EXPECT_FALSE(source.receive(10, semel::Deadline::at(clock.now())));
}

}  // namespace
}  // namespace orders
