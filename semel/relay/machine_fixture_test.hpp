#pragma once

#include "semel/relay/machine.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace semel {

/// A machine that is led by the hand: each call checks that it asks for what the test answers.
class Machine : public ::testing::Test {
protected:
    static RelayRules rules() {
        RelayRules rules;
        rules.batch = 8;
        rules.breaker.attempts_min = 3;
        rules.poison_of = {{"parks", Poison::park}, {"skips", Poison::skip}};
        return rules;
    }
    template <class T>
    T expect() {
        const RelayAction action = machine.next(clock.now());
        EXPECT_TRUE(std::holds_alternative<T>(action)) << "not " << typeid(T).name() << " but " << action.index();
        return std::holds_alternative<T>(action) ? std::get<T>(action) : T{};
    }
    void hold(std::vector<std::int32_t> partitions, std::int64_t epoch = 1) {
        expect<relay_action::Tend>();
        std::vector<HeldPartition> held;
        for (const std::int32_t one : partitions) held.push_back({.partition = one, .epoch = epoch});
        const std::size_t share = held.size();
        machine.tended(clock.now(), std::move(held), share, clock.now());
    }
    struct Row {
        std::int64_t id = 0;
        std::int64_t aggregate = 0;
        std::int32_t attempts = 0;
        std::string type = "blocks";
        std::int32_t partition = 1;
        bool behind_parked = false;
    };
    void give(const std::vector<Row>& rows) {
        expect<relay_action::ReadPending>();
        std::vector<PendingEvent> events;
        std::vector<Message> messages;
        for (const Row& row : rows) {
            events.push_back({.row = {.id = row.id, .position = row.id, .partition = row.partition},
                              .aggregate = row.aggregate,
                              .attempts = row.attempts,
                              .behind_parked = row.behind_parked});
            Message message;
            message.aggregate = {.type = row.type, .id = std::to_string(row.aggregate)};
            message.position = row.id;
            messages.push_back(std::move(message));
        }
        machine.read(std::move(events), std::move(messages), clock.now());
    }
    void answer(const std::vector<Status>& answers) {
        expect<relay_action::Publish>();
        machine.published(answers, clock.now());
    }
    static Status no(Fault fault, std::optional<Duration> retry_after = {}) {
        Error error;
        error.fault = fault;
        error.message = "no";
        error.cause.retry_after = retry_after;
        return fail(std::move(error));
    }
    const Settlement& settlement() { return machine.settlement(); }
    std::vector<std::int64_t> acknowledged() {
        std::vector<std::int64_t> ids;
        for (const PendingRow& row : settlement().acknowledged) ids.push_back(row.id);
        return ids;
    }
    void settle() {
        expect<relay_action::Settle>();
        machine.settled();
    }

    testing::ManualClock clock;
    SeededRandom random{1};
    RelayMachine machine{rules(), random};
};

}  // namespace semel
