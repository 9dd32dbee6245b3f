#include "semel/testing/faulty_database.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace semel::testing {
namespace {

using When = StepFailure::When;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Just enough of a database to see what took effect: statements become durable by COMMIT.
struct Store {
    std::vector<std::string> durable;
    int open_sessions = 0;
};

class StoreSession final : public Session {
public:
    explicit StoreSession(Store& store) : store_(&store) { ++store_->open_sessions; }
    ~StoreSession() override { --store_->open_sessions; }
    StoreSession(const StoreSession&) = delete;
    StoreSession& operator=(const StoreSession&) = delete;

    Status begin(const TransactionOptions&, Deadline) override {
        state_ = SessionState::transaction;
        return {};
    }
    void post(const Statement& statement) override { pending_.emplace_back(statement.sql.text()); }
    void post_ahead(const Statement& statement) override {
        pending_.insert(pending_.begin(), std::string(statement.sql.text()));
    }
    Result<Rows> look(const Statement&, Deadline) override { return Rows(); }
    Result<Rows> execute(const Statement& statement, Deadline) override {
        pending_.emplace_back(statement.sql.text());
        return Rows();
    }
    Status flush(Deadline) override { return {}; }
    Status run_script(std::string_view script, Deadline) override {
        pending_.emplace_back(script);
        return {};
    }
    Outcome<> commit(Deadline) override {
        state_ = SessionState::idle;
        store_->durable.insert(store_->durable.end(), pending_.begin(), pending_.end());
        pending_.clear();
        return Committed<void>{};
    }
    Status rollback(Deadline) override {
        state_ = SessionState::idle;
        pending_.clear();
        return {};
    }
    Mark mark() const override {
        Mark mark;
        mark.taken = true;
        mark.transaction = 7;
        return mark;
    }
    Result<Resolution> resolve(const Mark&, Deadline) override { return Resolution::committed; }
    Status reset(Deadline deadline) override { return rollback(deadline); }
    SessionState state() const noexcept override { return state_; }
    Dialect dialect() const noexcept override { return Dialect::sqlite; }

private:
    Store* store_;
    SessionState state_ = SessionState::idle;
    std::vector<std::string> pending_;
};

class FaultyDatabaseTest : public ::testing::Test {
protected:
    static constexpr Deadline never{};
    static Statement statement(Sql sql) { return {.sql = sql, .parameters = {}, .expected_rows = std::nullopt}; }

    [[nodiscard]] std::unique_ptr<Session> session() { return connect_(never).value(); }
    /// A transaction of every verb; whether it got through, and the outcome if it came that far.
    std::optional<Outcome<>> scenario() {
        auto connected = connect_(never);
        if (!connected) return std::nullopt;
        Session& session = **connected;
        if (!session.begin({}, never)) return std::nullopt;
        session.post(statement("one"));
        if (!session.flush(never)) return std::nullopt;
        if (!session.execute(statement("two"), never)) return std::nullopt;
        return session.commit(never);
    }

