// The capstone: enforcement actions on a case. One per case and violation code; a duplicate request creates no second
// one; the event is emitted with it; serialization failures and deadlocks rerun the whole transaction; two seconds.

#include "tests/orders/fixture.hpp"

#include <atomic>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;

class Capstone : public OrdersTest {
protected:
    void SetUp() override {
        OrdersTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        start();
        if (HasFatalFailure()) return;
        const HttpResponse opened = post("/api/v1/cases", "open", R"({"subject":"noise at night"})");
        ASSERT_EQ(opened.status, 201) << opened.body;
        actions = "/api/v1/cases/" + opened.member("caseId") + "/enforcement-actions";
    }

    [[nodiscard]] HttpResponse act(const std::string& key, const std::string& code = "V-1") const {
        return post(actions, key, R"({"violationCode":")" + code + R"("})");
    }
    [[nodiscard]] std::int64_t stored() { return count("SELECT count(*) FROM orders_enforcement_action"); }

    std::string actions;
};

TEST_P(Capstone, ADuplicateRequestCreatesNoSecondAction) {
    const HttpResponse first = act("k");
    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.header("Location"), actions + "/" + first.member("actionId"));
    EXPECT_EQ(get(*first.header("Location")).body, first.body);
    const HttpResponse repeat = act("k");
    EXPECT_EQ(repeat.body, first.body);
    EXPECT_EQ(repeat.header("Location"), first.header("Location"));
    EXPECT_EQ(repeat.header("Idempotency-Replayed"), "true");
    EXPECT_EQ(stored(), 1);
    EXPECT_EQ(events("enforcement_action.created"), 1);
}

TEST_P(Capstone, ThereIsOneActionPerCaseAndViolationCode) {
    const HttpResponse first = act("a");
    ASSERT_EQ(first.status, 201);
    const HttpResponse second = act("b");
    EXPECT_EQ(second.status, 409);
    EXPECT_EQ(second.code(), "DUPLICATE_BUSINESS_COMMAND");
    EXPECT_EQ(second.member("existingId"), first.member("actionId"));
    EXPECT_EQ(act("c", "V-2").status, 201);
    EXPECT_EQ(stored(), 2);
    EXPECT_EQ(events("enforcement_action.created"), 2);
}

TEST_P(Capstone, OfThirtyTwoKeysThatRaceForOneActionOneWins) {
    constexpr int racers = 32;
    std::atomic<int> created = 0;
    std::atomic<int> refused = 0;
    {
        std::vector<std::jthread> clients;
        for (int i = 0; i < racers; ++i)
            clients.emplace_back([&, i] {
                const HttpResponse answer = act("race-" + std::to_string(i));
                if (answer.status == 201) ++created;
                if (answer.status == 409 && answer.code() == "DUPLICATE_BUSINESS_COMMAND") ++refused;
                EXPECT_THAT(answer.status, ::testing::AnyOf(201, 409)) << answer.body;
            });
    }
    EXPECT_EQ(created, 1);
    EXPECT_EQ(refused, racers - 1);
    EXPECT_EQ(stored(), 1);
    EXPECT_EQ(events("enforcement_action.created"), 1);
}

TEST_P(Capstone, AnActionOfAnUnknownCaseIsNotFound) {
    const std::string other = "/api/v1/cases/0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12/enforcement-actions";
    EXPECT_EQ(post(other, "k", R"({"violationCode":"V-1"})").status, 404);
    EXPECT_EQ(get(other).status, 404);
    EXPECT_EQ(get(actions).member("items"), "[]");
    // Another tenant's case is as unknown as one that does not exist.
    EXPECT_EQ(post(actions, "k", R"({"violationCode":"V-1"})", {{"X-Tenant-Id", "other"}}).status, 404);
    EXPECT_EQ(stored(), 0);
}

TEST_P(Capstone, TheCallerHearsWithinTwoSecondsAndNothingWasDone) {
    Blocker blocker(database(), GetParam(), "LOCK TABLE orders_enforcement_action IN ACCESS EXCLUSIVE MODE");
    const semel::Instant began = semel::system_clock().now();
    const HttpResponse answer = act("k");
    const auto took = semel::system_clock().now() - began;
    EXPECT_THAT(answer.status, ::testing::AnyOf(503, 504)) << answer.body;
    EXPECT_THAT(answer.code(),
                ::testing::AnyOf("DEADLINE_EXCEEDED", "TRANSIENT_PERSISTENCE_FAILURE", "OUTCOME_UNKNOWN"));
    EXPECT_GE(took, 500ms);
    EXPECT_LE(took, 4s) << "two seconds, the second that the server allows on top, and a busy machine";
    blocker.release();
    HttpResponse retried = act("k");
    for (int i = 0; i < 300 && retried.status != 201; ++i) {
        pause_for(20ms);
        retried = act("k");
    }
    EXPECT_EQ(retried.status, 201) << retried.body;
    EXPECT_EQ(stored(), 1);
    EXPECT_EQ(events("enforcement_action.created"), 1);
}

