#include "semel/idempotency/claim.hpp"

#include "semel/db/own_code.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using State = CommandState;
using Verdict = ClaimVerdict;

constexpr std::array refusals{Verdict::in_progress, Verdict::replay, Verdict::mismatch, Verdict::expired,
                              Verdict::needs_reconciliation};

Fingerprint asked(std::string_view content = "amount 1") {
    return {.version = fingerprint_version, .digest = sha256(bytes_of(content))};
}

Record record(State state, bool expired = false, std::string_view content = "amount 1") {
    Record found;
    found.state = state;
    found.fingerprint = asked(content);
    found.expired = expired;
    return found;
}

TEST(Claim, SaysWhatEachRecordMeansForWhoeverAsksTheSame) {
    struct Row {
        State state;
        bool expired;
        Verdict verdict;
    };
    for (const auto& [state, expired, verdict] :
         {Row{State::received, false, Verdict::in_progress}, Row{State::processing, false, Verdict::in_progress},
          Row{State::failed_transient, false, Verdict::in_progress}, Row{State::succeeded, false, Verdict::replay},
          Row{State::failed, false, Verdict::replay}, Row{State::succeeded, true, Verdict::expired},
          Row{State::failed, true, Verdict::expired}, Row{State::expired, true, Verdict::expired},
          Row{State::needs_reconciliation, false, Verdict::needs_reconciliation}})
        EXPECT_EQ(verdict_of(record(state, expired), asked()), verdict) << name(state) << (expired ? ", expired" : "");
    EXPECT_EQ(verdict_of(std::optional<Record>(), asked()), Verdict::execute);
}

TEST(Claim, SaysThatAnotherRequestIsAMismatchWhateverTheState) {
    for (const State state : {State::received, State::processing, State::succeeded, State::failed,
                              State::failed_transient, State::expired, State::needs_reconciliation})
        for (const bool expired : {false, true})
            EXPECT_EQ(verdict_of(record(state, expired, "amount 2"), asked()), Verdict::mismatch) << name(state);
    Fingerprint other_rules = asked();
    ++other_rules.version;
    EXPECT_EQ(verdict_of(record(State::succeeded), other_rules), Verdict::mismatch)
        << "digests made by different rules are not comparable";
}

TEST(Claim, ReadsBackTheVerdictThatARefusalStandsFor) {
    for (const Verdict verdict : refusals) {
        const Error error = refusal(verdict);
        EXPECT_EQ(error.fault, Fault::rejected) << name(verdict);
        EXPECT_FALSE(error.message.empty());
        EXPECT_EQ(verdict_of(error), verdict);
    }
}

TEST(Claim, TakesAViolatedKeyOfTheRecordForSomeoneElsesCommandAndNoOther) {
    Error error;
    error.cause.code = "23505";
    error.cause.constraint = "semel_command_record_pkey";
    EXPECT_EQ(verdict_of(error), Verdict::in_progress);
    error.cause.constraint = "payment_pkey";
    EXPECT_EQ(verdict_of(error), std::nullopt);
    EXPECT_EQ(verdict_of(Error()), std::nullopt);
    for (const std::string_view code : {"SM006", "SM007", "40001", "SM00", ""}) {
        Error other;
        other.cause.code = code;
        EXPECT_EQ(verdict_of(other), std::nullopt) << code;
    }
}

TEST(Claim, CallsEachVerdictByTheCodeThatTheDatabasesRaise) {
    EXPECT_EQ(refusal(Verdict::in_progress).cause.code, "SM001");
    EXPECT_EQ(refusal(Verdict::replay).cause.code, "SM002");
    EXPECT_EQ(refusal(Verdict::mismatch).cause.code, "SM003");
    EXPECT_EQ(refusal(Verdict::expired).cause.code, "SM004");
    EXPECT_EQ(refusal(Verdict::needs_reconciliation).cause.code, "SM005");
    EXPECT_EQ(name(Verdict::execute), "execute");
    for (const Verdict verdict : refusals) {
        const OwnCode* own = own_code(refusal(verdict).cause.code);
        ASSERT_NE(own, nullptr);
        EXPECT_EQ(own->name, verdict == Verdict::replay ? "done" : name(verdict));
    }
}

TEST(Claim, StoresTheVersionOfTheRulesAheadOfTheDigest) {
    const Statements statements{.claim_guard = "",
                                .claim_lock = "",
                                .claim_wait = "",
                                .record_finish = "",
                                .record_look = "",
                                .record_look_by_id = "",
                                .record_expire = "",
                                .record_forget = "",
                                .barrier = ""};
    const Identity identity = Identity::of("shop", "web", "pay", "k").value();
    const Claim claim(statements, identity, asked());
    const BytesView stored = claim.stored_fingerprint();
    ASSERT_EQ(stored.size(), 33U);
    EXPECT_EQ(std::to_integer<int>(stored.front()), fingerprint_version);
    EXPECT_EQ(hex(stored.subspan(1)), hex(asked().digest));
}

}  // namespace
}  // namespace semel
