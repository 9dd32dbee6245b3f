// What a person meets at the shell: clear errors that say what to do, and the exit codes of the manual.

#include "semel/testing/postgres_cluster.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

testing::Finished semel(const std::vector<std::string>& arguments, const std::string& user = {},
                        const std::string& program = SEMEL_BINARY) {
    testing::Command command;
    command.argv = {program};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.user = user;
    const auto finished = testing::run(command, 60s);
    EXPECT_TRUE(finished) << finished.error().describe();
    return finished ? *finished : testing::Finished();
}

TEST(CommandLine, ExplainsItself) {
    const auto help = semel({"--help"});
    EXPECT_EQ(help.exit.code, 0);
    EXPECT_THAT(help.output, AllOf(HasSubstr("migrate"), HasSubstr("Exit codes")));
    EXPECT_EQ(semel({"--version"}).exit.code, 0);
}

TEST(CommandLine, CallsAWrongCommandLineUsage) {
    EXPECT_EQ(semel({}).exit.code, 2);
    EXPECT_EQ(semel({"fly"}).exit.code, 2);
    EXPECT_EQ(semel({"migrate"}).exit.code, 2);
    EXPECT_EQ(semel({"migrate", "--db", "sqlite:x", "--timeout", "soon"}).exit.code, 2);
}

TEST(CommandLine, RefusesAnAddressItDoesNotUnderstandWithoutRepeatingIt) {
    for (const std::string& address :
         {std::string("mysql://root:hunter2@localhost/shop"), std::string("postgres://a:hunter2@[::1/shop"),
          std::string("host=localhost passwort=hunter2"), std::string("sqlite:")}) {
        const auto refused = semel({"migrate", "--db", address});
        EXPECT_EQ(refused.exit.code, 3) << address << "\n" << refused.error_output;
        EXPECT_THAT(refused.error_output, Not(HasSubstr("hunter2")));
        EXPECT_THAT(refused.error_output, HasSubstr("semel migrate: "));
    }
}

TEST(CommandLine, SaysThatAHostCannotBeReached) {
    const auto refused = semel({"migrate", "--db", "postgres://shop@127.0.0.1:1/shop", "--timeout", "5"});
    EXPECT_EQ(refused.exit.code, 4);
    EXPECT_THAT(refused.error_output, AllOf(HasSubstr("nothing listens"), HasSubstr("what to do:")));
    const auto unknown = semel({"migrate", "--db", "postgres://shop@no-such-host.invalid/shop", "--timeout", "5"});
    EXPECT_THAT(unknown.exit.code, ::testing::AnyOf(3, 4)) << unknown.error_output;
    EXPECT_THAT(unknown.error_output, HasSubstr("no-such-host.invalid"));
}

TEST(CommandLine, AnswersInJsonWhenAsked) {
    const auto refused = semel({"migrate", "--db", "postgres://shop@127.0.0.1:1/shop", "--timeout", "5", "--json"});
    EXPECT_EQ(refused.exit.code, 4);
    EXPECT_THAT(refused.output, AllOf(HasSubstr(R"("fault": "unavailable")"), HasSubstr(R"("exitCode": 4)")));
    EXPECT_EQ(refused.error_output, "");
}

TEST(CommandLine, SaysThatAFileIsReadOnly) {
    auto directory = testing::TempDir::make("cli");
    ASSERT_TRUE(directory);
    const auto file = directory->path() / "store.db";
    ASSERT_EQ(semel({"migrate", "--db", "sqlite:" + file.string()}).exit.code, 0);
    ::chmod(directory->path().c_str(), 0555);
    ::chmod(file.c_str(), 0444);
    // The superuser may write anywhere, so someone else tries, by a copy: the build may lie where others may not look.
    auto elsewhere = testing::TempDir::make("cli-copy");
    ASSERT_TRUE(elsewhere);
    ::chmod(elsewhere->path().c_str(), 0755);
    const auto copy = elsewhere->path() / "semel";
    std::filesystem::copy_file(SEMEL_BINARY, copy);
    const auto refused = semel({"migrate", "--db", "sqlite:" + file.string()}, ::getuid() == 0 ? "nobody" : "", copy);
    ::chmod(directory->path().c_str(), 0755);
    EXPECT_EQ(refused.exit.code, 3) << refused.error_output;
    EXPECT_THAT(refused.error_output, AllOf(HasSubstr("store.db"), HasSubstr("what to do:")));
}

