// Whatever the handlers and the database answer, in whatever order: the promises of ConsumerMachine hold.

#include "semel/consumer/machine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

namespace semel {
namespace {

using namespace std::chrono_literals;
using namespace consumer_action;

/// A broker and workers that do anything at all, and look whether the machine keeps its promises.
class World {
public:
    explicit World(std::uint64_t seed) : random_(seed), machine_(rules(), random_) {}

    void run() {
        for (int n = 0; n < 20'000 && !(sent_ == messages && finished_ == messages); ++n) {
            act(machine_.next(now_));
            if (::testing::Test::HasFailure()) return;
        }
        EXPECT_EQ(finished_, messages) << "each is acknowledged in the end";
        EXPECT_EQ(machine_.held(), 0U);
    }

private:
    static constexpr std::size_t messages = 150;
    static constexpr std::size_t keys = 6;

    static ConsumerRules rules() {
        ConsumerRules rules;
        rules.workers = 4;
        rules.held_max = 16;
        rules.attempts_max = 3;
        rules.backoff = {.base = 10ms, .cap = 100ms, .throttled_base = 10ms};
        return rules;
    }
    struct Known {
        std::size_t key = 0;
        bool redelivered = false;
        bool settled = false;  ///< Done or parked, and so may be acknowledged.
    };

    void act(const ConsumerAction& action) {
        if (const auto* one = std::get_if<Handle>(&action)) begin(one->tag, false);
        if (const auto* one = std::get_if<Park>(&action)) {
            EXPECT_GE(one->attempts, rules().attempts_max) << "parked too early";
            begin(one->tag, true);
        }
        if (const auto* one = std::get_if<Acknowledge>(&action)) acknowledge(one->tags);
        if (const auto* one = std::get_if<Receive>(&action)) receive(*one);
        EXPECT_FALSE(std::holds_alternative<GiveBack>(action) || std::holds_alternative<Finished>(action));
    }

    void begin(DeliveryTag tag, bool park) {
        const Known& known = known_.at(tag);
        for (const auto& [other, parking] : working_) {
            EXPECT_NE(known_.at(other).key, known.key) << "two of one key at once";
            EXPECT_FALSE(!park && !parking && known.redelivered && known_.at(other).redelivered) << "two suspects";
        }
        EXPECT_GE(tag, oldest_.at(known.key)) << "out of order";
        for (DeliveryTag earlier = 1; earlier < tag; ++earlier)
            EXPECT_TRUE(known_.at(earlier).key != known.key || known_.at(earlier).settled)
                << tag << " overtook " << earlier;
        working_.emplace(tag, park);
        EXPECT_LE(working_.size(), rules().workers);
        if (random_.below(2) == 0) end_one();
    }

    /// Any one of those under way ends, somehow.
    void end_one() {
        if (working_.empty()) return;
        const auto chosen = std::next(working_.begin(), static_cast<std::ptrdiff_t>(random_.below(working_.size())));
        const auto [tag, park] = *chosen;
        working_.erase(chosen);
        Attempted attempted;
        if (const std::uint64_t dice = random_.below(10); dice < 4) {
            constexpr std::array faults{Fault::rejected, Fault::broken, Fault::unavailable, Fault::throttled};
            attempted.end = Attempted::End::failed;
            attempted.error.fault = faults[dice];
        }
        Known& known = known_.at(tag);
        known.settled = attempted.end == Attempted::End::done;
        if (known.settled) oldest_[known.key] = tag;
        machine_.worked(tag, attempted, now_);
    }

    void acknowledge(const std::vector<DeliveryTag>& tags) {
        for (const DeliveryTag tag : tags) {
            EXPECT_TRUE(known_.at(tag).settled) << "acknowledged before it was done";
            EXPECT_TRUE(acknowledged_.insert(tag).second) << "acknowledged twice";
            ++finished_;
        }
    }

    void receive(const Receive& how) {
        EXPECT_GE(how.until, now_);
        EXPECT_LE(machine_.held() + how.limit, rules().held_max) << "asked for more than it may hold";
        if (!working_.empty() && random_.below(3) > 0) return end_one();
        std::vector<Delivery> deliveries;
        const std::size_t count = random_.below(how.limit + 1);
        for (std::size_t n = 0; n < count && sent_ < messages; ++n) {
            const DeliveryTag tag = ++sent_;
            known_[tag] = {.key = random_.below(keys), .redelivered = random_.below(3) == 0};
            deliveries.push_back({.tag = tag,
                                  .redelivered = known_[tag].redelivered,
                                  .message = {.id = std::to_string(tag), .key = std::to_string(known_[tag].key)}});
        }
        if (deliveries.empty()) now_ = std::max(how.until, now_ + 1ms);
        machine_.received(std::move(deliveries));
    }

    SeededRandom random_;
    Instant now_{1h};
    ConsumerMachine machine_;
    std::map<DeliveryTag, Known> known_;
    std::map<std::size_t, DeliveryTag> oldest_{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}};
    std::map<DeliveryTag, bool> working_;  ///< And whether it is being parked.
    std::set<DeliveryTag> acknowledged_;
    std::size_t sent_ = 0;
    std::size_t finished_ = 0;
};

TEST(ConsumerMachineProperty, KeepsItsPromisesWhateverIsAnswered) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World(seed).run();
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace semel
