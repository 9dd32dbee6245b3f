// Answers that a real server gives too rarely to wait for, by a scripted one.

#include "semel/db/transaction.hpp"
#include "semel/postgres/open.hpp"
#include "semel/postgres/scripted_server_pgtest.hpp"
#include "semel/postgres/session.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace semel::postgres {
namespace {

Deadline soon() { return Deadline::after(system_clock().now(), std::chrono::seconds(10)); }

Result<std::unique_ptr<Session>> open(const ScriptedServer& server) {
    ConnectOptions options;
    options.connection = server.url();
    const auto connect = connector(options);
    EXPECT_TRUE(connect);
    return (*connect)(soon());
}

/// One INSERT and its COMMIT against a server that answers `on` with `answer`, else as usual.
struct Trial {
    explicit Trial(std::string on, ScriptedAnswer answer)
        : server([on = std::move(on), answer = std::move(answer)](const std::string& sql) {
              return sql.starts_with(on) ? answer : ScriptedServer::usual(sql);
          }) {}

    Outcome<> run(bool marked) {
        auto opened = open(server);
        EXPECT_TRUE(opened) << opened.error().describe();
        session = *std::move(opened);
        Transaction tx(*session, {.marked = marked}, soon());
        tx.post("INSERT INTO item VALUES ($1)", 1);
        return std::move(tx).commit();
    }
    [[nodiscard]] bool saw_commit() const {
        const auto seen = server.seen();
        return std::ranges::find(seen, "COMMIT") != seen.end();
    }

    ScriptedServer server;
    std::unique_ptr<Session> session;
};

ScriptedAnswer error(std::string code, std::string severity = "ERROR", bool untranslated = true) {
    ScriptedAnswer answer;
    answer.error_code = std::move(code);
    answer.error_severity = std::move(severity);
    answer.severity_untranslated = untranslated;
    answer.closes = answer.error_severity != "ERROR";
    return answer;
}
ScriptedAnswer tag(std::string text, std::string warning = {}) {
    ScriptedAnswer answer;
    answer.tag = std::move(text);
    answer.warning = std::move(warning);
    return answer;
}

TEST(AnswerToCommit, WithTheTagCommitIsCommitted) {
    for (const bool marked : {true, false}) {
        Trial trial("COMMIT", tag("COMMIT"));
        const auto outcome = trial.run(marked);
        EXPECT_TRUE(outcome.committed());
        EXPECT_EQ(trial.session->state(), SessionState::idle);
    }
}

TEST(AnswerToCommit, WithTheTagRollbackIsNotCommitted) {
    for (const bool marked : {true, false}) {
        Trial trial("COMMIT", tag("ROLLBACK"));
        const auto outcome = trial.run(marked);
        ASSERT_TRUE(outcome.not_committed());
        EXPECT_EQ(trial.session->state(), SessionState::idle);
    }
}

TEST(AnswerToCommit, WithAWarningBeforeTheTagIsUnknown) {
    for (const bool marked : {true, false}) {
        Trial trial("COMMIT", tag("COMMIT", "annulation de l'attente de la réplication synchrone"));
        const auto outcome = trial.run(marked);
        ASSERT_TRUE(outcome.unknown());
        EXPECT_EQ(trial.session->state(), SessionState::closed);
    }
}

TEST(AnswerToCommit, ThatIsAPlainErrorIsNotCommitted) {
    for (const std::string code : {"40001", "23503", "57014", "53100"}) {
        Trial trial("COMMIT", error(code));
        const auto outcome = trial.run(true);
        ASSERT_TRUE(outcome.not_committed()) << code;
        EXPECT_EQ(outcome.error().cause.code, code);
    }
}

TEST(AnswerToCommit, ThatOnlyEndsTheConnectionIsUnknown) {
    for (const bool marked : {true, false}) {
        for (const auto& answer :
             {error("57P01", "FATAL"), error("57P02", "FATAL"), error("08006", "FATAL"), error("XX000", "PANIC"),
              error("40003"), error("08007"), error("08P01", "FATAL", false)}) {
            Trial trial("COMMIT", answer);
            const auto outcome = trial.run(marked);
            ASSERT_TRUE(outcome.unknown()) << answer.error_code;
            EXPECT_EQ(outcome.error().fault, Fault::unknown);
            EXPECT_EQ(trial.session->state(), SessionState::closed);
        }
    }
}

TEST(AnswerToCommit, ThatIsMissingIsUnknown) {
    ScriptedAnswer silence = tag("");
    silence.closes = true;
    Trial trial("COMMIT", silence);
    EXPECT_TRUE(trial.run(true).unknown());
}

TEST(AnswerToBegin, ThatBeganNothingStopsCommitFromBeingSent) {
    Trial trial("BEGIN", tag("SELECT 0"));
    const auto outcome = trial.run(true);
    ASSERT_TRUE(outcome.unknown()) << "what was sent behind it has committed by itself";
    EXPECT_EQ(outcome.error().fault, Fault::broken);
    EXPECT_FALSE(trial.saw_commit());
}

TEST(AnswerToBegin, ThatBeganNothingIsUnknownEvenIfCommitIsAnsweredWithoutAWarning) {
    Trial trial("BEGIN", tag("SELECT 0"));
    const auto outcome = trial.run(false);
    ASSERT_TRUE(outcome.unknown());
    EXPECT_EQ(outcome.error().fault, Fault::broken);
    EXPECT_EQ(trial.session->state(), SessionState::closed);
}

TEST(AnswerToLimits, ThatIsAnErrorLeavesCommitInDoubtUntilTheyAreInForce) {
    Trial trial("SELECT set_config", error("57014"));
    const auto outcome = trial.run(false);
    ASSERT_TRUE(outcome.unknown()) << "COMMIT may not wait until it is durable";
    EXPECT_TRUE(trial.saw_commit());
    EXPECT_EQ(outcome.error().cause.code, "57014");
    Trial marked("SELECT set_config", error("57014"));
    EXPECT_TRUE(marked.run(true).not_committed());
    EXPECT_FALSE(marked.saw_commit());
}

TEST(AnswerToLimits, ThatFailsOnlyAtItsEndLeavesCommitInDoubt) {
    ScriptedAnswer late = ScriptedServer::usual("SELECT set_config");
    late.error_at_sync = "57014";
    Trial trial("SELECT set_config", late);
    EXPECT_TRUE(trial.run(false).unknown());
    EXPECT_EQ(trial.session->state(), SessionState::closed);
}

TEST(AnswerToLimits, ThatEndsTheConnectionKeepsItsName) {
    Trial trial("SELECT set_config", error("57P01", "FATAL"));
    const auto outcome = trial.run(true);
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().cause.code, "57P01") << outcome.error().describe();
    EXPECT_EQ(outcome.error().fault, Fault::unavailable);
}

