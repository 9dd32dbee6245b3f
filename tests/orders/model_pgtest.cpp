// Commands drawn by chance go to the real service over real HTTP and to a model of the domain in memory. Every answer is
// the one that the model gives, and all that is stored is what the model holds: also when the service is killed at any
// moment, or its database drops it, and clients go on under the same keys.

#include "tests/orders/model_fixture.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsSupersetOf;

/// What a walk would wait for most: the next look for quotes whose time has passed.
constexpr const char* prompt_expiry = "[quotes]\nexpiry_pass = \"100ms\"\n";

/// While a command is at the service, but nobody knows how far; sooner rather than later, for fast machines.
semel::Duration some_moment(semel::Random& random) {
    return std::chrono::microseconds(random.below(1 + random.below(6'000)));
}

class OrdersModel : public OrdersModelTest {
protected:
    void SetUp() override {
        OrdersModelTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        // So that the server can tell our sessions from the service's.
        const bool has_sessions = GetParam() == Target::postgres;
        start({.database = address + (has_sessions ? "?application_name=walked" : ""), .config = prompt_expiry});
    }
    void walk_all(const std::vector<std::uint64_t>& seeds, int steps) {
        for (const std::uint64_t seed : seeds) {
            walk(seed, steps);
            if (HasFailure()) return;
        }
        std::printf("%zu types of events, %zu problem codes, %d troubles, %d answers lost or put off\n",
                    events_met.size(), problems_met.size(), troubles, answers_lost);
    }
};

TEST_P(OrdersModel, EveryAnswerAndAllThatIsStoredIsAsModelled) {
    walk_all(fixed_seeds({181, 192}), 200);
    if (std::getenv("SEMEL_SEED") != nullptr) return;
    // Or the walks would not go where they should.
    EXPECT_THAT(events_met,
                IsSupersetOf({"quote.created",   "quote.item_added", "quote.repriced",  "quote.submitted",
                              "quote.approved",  "quote.rejected",   "quote.accepted",  "quote.approval_granted",
                              "quote.converted", "quote.revised",    "quote.expired",   "order.created",
                              "order.held",      "order.progressed", "order.completed", "order.cancelled",
                              "order.repaired",  "task.created",     "task.ready",      "task.completed",
                              "task.failed",     "task.retried",     "task.skipped",    "task.cancelled",
                              "asset.created",   "asset.changed",    "asset.suspended", "asset.resumed",
                              "asset.ended"}));
    EXPECT_THAT(problems_met,
                IsSupersetOf({"NOT_FOUND", "PRECONDITION_REQUIRED", "PRECONDITION_FAILED", "INVALID_STATE_TRANSITION",
                              "DUPLICATE_BUSINESS_COMMAND", "VALIDATION_FAILED"}));
}

TEST_P(OrdersModel, OnAWayThatNobodyHasTakenToo) { walk_all(new_seeds(), 200); }

TEST_P(OrdersModel, KilledAtAnyMomentItGoesOnAsModelled) {
    trouble = [this](semel::Random& random) -> std::function<void()> {
        auto killer = std::make_shared<std::jthread>([moment = some_moment(random), pid = service->pid()] {
            pause_for(moment);
            ::kill(pid, SIGKILL);
        });
        return [this, killer] {
            killer->join();
            service->kill();
            const auto started = service->start_again();
            ASSERT_TRUE(started) << started.error().describe();
        };
    };
    walk_all(new_seeds(), 200);
    EXPECT_GT(troubles, 5);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersModel, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

/// What can only happen between a service and a server.
class OrdersModelDropped : public OrdersModel {};

TEST_P(OrdersModelDropped, DroppedByItsDatabaseAtAnyMomentItGoesOnAsModelled) {
    const auto shared = semel::testing::shared_postgres();
    trouble = [&, name = address.substr(address.rfind('/') + 1)](semel::Random& random) -> std::function<void()> {
        auto dropping = std::make_shared<std::jthread>([&, moment = some_moment(random)] {
            pause_for(moment);
            const auto dropped = (*shared)->scalar(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = 'walked'",
                name);
            EXPECT_TRUE(dropped) << dropped.error().describe();
        });
        return [dropping] { dropping->join(); };
    };
    walk_all(new_seeds(), 200);
    EXPECT_GT(troubles, 5);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersModelDropped, ::testing::Values(Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
