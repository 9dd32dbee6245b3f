// What a person meets who configures the service: mistakes named by file, line and key, and the exit codes of the manual.

#include "semel/testing/temp_dir.hpp"
#include "tests/orders/http_client.hpp"
#include "tests/orders/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace orders::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OrdersConfig : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = semel::testing::TempDir::make("orders-config");
        ASSERT_TRUE(made) << made.error().describe();
        directory_.emplace(*std::move(made));
    }

    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
        const auto file = directory_->path() / name;
        std::ofstream(file) << text;
        return file.string();
    }
    [[nodiscard]] std::string sqlite() const { return "sqlite:" + (directory_->path() / "orders.db").string(); }

    [[nodiscard]] static semel::testing::Finished run(const std::vector<std::string>& arguments) {
        const auto finished = run_service(arguments);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : semel::testing::Finished();
    }
    /// It must not start with this file, and say all of this.
    void expect_refused(const std::string& text, const std::vector<std::string>& said) const {
        const auto refused = run({"--db", sqlite(), "--listen", "127.0.0.1:0", "--config", write("orders.toml", text)});
        EXPECT_EQ(refused.exit.code, 3) << text << "\n" << refused.output << refused.error_output;
        for (const std::string& part : said) EXPECT_THAT(refused.error_output, HasSubstr(part)) << text;
    }

    std::optional<semel::testing::TempDir> directory_;
};

TEST_F(OrdersConfig, TheCommandLineExplainsItself) {
    const auto help = run({"--help"});
    EXPECT_EQ(help.exit.code, 0);
    EXPECT_THAT(help.output,
                AllOf(HasSubstr("--db"), HasSubstr("--listen"), HasSubstr("--config"), HasSubstr("Exit codes")));
    EXPECT_EQ(run({"--version"}).exit.code, 0);
    EXPECT_EQ(run({"--fly"}).exit.code, 2);
    EXPECT_EQ(run({"--db"}).exit.code, 2);
}