TEST(AnswerToAnyStatement, ThatANameIsUnknownIsAConflictUnlessItIsMadeUp) {
    for (const std::string step : {"BEGIN", "SELECT set_config", "SELECT pg_current_xact_id", "COMMIT"}) {
        Trial trial(step, error("26000"));
        const auto outcome = trial.run(true);
        ASSERT_TRUE(outcome.not_committed()) << step;
        EXPECT_EQ(outcome.error().fault, Fault::conflict) << step << ": a pooler may have renamed it";
    }
    Trial of_the_caller("INSERT", error("26000"));
    EXPECT_EQ(of_the_caller.run(true).error().fault, Fault::rejected);
    Trial made_up("BEGIN", error("26000", "FATAL", false));
    EXPECT_TRUE(made_up.run(false).unknown()) << "COMMIT may have reached a server";
}

TEST(AnswerToBegin, ThatIsAnErrorSkipsEverythingBehindIt) {
    for (const bool marked : {true, false}) {
        Trial trial("BEGIN", error("26000"));
        const auto outcome = trial.run(marked);
        ASSERT_TRUE(outcome.not_committed());
        EXPECT_FALSE(trial.saw_commit());
    }
}

TEST(AnswerToAStatement, ThatAPoolerMadeUpSettlesNothingOnceCommitIsOnItsWay) {
    Trial unmarked("INSERT", error("08P01", "FATAL", false));
    EXPECT_TRUE(unmarked.run(false).unknown());
    Trial marked("INSERT", error("08P01", "FATAL", false));
    const auto outcome = marked.run(true);
    ASSERT_TRUE(outcome.not_committed());
    EXPECT_EQ(outcome.error().fault, Fault::unavailable);
    EXPECT_EQ(marked.session->state(), SessionState::closed);
}

// A pooler that prepares by itself prepares a statement anew on another server, and says nothing of it: a column may have
// another type by then, whose binary form must not be taken for a text.
TEST(AnswerToAStatement, WithAnotherTypeInBinaryIsAskedForAgainAndNeverMisread) {
    constexpr std::uint32_t numeric = 1700;
    bool altered = false;
    ScriptedServer server([&altered](const std::string& sql) {
        if (!sql.starts_with("SELECT price")) return ScriptedServer::usual(sql);
        ScriptedAnswer answer = tag("SELECT 1");
        answer.row = {"12.50"};
        if (altered) answer.type = numeric;
        return answer;
    });
    const auto session = open(server);
    ASSERT_TRUE(session) << session.error().describe();
    const auto price = [&]() -> Result<std::string> {
        Transaction tx(**session, {}, soon());
        Rows rows = SEMEL_TRY(tx.execute("SELECT price FROM item"));
        return rows.scalar<std::string>();
    };
    EXPECT_EQ(price().value(), "12.50") << "in text, to see of which type it is";
    ASSERT_TRUE((*session)->reset(soon()));
    EXPECT_EQ(price().value(), "12.50") << "in binary";
    ASSERT_TRUE((*session)->reset(soon()));
    altered = true;
    const auto misread = price();
    ASSERT_FALSE(misread);
    EXPECT_EQ(misread.error().fault, Fault::conflict) << misread.error().describe();
    ASSERT_TRUE((*session)->reset(soon()));
    EXPECT_EQ(price().value(), "12.50") << "as a rerun does, in text again";
}

TEST(AnswerToAConnection, HasItsName) {
    struct Case {
        std::string code, words;
        bool untranslated;
        Fault fault;
    };
    for (const Case& it :
         {Case{"57P03", "the database system is starting up", true, Fault::unavailable},
          Case{"53300", "sorry, too many clients already", true, Fault::unavailable},
          Case{"28P01", "password authentication failed", true, Fault::rejected},
          Case{"3D000", "database \"d\" does not exist", true, Fault::rejected},
          Case{"08P01", "no such database: d", false, Fault::rejected},
          Case{"08P01", "server login has been failing, try again later", false, Fault::unavailable}}) {
        ScriptedServer server(ScriptedServer::usual);
        server.refuse_with(it.code, it.words, it.untranslated);
        const auto session = open(server);
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error().fault, it.fault) << session.error().describe();
        EXPECT_EQ(session.error().cause.code, it.code);
    }
}

}  // namespace
}  // namespace semel::postgres
