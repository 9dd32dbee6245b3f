// Every step of a command's conversation with its database is made to fail in turn, before and after it took effect,
// with and without loss of the connection. At most one effect; effect, event and record stand or fall together; and a
// repeat with the same key ends with the same bytes.

#include "semel/db/transact.hpp"
#include "semel/testing/faulty_database.hpp"
#include "tests/conformance/target.hpp"
#include "tests/protocol/shop.hpp"

#include <cstdio>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

using conformance::ConformanceTest;
using conformance::Target;
using testing::FaultPlan;
using testing::StepFailure;

class EveryStep : public ConformanceTest {
protected:
    void SetUp() override {
        ConformanceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        run(shop_schema);
    }

    [[nodiscard]] std::int64_t how_many(Sql sqlite, Sql postgres, const std::string& key) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
            const Rows rows = SEMEL_TRY(tx.execute(GetParam() == Target::sqlite ? sqlite : postgres, key));
            return rows.scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }
    /// The effects under a key, or -1 when effect, event and record do not agree.
    [[nodiscard]] std::int64_t effects(const std::string& key) {
        const std::int64_t payments =
            how_many("SELECT count(*) FROM payment WHERE id = $1", "SELECT count(*) FROM payment WHERE id = $1", key);
        const std::int64_t events = how_many("SELECT count(*) FROM semel_outbox_event WHERE aggregate_id = $1",
                                             "SELECT count(*) FROM semel.outbox_event WHERE aggregate_id = $1", key);
        const std::int64_t records =
            how_many("SELECT count(*) FROM semel_command_record WHERE key = $1 AND state = 'succeeded'",
                     "SELECT count(*) FROM semel.command_record WHERE key = $1 AND state = 'succeeded'", key);
        return payments == events && events == records ? payments : -1;
    }

    [[nodiscard]] Shop faulty_shop(FaultPlan& plan, const Policy& policy) const {
        DatabaseOptions options = patient(2);
        options.pool.check_after_idle = Duration::zero();
        options.retry = policy;
        options.catalogue = driver_.catalogue;
        Shop shop{.database = Database::create(testing::faulty(driver_.connect, plan), options).value(),
                  .executor = nullptr};
        shop.executor = Executor::create(*shop.database, {.cache_bytes = 0}).value();
        return shop;
    }

    /// One command with one failure, then the same command again without.
    void check(const std::string& which, const Shop& shop, FaultPlan& plan, const Handler& handler,
               const std::string& key, const Reply& expected, bool final_refusal) {
        Command asked = command(key);
        asked.deadline = shop.in(20s);
        const auto first = shop.executor->execute(asked, handler);
        EXPECT_EQ(plan.failures(), 1U) << which << ": the failure was never met";
        const std::int64_t found = effects(key);
        const std::int64_t wanted = final_refusal ? 0 : 1;
        if (first.committed()) {
            EXPECT_EQ(first.value().reply, expected) << which;
            EXPECT_EQ(found, wanted) << which << ": " << told(first);
        } else if (first.not_committed()) {
            EXPECT_EQ(found, 0) << which << ": " << told(first);
        } else {
            EXPECT_TRUE(found == 0 || found == wanted) << which << ": " << told(first);
        }
        plan.restart();
        asked.attempt = 2;
        asked.deadline = shop.in(20s);
        auto again = shop.executor->execute(asked, handler);
        // The server may not have noticed yet that the first connection is gone, and says so.
        const auto refused_for_now = [&] {
            return again.not_committed() && verdict_of(again.error()) == ClaimVerdict::in_progress;
        };
        EXPECT_TRUE(eventually([&] {
            if (refused_for_now()) again = shop.executor->execute(asked, handler);
            return !refused_for_now();
        })) << which;
        ASSERT_TRUE(again.committed()) << which << ": " << told(again);
        EXPECT_EQ(again.value().reply, expected) << which;
        EXPECT_EQ(effects(key), wanted) << which;
        EXPECT_EQ(shop.database->pool().usage().in_use, 0U) << which;
    }

    void fail_every_step(std::string_view label, const std::function<Handler(const std::string&)>& handler_for,
                         const std::function<Reply(const std::string&)>& reply_for, bool final_refusal = false) {
        int runs = 0;
        for (const bool once : {false, true}) {
            const Policy policy =
                once ? Policy::once() : Policy::create({.attempts = 4, .base = std::chrono::milliseconds(1)}).value();
            FaultPlan plan;
            std::vector<testing::Step> history;
            {
                const Shop shop = faulty_shop(plan, policy);
                const std::string key = std::string(label) + (once ? " once" : "");
                ASSERT_TRUE(shop.executor->execute(command(key), handler_for(key)).committed());
                history = plan.history();
            }
            for (const auto when : {StepFailure::When::before, StepFailure::When::after})
                for (const bool closes : {true, false})
                    for (const bool definite : {true, false})
                        for (std::uint64_t n = 1; n <= history.size(); ++n) {
                            // Only a commit that fails before it happens can be definite about it.
                            if (definite &&
                                (history[n - 1] != testing::Step::commit || when == StepFailure::When::after))
                                continue;
                            plan.restart();
                            plan.fail_step(n, {.when = when, .closes = closes, .definite = definite});
                            const Shop shop = faulty_shop(plan, policy);
                            const std::string key = std::string(label) + " " + std::to_string(++runs);
                            const std::string which =
                                key + ": " + std::string(testing::name(history[n - 1])) + " " + std::to_string(n) +
                                (when == StepFailure::When::before ? " before" : " after") +
                                (closes ? " closing" : "") + (definite ? " definite" : "") + (once ? " once" : "");
                            check(which, shop, plan, handler_for(key), key, reply_for(key), final_refusal);
                            if (HasFatalFailure()) return;
                        }
        }
        std::printf("%s: %d runs, one failure each\n", std::string(label).c_str(), runs);
        EXPECT_GT(runs, 30);
    }
};

TEST_P(EveryStep, OfABlindCommandMayFailAndItHasOneEffect) {
    fail_every_step("blind", [](const std::string& key) { return pays(true, key); }, reply_of);
}

TEST_P(EveryStep, OfAReadingCommandMayFailAndItHasOneEffect) {
    fail_every_step("reading", [](const std::string& key) { return pays(false, key); }, reply_of);
}

TEST_P(EveryStep, OfAFinalRefusalMayFailAndItHasNone) {
    const Reply no{.status = 422, .body = "no", .headers = {}};
    fail_every_step(
        "refusal",
        [no](const std::string& key) -> Handler {
            return [no, key](Work& work) -> Result<CommandDecision> {
                SEMEL_TRY(work.tx.execute("SELECT epoch FROM till WHERE id = 1"));
                post_payment(work, key);
                return Rejection{.reply = no, .replay = Replay::yes};
            };
        },
        [&no](const std::string&) -> Reply { return {no}; }, true);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, EveryStep, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return conformance::name(target.param); });

/// The same statements under the same names: what a module asks of one driver it finds in the other.
TEST(Catalogues, OfAllDriversHaveTheSameNames) {
    std::vector<std::string> sqlite;
    std::vector<std::string> postgres;
    const auto directory = testing::TempDir::make("catalogue").value();
    for (const auto& entry : driver("sqlite:" + (directory.path() / "x.db").string()).value().catalogue.entries())
        sqlite.emplace_back(entry.name);
    for (const auto& entry : driver("postgres://localhost/x").value().catalogue.entries())
        postgres.emplace_back(entry.name);
    EXPECT_FALSE(sqlite.empty());
    EXPECT_EQ(sqlite, postgres);
}

}  // namespace
}  // namespace semel::protocol