TEST_F(OrdersConfig, AMistakeIsNamedByFileLineAndKeyWithWhatIsAllowed) {
    expect_refused("listen = \"127.0.0.1:0\"\nworkerz = 8\n", {"orders.toml:2:", "`workerz`", "listen", "limits"});
    expect_refused("\n\n[limits]\nworkers = \"many\"\n", {"orders.toml:4:", "`limits.workers`", "from 1 to 1024"});
    expect_refused("[limits]\nworkers = 0\n", {"orders.toml:2:", "from 1 to 1024"});
    expect_refused("[limits]\npool = 1.5\n", {"orders.toml:2:", "`limits.pool`"});
    expect_refused("[limits]\nbody_bytes = 99999999999\n", {"orders.toml:2:", "`limits.body_bytes`"});
    expect_refused("limits = 7\n", {"orders.toml:1:", "`limits`", "[limits]"});
    expect_refused("profile = \"modern\"\n", {"orders.toml:1:", "`profile`", "classic", "ietf"});
    expect_refused("drain = 30\n", {"orders.toml:1:", "`drain`", "100ms"});
    expect_refused("drain = \"soon\"\n", {"orders.toml:1:", "as in \"30s\""});
    expect_refused("drain = \"2d\"\n", {"orders.toml:1:", "\"1h\""});
    expect_refused("[retention.operation]\n\"payment.delete\" = \"1h\"\n", {"orders.toml:2:", "payment.create"});
    expect_refused("[retention.operation]\n\"payment.create\" = \"1s\"\n", {"orders.toml:2:", "\"1m\""});
    expect_refused("[quotes]\napproval_from = 1000\n", {"orders.toml:2:", "`quotes.approval_from`", "\"1000.00\""});
    expect_refused("[quotes]\napproval_from = \"-1\"\n", {"orders.toml:2:", "`quotes.approval_from`"});
    expect_refused("[quotes]\nvalidity = \"0s\"\n", {"orders.toml:2:", "`quotes.validity`", "\"1s\""});
    expect_refused("[quotes]\napproval_from = \"50\"\nsecond_approval_from = \"10\"\n",
                   {"orders.toml:1:", "`quotes.second_approval_from`", "not less than"});
    expect_refused(
        "[callbacks.a]\ntenant = \"t\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n"
        "[callbacks.b]\ntenant = \"t\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n",
        {"orders.toml:4:", "`callbacks.b.secret`", "another integration"});
    expect_refused("[quotes]\napprovals = 1\n", {"orders.toml:2:", "`quotes.approvals`", "second_approval_from"});
    expect_refused("[callbacks]\nbank = \"x\"\n", {"orders.toml:2:", "`callbacks.bank`", "[callbacks.bank]"});
    expect_refused("[callbacks.bank]\ntenant = \"shop\"\n", {"orders.toml:1:", "`callbacks.bank.secret` is missing"});
    expect_refused("[callbacks.bank]\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n",
                   {"orders.toml:1:", "`callbacks.bank.tenant` is missing"});
    expect_refused("[callbacks.\"a b\"]\ntenant = \"shop\"\n", {"orders.toml:1:", "name of an integration"});
    expect_refused("[consume]\nworkers = 2\n", {"orders.toml:1:", "`consume.webhook`", "`from`"});
    expect_refused("[consume]\nwebhook = true\n", {"orders.toml:1:", "`consume.secret` is missing"});
    expect_refused("[consume]\nwebhook = true\nworkers = 0\n", {"orders.toml:3:", "`consume.workers`", "from 1 to 64"});
    expect_refused("[consume]\nfrom = \"nats://x\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n",
                   {"orders.toml:1:", "`consume.secret`", "webhook = true"});
    expect_refused("[consume]\nfrom = \"ftp://example.com\"\n", {"consume.from"});
    expect_refused("[consume]\nfrom = \"nats://x\"\ntopic = \"x\"\n",
                   {"orders.toml:3:", "`consume.topic`", "webhook", "workers"});
    expect_refused(
        "[callbacks.a]\ntenant = \"t\"\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n"
        "[consume]\nwebhook = true\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\n",
        {"orders.toml:4:", "`consume.secret`", "an integration"});
    expect_refused("[relay]\nto = \"https://example.com/\"\nlease = \"1s\"\n",
                   {"orders.toml:3:", "`relay.lease`", "\"3s\""});
    expect_refused("[relay]\nto = \"https://example.com/\"\nallow_unknown_types = true\n",
                   {"orders.toml:1:", "`relay.allow_unknown_types`", "contracts"});
    expect_refused("[relay]\nto = \"https://example.com/\"\ncontracts = \"missing\"\n", {"relay", "missing"});
    expect_refused("[tls]\ncert = \"x\"\n", {"orders.toml:2:", "`tls.cert`", "certificate"});
    expect_refused("drain = \"1s\"\ndrain = \"2s\"\n", {"orders.toml:2:"});
    expect_refused("this is no TOML", {"orders.toml:1:"});
    expect_refused("tokens = \"missing\"\n", {"missing"});
    expect_refused("tokens = \"orders.toml\"\n", {"orders.toml"});
    expect_refused("[tls]\ncertificate = \"missing.pem\"\nkey = \"missing.pem\"\n", {"missing.pem"});
}

TEST_F(OrdersConfig, ASecretIsNotRepeatedNotEvenAMalformedOne) {
    for (const char* secret : {"\"whsec_hunter2\"", "[\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\", \"hunter2\"]", "7"}) {
        const auto refused = run({"--db", sqlite(), "--listen", "127.0.0.1:0", "--config",
                                  write("orders.toml", std::string("[callbacks.bank]\nsecret = ") + secret + "\n")});
        EXPECT_EQ(refused.exit.code, 3) << secret;
        EXPECT_THAT(refused.error_output,
                    AllOf(HasSubstr("orders.toml:2: `callbacks.bank.secret`"), Not(HasSubstr("hunter2"))));
    }
}

