// semel.claim and semel.complete from other languages: psql's scripts, Node's `pg`, and both of them against commands
// that C++ executes under the same keys.

#include "semel/testing/process.hpp"
#include "tests/protocol/shop_fixture.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace semel::protocol {
namespace {

using namespace std::chrono_literals;

constexpr Duration limit = std::chrono::seconds(60);

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    EXPECT_TRUE(in) << file;
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

class SqlApi : public ShopTest {
protected:
    [[nodiscard]] std::vector<std::string> environment() const { return {"SEMEL_TEST_DATABASE=" + url()}; }

    static std::filesystem::path file(std::string_view name) { return std::filesystem::path(SQL_API_DIR) / name; }

    /// Runs service.js: all checks, or those that are named.
    [[nodiscard]] testing::Finished run_node(const std::vector<std::string>& checks = {}) const {
        testing::Command command;
        command.argv = {"node", file("service.js")};
        command.argv.insert(command.argv.end(), checks.begin(), checks.end());
        command.environment = environment();
        command.environment.push_back("NODE_PATH=" + file("node_modules").string() + ":/usr/share/nodejs");
        const auto finished = testing::run(command, limit);
        EXPECT_TRUE(finished) << finished.error().describe() << "\nnode is not here: run tools/setup";
        if (!finished) return {};
        if (finished->error_output.find("Cannot find module 'pg'") != std::string::npos)
            ADD_FAILURE() << "Node's module pg is not here: run tools/setup";
        return *finished;
    }
};

TEST_F(SqlApi, FromPsqlSaysWhatTheProtocolSays) {
    testing::Command command;
    command.argv = {"psql", "-X", url(), "-f", file("claim.sql")};
    command.environment = environment();
    const auto finished = testing::run(command, limit);
    ASSERT_TRUE(finished) << finished.error().describe();
    EXPECT_EQ(finished->output, content_of(file("claim.expected"))) << finished->error_output;
    for (const char* code : {"23505", "22004"})
        EXPECT_NE(finished->error_output.find(code), std::string::npos) << finished->error_output;
    // What psql completed is what C++ reads, byte for byte.
    const auto found =
        shop.executor->look_up(Identity::of("shop", "psql", "payment.create", "k1").value().command_id(), shop.in(10s));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->record.reply.status, 201);
    EXPECT_EQ((*found)->record.reply.body, std::string("\x00\xff\x0a\x7b\x7d", 5));
    const std::vector<ReplyHeader> headers{{"Location", "/payments/k1"}};
    EXPECT_EQ((*found)->record.reply.headers, headers);
}

TEST_F(SqlApi, FromNodeClaimsWorksAndCompletesInItsOwnTransaction) {
    ASSERT_TRUE(shop.pay(true, "from-cpp").committed());
    const auto node = run_node();
    EXPECT_TRUE(node.exit.success()) << node.error_output;
    EXPECT_NE(node.output.find("9 checks passed"), std::string::npos) << node.output << node.error_output;
    const auto replayed = shop.executor->execute(command("from-node"), pays(false, "from-node"));
    ASSERT_TRUE(replayed.committed()) << told(replayed);
    EXPECT_EQ(replayed.value().standing, Standing::replayed);
    EXPECT_EQ(replayed.value().reply.status, 202);
    EXPECT_EQ(replayed.value().reply.body, std::string("\x01\x00\x02", 3));
    const std::vector<ReplyHeader> headers{{"Content-Type", "text/plain"}};
    EXPECT_EQ(replayed.value().reply.headers, headers);
    EXPECT_EQ(refused(shop.executor->execute(command("from-node", "amount 2"), pays(true, "from-node"))),
              ClaimVerdict::mismatch);
    EXPECT_EQ(ask("SELECT count(*) FROM payment WHERE id = 'from-node'"), "1");
}

TEST_F(SqlApi, NodeAndCppAtOnceHaveOneEffectPerKey) {
    auto node = start([&] { return run_node({"keys that C++ works on at the same time have one effect each"}); });
    CommandOptions options;
    options.in_progress = InProgress::wait;
    options.in_progress_wait = 20s;
    int executed = 0;
    // From the other end, so that the two meet.
    for (int n = 59; n >= 0; --n) {
        const std::string key = "race-" + std::to_string(n);
        const auto outcome = shop.executor->execute(command(key), options, pays(n % 2 == 0, key));
        ASSERT_TRUE(outcome.committed()) << told(outcome);
        EXPECT_EQ(outcome.value().reply, reply_of(key));
        if (outcome.value().standing == Standing::executed) ++executed;
        // About as slow as the other side.
        std::this_thread::sleep_for(3ms);
    }
    const auto finished = node.get();
    EXPECT_TRUE(finished.exit.success()) << finished.error_output;
    std::printf("executed by C++: %d of 60; by Node: %s", executed, finished.output.c_str());
    EXPECT_EQ(ask("SELECT count(*) FROM payment"), "60");
    EXPECT_EQ(ask("SELECT count(DISTINCT id) FROM payment"), "60");
    EXPECT_EQ(ask("SELECT count(*) FROM semel.command_record"), "60");
}

}  // namespace
}  // namespace semel::protocol
