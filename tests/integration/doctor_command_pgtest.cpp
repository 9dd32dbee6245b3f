// `semel doctor` as a person runs it, on both databases, healthy and not.

#include "semel/testing/pgbouncer.hpp"
#include "semel/testing/process.hpp"
#include "tests/relay/fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class DoctorCommand : public relaying::RelayTest {
protected:
    testing::Finished examine(const std::string& address, std::vector<std::string> more = {}) {
        std::vector<std::string> argv{SEMEL_BINARY, "doctor", "--db", address};
        argv.insert(argv.end(), more.begin(), more.end());
        const auto finished = testing::run({.argv = argv}, 60s);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : testing::Finished();
    }
    /// The finding of one check.
    Json finding(const std::string& check, int code = 1) {
        const auto done = examine(address_, {"--json"});
        EXPECT_EQ(done.exit.code, code) << done.output << done.error_output;
        const Json body = Json::parse(done.output, nullptr, false);
        for (const Json& one : body.value("findings", Json::array()))
            if (one["check"] == check) return one;
        ADD_FAILURE() << "no finding " << check << " in " << done.output;
        return Json::object();
    }
    std::string line_;
};

TEST_P(DoctorCommand, FindsWhatIsBadAndNothingElse) {
    append({1, 2});
    const auto done = examine(address_);
    // The servers of tests forgo fsync; the file of SQLite does not.
    EXPECT_EQ(done.exit.code, sqlite() ? 0 : 1) << done.output << done.error_output;
    for (std::istringstream lines(done.output); std::getline(lines, line_);) {
        const bool bad = line_.starts_with("BAD");
        EXPECT_EQ(bad, !sqlite() && line_.find("fsync off") != std::string::npos) << line_;
    }
    if (!sqlite()) {
        EXPECT_THAT(done.output, HasSubstr("advisory locks exclude each other"));
        EXPECT_THAT(done.output, HasSubstr("a notification arrives"));
    }
}

TEST_P(DoctorCommand, TellsASchemaThatIsBehind) {
    run(sqlite() ? "DELETE FROM semel_schema_step WHERE number = (SELECT max(number) FROM semel_schema_step)"
                 : "DELETE FROM semel.schema_step WHERE number = (SELECT max(number) FROM semel.schema_step)");
    const Json schema = finding("schema");
    EXPECT_EQ(schema["verdict"], "BAD");
    EXPECT_THAT(schema["remedy"].get<std::string>(), HasSubstr("semel migrate"));
}

TEST_P(DoctorCommand, TellsASequenceThatARestoreSetBack) {
    if (sqlite()) return;  // Positions come from the table itself there.
    append({1, 2, 3});
    run("SELECT setval('semel.outbox_position', 1)");
    const Json sequence = finding("sequence");
    EXPECT_EQ(sequence["verdict"], "BAD");
    EXPECT_THAT(sequence["remedy"].get<std::string>(), HasSubstr("setval('semel.outbox_position', 3)"));
    run("SELECT setval('semel.outbox_position', 3)");
    EXPECT_EQ(finding("sequence")["verdict"], "ok");
    // A redriven row has a number of its own from the same sequence, which nobody else may get.
    run("UPDATE semel.outbox_pending SET pending_id = 7 WHERE position = 2");
    EXPECT_THAT(finding("sequence")["remedy"].get<std::string>(), HasSubstr("setval('semel.outbox_position', 7)"));
}

TEST_P(DoctorCommand, TellsASlotThatNobodyReads) {
    if (sqlite()) return;  // It has no log to read.
    if (count("SELECT count(*) FROM pg_settings WHERE name = 'wal_level' AND setting = 'logical'") == 0)
        GTEST_SKIP() << "the server has wal_level below logical";
    run("SELECT pg_create_logical_replication_slot('doctor_test', 'pgoutput')");
    const Json slot = finding("slot");
    run("SELECT pg_drop_replication_slot('doctor_test')");
    EXPECT_EQ(slot["verdict"], "notice");
    EXPECT_THAT(slot["what"].get<std::string>(), HasSubstr("doctor_test: idle"));
    EXPECT_THAT(slot["remedy"].get<std::string>(), HasSubstr("max_slot_wal_keep_size"));
}

TEST_P(DoctorCommand, SaysThatAStoreCannotBeReachedAndDoesNotShowThePassword) {
    const auto done = examine("postgres://me:geheim@127.0.0.1:1/shop");
    EXPECT_EQ(done.exit.code, 4) << done.output;
    EXPECT_THAT(done.error_output, HasSubstr("nothing listens there"));
    EXPECT_THAT(done.error_output + done.output, Not(HasSubstr("geheim")));
}

INSTANTIATE_TEST_SUITE_P(Every, DoctorCommand,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres),
                         conformance::target_name);

}  // namespace
}  // namespace semel::integration