TEST_F(OrdersConfig, TheGuideTellsOfEveryKey) {
    std::ifstream guide(SEMEL_ORDERS_GUIDE);
    const std::string page{std::istreambuf_iterator<char>(guide), {}};
    for (const char* table :
         {"", "[tls]\n", "[limits]\n", "[retention]\n", "[quotes]\n", "[relay]\nto = \"https://example.com/\"\n",
          "[consume]\nfrom = \"nats://example.com\"\n",
          "[callbacks.bank]\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\ntenant = \"t\"\n"}) {
        const auto refused = run({"--db", sqlite(), "--listen", "127.0.0.1:0", "--config",
                                  write("orders.toml", std::string(table) + "nonsense = \"1h\"\n")});
        const std::string& said = refused.error_output;
        const auto list = said.find("allowed here: ");
        ASSERT_NE(list, std::string::npos) << said;
        std::istringstream keys(said.substr(list + 14, said.find('\n', list) - list - 14));
        for (std::string key; std::getline(keys >> std::ws, key, ',');) EXPECT_THAT(page, HasSubstr(key)) << table;
    }
}

TEST_F(OrdersConfig, AMissingFileOrDatabaseIsAConfigurationError) {
    EXPECT_EQ(run({"--config", (directory_->path() / "nowhere.toml").string()}).exit.code, 3);
    EXPECT_EQ(run({"--config", directory_->path().string()}).exit.code, 3);
    const auto none = run({});
    EXPECT_EQ(none.exit.code, 3);
    EXPECT_THAT(none.error_output, AllOf(HasSubstr("--db"), HasSubstr("SEMEL_DB")));
    const auto secret = run({"--db", "mysql://root:hunter2@localhost/shop"});
    EXPECT_EQ(secret.exit.code, 3);
    EXPECT_THAT(secret.error_output, Not(HasSubstr("hunter2")));
}

TEST_F(OrdersConfig, AnAddressThatCannotBeHadIsRefused) {
    for (const char* listen : {"nonsense", "127.0.0.1", "127.0.0.1:99999", "256.0.0.1:0", "198.51.100.1:0"}) {
        const auto refused = run({"--db", sqlite(), "--listen", listen});
        EXPECT_EQ(refused.exit.code, 3) << listen << ": " << refused.error_output;
    }
    auto service = Service::start({.database = sqlite()});
    ASSERT_TRUE(service) << service.error().describe();
    const auto taken = run({"--db", sqlite(), "--listen", "127.0.0.1:" + std::to_string(service->port())});
    EXPECT_EQ(taken.exit.code, 3) << taken.error_output;
}

TEST_F(OrdersConfig, WithoutTokensItListensOnLoopbackOnly) {
    const auto refused = run({"--db", sqlite(), "--listen", "0.0.0.0:0"});
    EXPECT_EQ(refused.exit.code, 3) << refused.error_output;
    EXPECT_THAT(refused.error_output, HasSubstr("loopback"));
}

TEST_F(OrdersConfig, AFileSaysEverythingAndTheCommandLineGoesFirst) {
    const std::string config = "database = \"" + sqlite() + "\"\n" +
                               "listen = \"nonsense\"\nprofile = \"ietf\"\ndrain = \"5s\"\n"
                               "[limits]\nworkers = 2\npool = 2\nqueue = 10\nconnections = 100\nbody_bytes = 2048\n"
                               "cache_bytes = 0\nrequest_deadline = \"10s\"\n"
                               "[retention]\ndefault = \"48h\"\ntombstone = \"7d\"\npass = \"1s\"\n"
                               "[retention.operation]\n\"payment.create\" = \"30d\"\n"
                               "[quotes]\napproval_from = \"500\"\nsecond_approval_from = \"9000.50\"\n"
                               "validity = \"7d\"\nexpiry_pass = \"1s\"\n"
                               "[callbacks.bank]\ntenant = \"shop\"\n"
                               "secret = [\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]\n"
                               "[consume]\nwebhook = true\nworkers = 3\n"
                               "secret = [\"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"]\n"
                               "[relay]\nto = \"https://hooks.example.com/\"\nlease = \"1m\"\n";
    auto service = Service::start({.config = config, .listen = "127.0.0.1:0"});
    ASSERT_TRUE(service) << service.error().describe();
    EXPECT_GT(service->port(), 0);
    EXPECT_THAT(service->output(), HasSubstr("listening on http://127.0.0.1:"));
    const auto large =
        call(service->port(), {.method = "POST", .target = "/api/v1/quotes", .body = std::string(2049, ' ')});
    ASSERT_TRUE(large);
    EXPECT_EQ(large->status, 413);
    const auto ended = service->stop();
    ASSERT_TRUE(ended) << ended.error().describe();
    EXPECT_TRUE(ended->success()) << ended->text() << service->error_output();
}

