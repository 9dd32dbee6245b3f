// The whole circle in one service: what it tells goes out by its relay, comes in by its own webhook or from a broker, and is
// done once, whenever the service is killed.

#include "semel/open/sink.hpp"
#include "semel/testing/nats_server.hpp"
#include "tests/orders/order_journey.hpp"
#include "tests/orders/signed_event.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;

/// From the first statement of a handler to well after its COMMIT.
constexpr std::array moments{1ms, 6ms, 20ms, 60ms};

class OrdersCircle : public OrderJourneyTest {
protected:
    void start_webhook_circle() {
        const auto port = semel::testing::free_port();
        ASSERT_TRUE(port) << port.error().describe();
        const std::string listen = "127.0.0.1:" + std::to_string(*port);
        start({.config = "[relay]\nto = \"http://" + listen + "/api/v1/events\"\nallow_private = true\nsecret = \"" +
                         std::string(event_secret) + "\"\nlease = \"3s\"\n" + std::string(consume_config),
               .listen = listen});
    }
    void start_nats_circle() {
        const auto server = semel::testing::shared_nats();
        ASSERT_TRUE(server) << server.error().describe();
        const std::string stream =
            "nats://127.0.0.1:" + std::to_string((*server)->port()) + "/orders-" + name(GetParam());
        // Whoever consumes it wants to find it there.
        const auto made = semel::open_sink(stream + "?create=true");
        ASSERT_TRUE(made) << made.error().describe();
        start({.config = "[relay]\nto = \"" + stream + "\"\nlease = \"3s\"\n[consume]\nfrom = \"" + stream +
                         "?ack_wait=2\"\n"});
    }
    /// Makes an order and kills the service for each of these moments, completes all of it, killing it again now and then.
    void walk_circle(std::span<const std::chrono::milliseconds> kill_moments);

    /// Dead at that moment, and there again.
    void kill_after(semel::Duration moment) {
        pause_for(moment);
        service->kill();
        const auto started = service->start_again();
        ASSERT_TRUE(started) << started.error().describe();
    }
    template <class So>
    void await(const So& so) {
        for (int i = 0; i < 1200 && !so(); ++i) pause_for(50ms);
        EXPECT_TRUE(so()) << service->error_output();
    }
    [[nodiscard]] std::vector<TaskAt> running(const std::string& order) const {
        auto tasks = tasks_of(order);
        std::erase_if(tasks, [](const TaskAt& task) { return task.state != "RUNNING"; });
        return tasks;
    }
    [[nodiscard]] std::int64_t pending() {
        return GetParam() == Target::sqlite ? count("SELECT count(*) FROM semel_outbox_pending")
                                            : count("SELECT count(*) FROM semel.outbox_pending");
    }
    [[nodiscard]] std::int64_t things_told_of(std::string_view type) {
        return GetParam() == Target::sqlite
                   ? count("SELECT count(DISTINCT aggregate_id) FROM semel_outbox_event WHERE type = $1", type)
                   : count("SELECT count(DISTINCT aggregate_id) FROM semel.outbox_event WHERE type = $1", type);
    }
};

void OrdersCircle::walk_circle(std::span<const std::chrono::milliseconds> kill_moments) {
    std::vector<std::string> orders;
    for (const auto moment : kill_moments) {
        orders.push_back(make_order());
        kill_after(moment);
    }
    std::size_t kills = kill_moments.size();
    for (const std::string& order : orders) {
        // Reserve, provision, activate: each is begun by what the one before it told.
        for (int step = 0; step < 3; ++step) {
            await([&] { return !running(order).empty(); });
            const auto tasks = running(order);
            ASSERT_EQ(tasks.size(), 1U);
            ASSERT_EQ(command(tasks.front().seen(), "complete").status, 200);
            // Not always after the same step.
            if (step == static_cast<int>(kills % 3)) kill_after(kill_moments[kills++ % kill_moments.size()]);
        }
        EXPECT_EQ(state_of(order), "COMPLETED");
    }
    const auto all = static_cast<std::int64_t>(orders.size());
    await([&] { return count("SELECT count(*) FROM orders_invoice") == all; });
    // Whatever is still sent again after the last crash changes nothing.
    await([&] { return pending() == 0; });
    EXPECT_EQ(count("SELECT count(*) FROM orders_invoice"), all);
    EXPECT_EQ(events("invoice.issued"), all);
    EXPECT_EQ(events("task.started"), all * 3);
    EXPECT_EQ(things_told_of("task.started"), all * 3) << "each once";
    EXPECT_EQ(parked("fulfilment") + parked("billing"), 0);
    // Of each order three messages are for fulfilment (created, and two tasks that became ready), one for billing.
    EXPECT_EQ(inbox("fulfilment"), all * 3);
    EXPECT_EQ(inbox("billing"), all);
    expect_consistent_orders();
    std::printf("%zu kills\n", kills);
}

TEST_P(OrdersCircle, EveryTaskIsBegunOnceAndEveryOrderInvoicedOnceHoweverOftenItIsKilled) {
    start_webhook_circle();
    if (!HasFatalFailure()) walk_circle(moments);
}

TEST_P(OrdersCircle, TheSameByWayOfABroker) {
    start_nats_circle();
    if (!HasFatalFailure()) walk_circle(std::span(moments).subspan(1, 2));
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersCircle, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
