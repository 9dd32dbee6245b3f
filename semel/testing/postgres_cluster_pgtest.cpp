#include "semel/testing/postgres_cluster.hpp"

#include "semel/testing/postgres_fixture.hpp"
#include "semel/testing/process.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace semel::testing {
namespace {

/// A server of this test's own; tests that hurt it must not hurt the shared one.
class PostgresClusterTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto started = PostgresCluster::start();
        if (!started) GTEST_SKIP() << started.error().describe();
        cluster_ = std::make_unique<PostgresCluster>(*std::move(started));
        must(cluster_->sql("CREATE TABLE note (text text)"));
    }
    static void must(const Status& status) { ASSERT_TRUE(status) << status.error().describe(); }
    [[nodiscard]] std::string count(const PostgresCluster& cluster) {
        const auto text = cluster.scalar("SELECT count(*) FROM note");
        return text ? *text : text.error().describe();
    }
    std::unique_ptr<PostgresCluster> cluster_;
};

TEST_F(PostgresClusterTest, StartsOnLoopbackAndAnswers) {
    EXPECT_EQ(cluster_->scalar("SHOW wal_level").value(), "logical");
    EXPECT_EQ(cluster_->scalar("SHOW listen_addresses").value(), "127.0.0.1");
    EXPECT_EQ(cluster_->scalar("SHOW max_connections").value(), "200");
    EXPECT_NE(cluster_->url().find(std::to_string(cluster_->port())), std::string::npos);
}

TEST_F(PostgresClusterTest, KeepsItsDataAcrossRestartAndSigkill) {
    must(cluster_->sql("INSERT INTO note VALUES ('one')"));
    must(cluster_->restart());
    EXPECT_EQ(count(*cluster_), "1");
    must(cluster_->kill9());
    EXPECT_FALSE(cluster_->scalar("SELECT 1"));
    must(cluster_->start_again());
    EXPECT_EQ(count(*cluster_), "1");
    must(cluster_->stop(PostgresCluster::StopMode::immediate));
    must(cluster_->start_again());
    EXPECT_EQ(count(*cluster_), "1");
}

TEST_F(PostgresClusterTest, LeavesNeitherProcessNorFilesBehind) {
    const std::filesystem::path dir = cluster_->dir();
    const auto pid = static_cast<pid_t>(std::stoi(cluster_->scalar("SELECT pg_backend_pid()").value()));
    cluster_.reset();
    EXPECT_FALSE(is_alive(pid));
    EXPECT_FALSE(std::filesystem::exists(dir));
}

TEST_F(PostgresClusterTest, IsCleanedUpWhileItIsPaused) {
    must(cluster_->pause());
    const std::filesystem::path dir = cluster_->dir();
    cluster_.reset();
    EXPECT_FALSE(std::filesystem::exists(dir));
}

TEST_F(PostgresClusterTest, AnswersAgainAfterAPause) {
    must(cluster_->pause());
    must(cluster_->resume());
    EXPECT_EQ(count(*cluster_), "0");
}

TEST_F(PostgresClusterTest, SynchronousStandbyHasEveryCommitAndTakesOver) {
    auto standby = cluster_->add_standby("standby_one", true);
    ASSERT_TRUE(standby) << standby.error().describe();
    EXPECT_EQ(cluster_->scalar("SHOW synchronous_standby_names").value(), "standby_one");
    must(cluster_->sql("INSERT INTO note VALUES ('one')"));
    EXPECT_FALSE(standby->sql("INSERT INTO note VALUES ('refused')"));
    must(cluster_->kill9());
    must(standby->promote());
    must(standby->sql("INSERT INTO note VALUES ('two')"));
    EXPECT_EQ(count(*standby), "2");
}

TEST_F(PostgresClusterTest, AsynchronousStandbyFollows) {
    auto standby = cluster_->add_standby("standby_two", false);
    ASSERT_TRUE(standby) << standby.error().describe();
    EXPECT_EQ(cluster_->scalar("SELECT sync_state FROM pg_stat_replication").value(), "async");
    EXPECT_EQ(standby->scalar("SELECT pg_is_in_recovery()").value(), "t");
}

TEST(PostgresClusterOptions, SettingsOutrankTheDefaults) {
    auto cluster = PostgresCluster::start({.durable = true, .settings = {"max_connections=20"}});
    if (!cluster) GTEST_SKIP() << cluster.error().describe();
    EXPECT_EQ(cluster->scalar("SHOW max_connections").value(), "20");
    EXPECT_EQ(cluster->scalar("SHOW fsync").value(), "on");
}

TEST(PostgresClusterOptions, WrongSettingFailsWithTheServersOwnWords) {
    const auto cluster = PostgresCluster::start({.durable = false, .settings = {"no_such_setting=1"}});
    ASSERT_FALSE(cluster);
    if (cluster.error().native.empty()) GTEST_SKIP() << cluster.error().describe();
    EXPECT_NE(cluster.error().native.find("no_such_setting"), std::string::npos);
}

class SharedPostgresTest : public PostgresTest {};

TEST_F(SharedPostgresTest, GivesEachTestAnEmptyDatabase) {
    EXPECT_EQ(postgres().scalar("SELECT current_database()", database()).value(), database());
    EXPECT_EQ(postgres().scalar("SELECT count(*) FROM pg_stat_user_tables", database()).value(), "0");
}

}  // namespace
}  // namespace semel::testing