TEST_P(Capstone, ACallerWhoHasLessTimeSaysSo) {
    Blocker blocker(database(), GetParam(), "LOCK TABLE orders_enforcement_action IN ACCESS EXCLUSIVE MODE");
    const semel::Instant began = semel::system_clock().now();
    const HttpResponse answer = post(actions, "k", R"({"violationCode":"V-1"})", {{"X-Deadline-Remaining-Ms", "300"}});
    EXPECT_THAT(answer.status, ::testing::AnyOf(503, 504)) << answer.body;
    EXPECT_LE(semel::system_clock().now() - began, 2s);
    blocker.release();
}

INSTANTIATE_TEST_SUITE_P(Databases, Capstone, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

/// What only PostgreSQL does to a transaction.
class CapstonePostgres : public Capstone {
protected:
    /// `trigger` attaches fail_insert(times, SQLSTATE): that many inserts fail as the server itself raises it.
    void fail_inserts(const std::string& trigger) {
        const auto shared = semel::testing::shared_postgres();
        const std::string name = address.substr(address.rfind('/') + 1);
        ASSERT_TRUE((*shared)->sql(
            "CREATE SEQUENCE inserts; "
            "CREATE FUNCTION fail_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF nextval('inserts') <= TG_ARGV[0]::int THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = TG_ARGV[1]; "
            "END IF; RETURN NEW; END $$",
            name));
        ASSERT_TRUE((*shared)->sql(trigger, name));
    }
    // A sequence counts what was rolled back, too.
    [[nodiscard]] std::int64_t inserts() { return count("SELECT last_value FROM inserts"); }
};

TEST_P(CapstonePostgres, ASerializationFailureRerunsTheWholeTransaction) {
    fail_inserts(
        "CREATE TRIGGER fails BEFORE INSERT ON orders_enforcement_action FOR EACH ROW "
        "EXECUTE FUNCTION fail_insert('2', '40001')");
    const HttpResponse answer = act("k");
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_EQ(inserts(), 3);
    EXPECT_EQ(stored(), 1);
    EXPECT_EQ(events("enforcement_action.created"), 1);
}

TEST_P(CapstonePostgres, ADeadlockRerunsTheWholeTransaction) {
    fail_inserts(
        "CREATE TRIGGER fails BEFORE INSERT ON orders_enforcement_action FOR EACH ROW "
        "EXECUTE FUNCTION fail_insert('2', '40P01')");
    EXPECT_EQ(act("k").status, 201);
    EXPECT_EQ(inserts(), 3);
    EXPECT_EQ(stored(), 1);
    EXPECT_EQ(events("enforcement_action.created"), 1);
}

TEST_P(CapstonePostgres, WhoOwnsTheRetriesFurtherOutGetsOneAttempt) {
    fail_inserts(
        "CREATE TRIGGER fails BEFORE INSERT ON orders_enforcement_action FOR EACH ROW "
        "EXECUTE FUNCTION fail_insert('2', '40001')");
    const HttpResponse answer =
        post(actions, "k", R"({"violationCode":"V-1"})", {{"X-Retry-Owner", "gateway"}, {"X-Attempt", "1"}});
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_EQ(answer.code(), "TRANSIENT_PERSISTENCE_FAILURE");
    EXPECT_TRUE(answer.header("Retry-After"));
    EXPECT_EQ(inserts(), 1);
    EXPECT_EQ(stored(), 0);
}

TEST_P(CapstonePostgres, AnythingElseIsNotTriedAgain) {
    fail_inserts(
        "CREATE TRIGGER fails BEFORE INSERT ON orders_enforcement_action FOR EACH ROW "
        "EXECUTE FUNCTION fail_insert('1', '23514')");
    const HttpResponse answer = act("k");
    EXPECT_GE(answer.status, 400) << answer.body;
    EXPECT_EQ(inserts(), 1);
    EXPECT_EQ(stored(), 0);
    EXPECT_EQ(events("enforcement_action.created"), 0);
}

INSTANTIATE_TEST_SUITE_P(Databases, CapstonePostgres, ::testing::Values(Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