TEST_F(OrdersConfig, ServesHttpsWithItsCertificate) {
    ASSERT_FALSE(semel::testing::find_program("openssl").empty()) << "openssl is missing; make setup installs it";
    const std::string key = (directory_->path() / "key.pem").string();
    const std::string certificate = (directory_->path() / "cert.pem").string();
    const auto made =
        semel::testing::run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                      "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-addext",
                                      "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate}},
                            std::chrono::seconds(30));
    ASSERT_TRUE(made && made->exit.success()) << (made ? made->error_output : made.error().describe());
    const std::string config = "[tls]\ncertificate = \"" + certificate + "\"\nkey = \"" + key + "\"\n";
    auto service = Service::start({.database = sqlite(), .config = config});
    ASSERT_TRUE(service) << service.error().describe();
    EXPECT_THAT(service->output(), HasSubstr("listening on https://127.0.0.1:"));
    const std::string url = "https://127.0.0.1:" + std::to_string(service->port()) + "/readyz";
    const auto asked =
        semel::testing::run({.argv = {"curl", "-sS", "--cacert", certificate, url}}, std::chrono::seconds(30));
    ASSERT_TRUE(asked) << asked.error().describe();
    EXPECT_EQ(asked->output, "ok\n") << asked->error_output;
}

TEST_F(OrdersConfig, TheFileInTheGuideWorks) {
    std::ifstream guide(SEMEL_ORDERS_GUIDE);
    const std::string page{std::istreambuf_iterator<char>(guide), {}};
    const auto begin = page.find("```toml\n");
    ASSERT_NE(begin, std::string::npos);
    std::string config = page.substr(begin + 8, page.find("```", begin + 8) - begin - 8);
    // All of it but what names files of someone else's.
    const auto tls = config.find("[tls]");
    config.erase(tls, config.find("[limits]") - tls);
    const std::string tokens = write("tokens.txt", std::string(64, '0') + " shop web\n");
    config.replace(config.find("\"tokens.txt\""), 12, "\"" + tokens + "\"");
    auto service = Service::start({.database = sqlite(), .config = config});
    ASSERT_TRUE(service) << service.error().describe();
}

TEST_F(OrdersConfig, TheDatabaseMayComeFromTheEnvironment) {
    auto service = Service::start({.environment = {"SEMEL_DB=" + sqlite()}});
    ASSERT_TRUE(service) << service.error().describe();
    const auto ready = call(service->port(), {.target = "/readyz"});
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->status, 200);
}

TEST_F(OrdersConfig, AStoreThatIsAwayIsAnotherExitCode) {
    const auto refused =
        run_service({"--db", "postgres://shop@127.0.0.1:1/shop", "--listen", "127.0.0.1:0"}, std::chrono::seconds(90));
    ASSERT_TRUE(refused) << refused.error().describe();
    EXPECT_EQ(refused->exit.code, 4) << refused->error_output;
}

TEST_F(OrdersConfig, AnInterruptFromTheKeyboardEndsItOrderlyToo) {
    auto service = Service::start({.database = sqlite()});
    ASSERT_TRUE(service) << service.error().describe();
    ::kill(service->pid(), SIGINT);
    const auto ended = service->await_end();
    ASSERT_TRUE(ended) << ended.error().describe();
    EXPECT_TRUE(ended->success()) << ended->text() << service->error_output();
}

}  // namespace
}  // namespace orders::testing
