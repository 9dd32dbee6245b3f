// Whatever the sink answers, whatever the database fails to do, whenever the relay dies: the first deliveries of an
// aggregate are in order, nothing is lost, and nothing that was acknowledged is kept.

#include "semel/relay/machine.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace semel {
namespace {

using namespace std::chrono_literals;
using namespace relay_action;

constexpr std::int64_t aggregates = 7;
constexpr std::int32_t partitions = 3;
const std::vector<std::string> types{"blocks", "parks", "skips"};

struct Row {
    PendingEvent event;
    std::int64_t position = 0;
    Instant due{};
};

/// Tables, a broker and a relay that runs on them, all in memory and by one seed.
class World {
public:
    explicit World(std::uint64_t seed) : random_(seed) { restart(); }

    void append() {
        const auto aggregate = static_cast<std::int64_t>(random_.below(aggregates));
        const std::int64_t position = ++last_position_;
        const auto partition = static_cast<std::int32_t>(aggregate % partitions);
        rows_.push_back(
            {.event = {.row = {.id = position, .position = position, .partition = partition}, .aggregate = aggregate},
             .position = position});
        appended_[aggregate].push_back(position);
    }

    /// The process dies and another takes its partitions over.
    void restart() {
        RelayRules rules;
        rules.batch = 1 + random_.below(6);
        rules.poison_of = {{"parks", Poison::park}, {"skips", Poison::skip}};
        rules.attempts_max = 2;
        ++epoch_;
        machine_ = std::make_unique<RelayMachine>(rules, random_);
    }

    void step(bool trouble) {
        const RelayAction action = machine_->next(clock_.now());
        // Before it happened, or after it happened and the answer got lost.
        const std::uint64_t failure = trouble ? random_.below(12) : 2;
        const bool asks_database = !std::holds_alternative<Publish>(action) && !std::holds_alternative<Wait>(action);
        if (asks_database && failure == 0) return machine_->database_failed(clock_.now());
        if (std::holds_alternative<Tend>(action)) {
            if (trouble && random_.below(10) == 0) ++epoch_;  // Someone else had them in between.
            std::vector<HeldPartition> held;
            for (std::int32_t n = 0; n < partitions; ++n) held.push_back({.partition = n, .epoch = epoch_});
            machine_->tended(clock_.now(), std::move(held), partitions, clock_.now());
        } else if (const auto* read = std::get_if<ReadPending>(&action)) {
            this->read(*read);
        } else if (std::holds_alternative<Publish>(action)) {
            publish(trouble);
        } else if (std::holds_alternative<Settle>(action)) {
            settle();
            if (asks_database && failure == 1) return machine_->database_failed(clock_.now());
            machine_->settled();
        } else if (const auto* wait = std::get_if<Wait>(&action)) {
            ASSERT_GT(wait->until, clock_.now()) << "it would spin";
            clock_.advance(wait->until - clock_.now());
        }
        if (trouble && random_.below(40) == 0) clock_.advance(std::chrono::seconds(random_.below(40)));
    }

    [[nodiscard]] bool idle() const { return rows_.empty() && machine_->settlement().empty(); }

    void check_order() const {
        for (const auto& [aggregate, delivered] : delivered_)
            EXPECT_TRUE(std::ranges::is_sorted(delivered)) << "aggregate " << aggregate;
    }
    void check_everything_left_or_is_parked() const {
        for (const auto& [aggregate, appended] : appended_)
            for (const std::int64_t position : appended) {
                const auto found = delivered_.find(aggregate);
                const bool left = found != delivered_.end() && std::ranges::count(found->second, position) == 1;
                EXPECT_TRUE(left || parked_.contains(position)) << position << " is lost";
            }
    }
    void check_nothing_acknowledged_is_kept() const {
        // What was acknowledged and is not yet written down is in the settlement, and nowhere else.
        for (const Row& row : rows_)
            if (acknowledged_.contains(row.position)) {
                EXPECT_EQ(std::ranges::count(machine_->settlement().acknowledged, row.event.row), 1) << row.position;
            }
    }
    /// A crash may forget what was acknowledged; then it is sent again, and no more is promised.
    void forget_acknowledged() { acknowledged_.clear(); }

