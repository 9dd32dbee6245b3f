#include "semel/idempotency/state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace semel {
namespace {

using State = CommandState;

constexpr std::array all{State::received,         State::processing, State::succeeded,           State::failed,
                         State::failed_transient, State::expired,    State::needs_reconciliation};

TEST(CommandState, AllowsExactlyTheStepsOfTheProtocol) {
    // Row: from; column: to; in the order of `all`.
    constexpr std::array<std::string_view, 7> expected{
        ".x.....",  // received: a worker takes it
        ".xxxx.x",  // processing
        ".....x.",  // succeeded: only retention touches it
        ".....x.",  // failed: the same
        ".x.x...",  // failed_transient: another attempt, or the last was the last
        ".......",  // expired: nothing leads out of it
        ".xxx...",  // needs_reconciliation: a person
    };
    for (std::size_t from = 0; from < all.size(); ++from)
        for (std::size_t to = 0; to < all.size(); ++to)
            EXPECT_EQ(allowed(all[from], all[to]), expected[from][to] == 'x')
                << name(all[from]) << " to " << name(all[to]);
}

TEST(CommandState, NothingFinishedEverRunsAgain) {
    for (const State to : all) {
        if (to == State::expired) continue;
        for (const State from : {State::succeeded, State::failed, State::expired}) EXPECT_FALSE(allowed(from, to));
    }
}

TEST(CommandState, ListsEachStepOnceAndSaysWhoTakesIt) {
    std::set<std::pair<State, State>> seen;
    for (const CommandTransition& step : command_transitions) {
        EXPECT_TRUE(seen.emplace(step.from, step.to).second) << name(step.from) << " to " << name(step.to);
        EXPECT_FALSE(step.by.empty());
    }
}

TEST(CommandState, IsReadBackFromItsName) {
    std::set<std::string_view> names;
    for (const State state : all) {
        EXPECT_TRUE(names.insert(name(state)).second);
        EXPECT_EQ(parse_command_state(name(state)).value(), state);
    }
    for (const std::string_view unknown : {"", "Succeeded", "succeeded ", "done"}) {
        const auto refused = parse_command_state(unknown);
        ASSERT_FALSE(refused) << unknown;
        EXPECT_EQ(refused.error().fault, Fault::broken);
    }
}

TEST(CommandState, OnlySuccessAndFailureHaveAReply) {
    for (const State state : all) EXPECT_EQ(finished(state), state == State::succeeded || state == State::failed);
}

}  // namespace
}  // namespace semel