TEST(CommandLine, RefusesAFileOfAnotherProgram) {
    auto directory = testing::TempDir::make("cli");
    ASSERT_TRUE(directory);
    const auto file = directory->path() / "letter.txt";
    std::ofstream(file) << "Dear customer, this is certainly not a database, however long it goes on like this.\n";
    EXPECT_EQ(semel({"migrate", "--db", "sqlite:" + file.string()}).exit.code, 3);
}

class CommandLineServer : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = testing::shared_postgres();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        server = *shared;
    }
    testing::PostgresCluster* server = nullptr;
};

TEST_F(CommandLineServer, SaysThatTheDatabaseIsMissing) {
    const auto refused = semel({"migrate", "--db", server->url("nowhere")});
    EXPECT_EQ(refused.exit.code, 3);
    EXPECT_THAT(refused.error_output, AllOf(HasSubstr("nowhere"), HasSubstr("what to do:")));
}

TEST_F(CommandLineServer, MigratesSaysSoAndFindsNothingToDoTheSecondTime) {
    const std::string url = server->fresh_database().value();
    const auto pending = semel({"migrate", "--db", url, "--dry-run"});
    EXPECT_EQ(pending.exit.code, 1) << "something would be done";
    EXPECT_THAT(pending.output, HasSubstr("pending 0001 foundation"));
    const auto applied = semel({"migrate", "--db", url});
    EXPECT_EQ(applied.exit.code, 0) << applied.error_output;
    EXPECT_THAT(applied.output, HasSubstr("applied 0001 foundation"));
    const auto again = semel({"migrate", "--db", url});
    EXPECT_EQ(again.exit.code, 0);
    EXPECT_THAT(again.output, HasSubstr("up to date at step "));
    EXPECT_EQ(semel({"migrate", "--db", url, "--dry-run"}).exit.code, 0);
}

TEST(CommandLinePassword, SaysThatThePasswordIsWrongAndNeverShowsIt) {
    auto server = testing::PostgresCluster::start();
    if (!server) GTEST_SKIP() << server.error().describe();
    ASSERT_TRUE(server->sql("CREATE ROLE shop LOGIN PASSWORD 'right'"));
    std::ofstream(std::filesystem::path(server->scalar("SHOW hba_file").value()))
        << "host all postgres 127.0.0.1/32 trust\n"
        << "host all shop 127.0.0.1/32 scram-sha-256\n";
    ASSERT_TRUE(server->sql("SELECT pg_reload_conf()"));
    const std::string host = "@127.0.0.1:" + std::to_string(server->port()) + "/postgres";
    const auto refused = semel({"migrate", "--db", "postgres://shop:hunter2" + host});
    EXPECT_EQ(refused.exit.code, 3) << refused.error_output;
    EXPECT_THAT(refused.error_output,
                AllOf(HasSubstr("password"), HasSubstr("what to do:"), Not(HasSubstr("hunter2"))));
}

TEST_F(CommandLineServer, TheFirstExampleRunsOnBothDatabases) {
    auto directory = testing::TempDir::make("example");
    ASSERT_TRUE(directory);
    for (const std::string& address :
         {"sqlite:" + (directory->path() / "first.db").string(), server->fresh_database().value()}) {
        for (int times = 1; times <= 2; ++times) {
            const auto finished = testing::run({.argv = {EXAMPLE_BINARY, address}}, 60s);
            ASSERT_TRUE(finished) << finished.error().describe();
            EXPECT_EQ(finished->exit.code, 0) << finished->output << finished->error_output;
            EXPECT_EQ(finished->output, "committed, " + std::to_string(times) + " payments so far\n");
        }
    }
}

}  // namespace
}  // namespace semel::integration
