// Parked messages that people ask for: whoever comes too late changes nothing of what others do, and no message is
// processed twice, however long it was parked.

#include "semel/base/failpoint.hpp"
#include "semel/inbox/retention.hpp"
#include "tests/consuming/redrive_fixture.hpp"

#include <gmock/gmock.h>

namespace semel::consuming {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using ::testing::HasSubstr;

class ConsumerRedrive : public RedriveTest {
protected:
    /// Does something at the first visit of a failpoint.
    [[nodiscard]] static failpoint::Hook first_at(std::string_view place, std::function<void()> what) {
        return failpoint::Hook([place, what = std::move(what), done = false](std::string_view visited) mutable {
            if (visited != place || std::exchange(done, true)) return;
            what();
        });
    }
    /// As another consumer, once the lease has run out.
    void take_instead(const std::string& name) {
        pass(name, redrive_lease);
        taken_ = requests(name).take(1min, soon()).value();
        EXPECT_TRUE(taken_);
    }
    void rename_requests(bool away) {
        if (sqlite())
            run(away ? "ALTER TABLE semel_inbox_redrive RENAME TO semel_inbox_gone"
                     : "ALTER TABLE semel_inbox_gone RENAME TO semel_inbox_redrive");
        else
            run(away ? "ALTER TABLE semel.inbox_redrive RENAME TO inbox_gone"
                     : "ALTER TABLE semel.inbox_gone RENAME TO inbox_redrive");
    }
    std::optional<TakenRedrive> taken_;
};

TEST_P(ConsumerRedrive, WhoeverIsTooLateToPutItBackChangesNothing) {
    park("m");
    ask("m");
    {
        const auto hook = first_at("inbox.before_put_back", [&] { take_instead("m"); });
        EXPECT_FALSE(redriver("m", says_away)->redrive_requested());
    }
    EXPECT_EQ(there_is_of("m"), "taken 2/0, parked 3") << "it is the other's";
    EXPECT_TRUE(requests("m").end(*taken_, soon()));
    EXPECT_EQ(there_is_of("m"), "parked 3");
}

TEST_P(ConsumerRedrive, WhoeverIsTooLateToRefuseItSaysWhyButEndsNothing) {
    park("m");
    ask("m");
    {
        const auto hook = first_at("redrive.before_keep", [&] { take_instead("m"); });
        EXPECT_TRUE(redriver("m", says_bad)->redrive_requested());
    }
    EXPECT_EQ(there_is_of("m"), "taken 2/0, parked 4");
    EXPECT_THAT(reason_of("m"), HasSubstr("no such order"));
}

TEST_P(ConsumerRedrive, WhoeverIsTooLateToProcessItHasNoEffect) {
    park("m");
    ask("m");
    {
        const auto hook = first_at("consumer.before_commit", [&] {
            pass("m", redrive_lease);
            EXPECT_EQ(redriver("m")->redrive_requested().value(), 1U);
        });
        EXPECT_EQ(redriver("m")->redrive_requested().value(), 1U) << "it is processed, whoever did it";
    }
    EXPECT_EQ(there_is_of("m"), "effect");
}

TEST_P(ConsumerRedrive, OneThatCouldNotBePutBackIsTakenWhenItsTimeIsUp) {
    park("m");
    ask("m");
    {
        const auto hook = first_at("inbox.before_put_back", [&] { rename_requests(true); });
        EXPECT_FALSE(redriver("m", says_away)->redrive_requested());
    }
    rename_requests(false);
    EXPECT_EQ(there_is_of("m"), "taken 1/0, parked 3");
    EXPECT_EQ(redriver("m")->redrive_requested().value(), 0U);
    pass("m", redrive_lease);
    const auto old = requests("m").take(0s, soon()).value();
    const auto newer = requests("m").take(0s, soon()).value();
    ASSERT_TRUE(old && newer);
    EXPECT_TRUE(requests("m").put_back(*old, 1h, soon()));
    EXPECT_TRUE(requests("m").end(*old, soon()));
    EXPECT_EQ(there_is_of("m"), "taken 3/0, parked 3");
    EXPECT_TRUE(requests("m").put_back(*newer, 0s, soon()));
    EXPECT_EQ(redriver("m")->redrive_requested().value(), 1U);
    EXPECT_EQ(there_is_of("m"), "effect");
}

TEST_P(ConsumerRedrive, WaitsAsLongAsTheOtherSideAsks) {
    park("m");
    ask("m");
    EXPECT_FALSE(redriver("m", says_away)->redrive_requested());
    EXPECT_EQ(there_is_of("m"), "asked 0/1, parked 3");
    pass("m", redrive_pause / 2);
    EXPECT_EQ(redriver("m")->redrive_requested().value(), 0U);
    pass("m", redrive_pause / 2);
    EXPECT_EQ(redriver("m")->redrive_requested().value(), 1U);
}

TEST_P(ConsumerRedrive, ComesToAnEndWhereHandlersTakeLongerToFailThanTheyHaveToWait) {
    const auto store = ParkedMessages::of(*database, "m").value();
    for (const char* id : {"1", "2", "3"}) {
        EXPECT_TRUE(store.park(message(id), 3, "it was refused", soon()));
        EXPECT_TRUE(requests("m").ask(id, "ann", soon()).value());
    }
    int calls = 0;
    const auto one = redriver("m", [&](ConsumerWork& work) -> Status {
        pass("m", 1h);
        return ++calls < 100 ? says_away(work) : note_effect(work);
    });
    EXPECT_FALSE(one->redrive_requested());
    EXPECT_GE(calls, 3) << "each had its turn";
    EXPECT_LE(calls, 4);
}

TEST_P(ConsumerRedrive, OneThatWasProcessedAfterAllIsADuplicateHoweverLongItIsParked) {
    park("m");
    const auto one = redriver("m");
    source.send(message("m"));  // Someone sent it again, as new.
    source.send(message("other"));
    work_off(*one, source);
    EXPECT_EQ(there_is_of("m"), "parked 3, effect");
    EXPECT_EQ(apply_inbox_retention(*database, {.window = 0s}, soon()).value().messages, 1);
    EXPECT_EQ(one->redrive("m", soon()).value(), InboxVerdict::duplicate);
    EXPECT_EQ(there_is_of("m"), "effect");
    EXPECT_EQ(apply_inbox_retention(*database, {.window = 0s}, soon()).value().messages, 1) << "now it may go";
}

INSTANTIATE_TEST_SUITE_P(Databases, ConsumerRedrive, ::testing::Values(Target::sqlite, Target::postgres), target_name);

}  // namespace
}  // namespace semel::consuming