    Store store_;
    FaultPlan plan_;
    Connect connect_ = faulty(
        [this](Deadline) -> Result<std::unique_ptr<Session>> { return std::make_unique<StoreSession>(store_); }, plan_);
};

TEST_F(FaultyDatabaseTest, WithoutAFailureIsTheDatabaseInside) {
    EXPECT_TRUE(scenario()->committed());
    EXPECT_THAT(store_.durable, ElementsAre("one", "two"));
    EXPECT_THAT(plan_.history(),
                ElementsAre(Step::connect, Step::begin, Step::post, Step::flush, Step::execute, Step::commit));
    EXPECT_EQ(plan_.failures(), 0U);
}

TEST_F(FaultyDatabaseTest, EveryStepCanBeFailedInTurn) {
    ASSERT_TRUE(scenario());
    const std::uint64_t steps = plan_.steps();
    for (const When when : {When::before, When::after}) {
        for (std::uint64_t step = 1; step <= steps; ++step) {
            store_.durable.clear();
            plan_.restart();
            plan_.fail_step(step, {.when = when});
            const auto outcome = scenario();
            EXPECT_EQ(plan_.failures(), 1U) << step;
            EXPECT_EQ(outcome.has_value(), step == steps) << step;
            const bool took_effect = step == steps && when == When::after;
            EXPECT_EQ(store_.durable.size(), took_effect ? 2U : 0U) << step;
            EXPECT_EQ(store_.open_sessions, 0) << step;
        }
    }
}

TEST_F(FaultyDatabaseTest, CommitThatFailsAfterItsEffectIsUnknownAndDurable) {
    plan_.fail_nth(Step::commit, 1, {.when = When::after});
    EXPECT_TRUE(scenario()->unknown());
    EXPECT_THAT(store_.durable, ElementsAre("one", "two"));
}

TEST_F(FaultyDatabaseTest, CommitThatFailsBeforeItsEffectIsUnknownAndNotDurable) {
    plan_.fail_nth(Step::commit, 1, {.when = When::before});
    EXPECT_TRUE(scenario()->unknown());
    EXPECT_THAT(store_.durable, IsEmpty());
}

TEST_F(FaultyDatabaseTest, CommitThatFailsDefinitelyIsNotCommitted) {
    plan_.fail_nth(Step::commit, 1, {.definite = true});
    EXPECT_TRUE(scenario()->not_committed());
    EXPECT_THAT(store_.durable, IsEmpty());
}

TEST_F(FaultyDatabaseTest, FailureThatClosesLosesTheTransactionButKeepsItsMark) {
    plan_.fail_nth(Step::execute, 1, {});
    const auto session = this->session();
    ASSERT_TRUE(session->begin({}, never));
    EXPECT_FALSE(session->execute(statement("one"), never));
    EXPECT_EQ(session->state(), SessionState::closed);
    EXPECT_EQ(store_.open_sessions, 0);
    EXPECT_EQ(session->mark().transaction, 7U);
    EXPECT_EQ(session->dialect(), Dialect::sqlite);
    EXPECT_FALSE(session->begin({}, never));
    EXPECT_TRUE(session->commit(never).not_committed());
}

TEST_F(FaultyDatabaseTest, FailureThatDoesNotCloseLeavesOnlyRollback) {
    plan_.fail_nth(Step::execute, 1, {.when = When::after, .closes = false});
    const auto session = this->session();
    ASSERT_TRUE(session->begin({}, never));
    EXPECT_FALSE(session->execute(statement("one"), never));
    EXPECT_EQ(session->state(), SessionState::failed);
    EXPECT_FALSE(session->flush(never));
    EXPECT_TRUE(session->commit(never).not_committed());
    EXPECT_TRUE(session->rollback(never));
    EXPECT_EQ(session->state(), SessionState::idle);
    EXPECT_THAT(store_.durable, IsEmpty());
}

TEST_F(FaultyDatabaseTest, FailedBeginCanBeRolledBackWhetherOrNotItTookEffect) {
    for (const When when : {When::before, When::after}) {
        plan_.restart();
        plan_.fail_nth(Step::begin, 1, {.when = when, .closes = false});
        const auto session = this->session();
        EXPECT_FALSE(session->begin({}, never));
        EXPECT_EQ(session->state(), SessionState::failed);
        EXPECT_TRUE(session->rollback(never));
        EXPECT_EQ(session->state(), SessionState::idle);
    }
}

TEST_F(FaultyDatabaseTest, FailedPostSurfacesAtTheNextVerbThatWaits) {
    plan_.fail_nth(Step::post, 1, {});
    const auto session = this->session();
    ASSERT_TRUE(session->begin({}, never));
    session->post(statement("one"));
    EXPECT_EQ(session->state(), SessionState::transaction);
    EXPECT_TRUE(session->commit(never).not_committed());
    EXPECT_THAT(store_.durable, IsEmpty());
}

TEST_F(FaultyDatabaseTest, FailedRollbackResetAndResolveSayWhatTheyAre) {
    plan_.fail_every(Step::rollback, {.error = {Fault::broken, "chosen", "", {}}});
    plan_.fail_every(Step::resolve, {.closes = false});
    plan_.fail_every(Step::reset, {.closes = false});
    const auto first = session();
    ASSERT_TRUE(first->begin({}, never));
    EXPECT_EQ(first->rollback(never).error().message, "chosen");
    const auto second = session();
    EXPECT_EQ(second->resolve({}, never).error().message, "resolve: failed on purpose, step 5, before its effect");
    EXPECT_EQ(second->state(), SessionState::idle);
    EXPECT_FALSE(second->reset(never));
    EXPECT_EQ(second->state(), SessionState::closed);
}

}  // namespace
}  // namespace semel::testing