    [[nodiscard]] std::size_t delivered() const {
        std::size_t count = 0;
        for (const auto& [aggregate, all] : delivered_) count += all.size();
        return count;
    }
    [[nodiscard]] std::size_t parked() const { return parked_.size(); }

private:
    [[nodiscard]] bool hidden(const Row& row) const {
        return std::ranges::any_of(rows_, [&](const Row& other) {
            return other.event.aggregate == row.event.aggregate && other.position <= row.position &&
                   other.due > clock_.now();
        });
    }
    void read(const ReadPending& action) {
        std::vector<PendingEvent> events;
        std::vector<Message> messages;
        std::map<std::int32_t, std::size_t> counts;
        for (const Row& row : rows_) {
            const bool asked = std::ranges::any_of(
                action.partitions, [&](const HeldPartition& one) { return one.partition == row.event.row.partition; });
            if (!asked || hidden(row) || counts[row.event.row.partition]++ >= action.each) continue;
            PendingEvent event = row.event;
            const auto blocker = blocking_.find(event.aggregate);
            event.behind_parked = blocker != blocking_.end() && blocker->second < row.position;
            events.push_back(event);
            Message message;
            message.aggregate.type = types[static_cast<std::size_t>(event.aggregate) % types.size()];
            message.aggregate.id = std::to_string(event.aggregate);
            message.position = row.position;
            messages.push_back(std::move(message));
        }
        machine_->read(std::move(events), std::move(messages), clock_.now());
    }
    void deliver(const Message& message) {
        const std::int64_t aggregate = std::stoll(message.aggregate.id);
        EXPECT_FALSE(blocking_.contains(aggregate) && blocking_.at(aggregate) < message.position)
            << message.position << " overtook a parked event";
        if (seen_.insert(message.position).second) delivered_[aggregate].push_back(message.position);
    }
    void publish(bool trouble) {
        std::vector<Status> answers;
        std::set<std::string> stopped;
        const bool away = trouble && random_.below(6) == 0;
        for (const Message& message : machine_->batch()) {
            const std::uint64_t chance = trouble ? random_.below(20) : 20;
            Error error;
            error.fault = away || stopped.contains(message.aggregate.id) ? Fault::unavailable
                          : chance == 0                                  ? Fault::throttled
                          : chance <= 2                                  ? Fault::unknown
                          : chance <= 5                                  ? Fault::rejected
                                                                         : Fault::broken;
            if (error.fault == Fault::broken) {
                deliver(message);
                acknowledged_.insert(message.position);
                answers.emplace_back();
                continue;
            }
            if (error.fault == Fault::unknown && chance == 1) deliver(message);
            stopped.insert(message.aggregate.id);
            answers.push_back(fail(error));
        }
        if (trouble && random_.below(15) == 0 && !answers.empty()) {
            // An answer that never came: whatever it was, the relay does not know it.
            acknowledged_.erase(machine_->batch()[answers.size() - 1].position);
            answers.pop_back();
        }
        machine_->published(answers, clock_.now());
    }
    void settle() {
        const Settlement& settlement = machine_->settlement();
        for (const PendingRow& one : settlement.acknowledged) remove(one.id);
        for (const Failure& one : settlement.failures)
            for (Row& row : rows_)
                if (row.event.row == one.row && one.under.epoch == epoch_) {
                    row.event.attempts = one.attempts;
                    row.due = clock_.now() + one.delay;
                }
        for (const Parking& one : settlement.parked) {
            const auto row = std::ranges::find(rows_, one.row, [](const Row& r) { return r.event.row; });
            if (row == rows_.end() || one.under.epoch != epoch_) continue;
            parked_.insert(row->position);
            if (one.blocks) blocking_.try_emplace(row->event.aggregate, row->position);
            rows_.erase(row);
        }
    }
    void remove(std::int64_t id) {
        std::erase_if(rows_, [&](const Row& row) { return row.event.row.id == id; });
    }

    SeededRandom random_;
    testing::ManualClock clock_;
    std::unique_ptr<RelayMachine> machine_;
    std::int64_t epoch_ = 0;
    std::int64_t last_position_ = 0;
    std::vector<Row> rows_;  ///< By position.
    std::map<std::int64_t, std::vector<std::int64_t>> appended_, delivered_;
    std::map<std::int64_t, std::int64_t> blocking_;  ///< The first parked event of an aggregate that blocks.
    std::set<std::int64_t> seen_, acknowledged_, parked_;
};

TEST(RelayMachineProperty, KeepsOrderAndLosesNothingWhateverHappens) {
    std::size_t delivered = 0;
    std::size_t parked = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        World world(seed);
        SeededRandom random(seed * 977);
        for (int n = 0; n < 400; ++n) {
            if (random.below(4) == 0) world.append();
            if (random.below(60) == 0) {
                world.restart();
                world.forget_acknowledged();
            }
            world.step(true);
            world.check_order();
            world.check_nothing_acknowledged_is_kept();
            if (HasFailure()) return;
        }
        int steps = 0;
        while (!world.idle() && ++steps < 5000) world.step(false);
        EXPECT_TRUE(world.idle()) << "something never leaves";
        world.check_order();
        world.check_everything_left_or_is_parked();
        if (HasFailure()) return;
        delivered += world.delivered();
        parked += world.parked();
    }
    EXPECT_GT(delivered, 10'000U);
    EXPECT_GT(parked, 100U) << "the worlds were too kind";
}

}  // namespace
}  // namespace semel
