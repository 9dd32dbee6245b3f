// `semel relay` as a person or a unit file runs it: a real process, a real store, a real receiver on loopback.

#include "semel/outbox/status.hpp"
#include "semel/testing/process.hpp"
#include "semel/webhook/signature.hpp"
#include "tests/relay/fixture.hpp"
#include "tests/webhook/receiver_realtest.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fstream>
#include <numeric>

namespace semel::integration {
namespace {

using conformance::eventually;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using webhook::plain;
using webhook::Received;
using webhook::Receiver;

std::optional<std::string> take(const Received&, const std::stop_token&) { return plain("204 No Content"); }

class RelayCommand : public relaying::RelayTest {
protected:
    [[nodiscard]] std::vector<std::string> relay(const std::string& to, const std::vector<std::string>& more = {}) {
        std::vector<std::string> argv{SEMEL_BINARY, "relay", "--db", address_, "--to", to};
        argv.insert(argv.end(), more.begin(), more.end());
        return argv;
    }
    /// One event of each aggregate in one transaction, with their number among the events of their aggregate.
    void append_numbered(const std::vector<int>& aggregates, int number) {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (const int one : aggregates) {
                Event told = event(one);
                told.payload = std::to_string(number);
                outbox.append(std::move(told));
            }
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    static testing::Finished run_to_end(const std::vector<std::string>& argv) {
        const auto finished = testing::run({.argv = argv}, 60s);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : testing::Finished();
    }
};

TEST_P(RelayCommand, DeliversWhatThereIsSignedAndInOrder) {
    Receiver receiver(take);
    for (int i = 0; i < 20; ++i) append_numbered({1, 2, 3}, i);
    auto directory = testing::TempDir::make("relay");
    ASSERT_TRUE(directory);
    const auto file = directory->path() / "secrets";
    const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    std::ofstream(file) << "# the old one\n" << secret << "\nwhsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    const auto done = run_to_end(
        relay(receiver.url(), {"--allow-private", "--once", "--json", "--secret-file", file.string(), "--batch", "7"}));
    EXPECT_EQ(done.exit.code, 0) << done.error_output;
    EXPECT_THAT(done.output, AllOf(HasSubstr(R"("acknowledged": 60)"), HasSubstr(R"("pending": 0)")));
    const auto requests = receiver.requests();
    ASSERT_EQ(requests.size(), 60U);
    const std::vector<webhook::Secret> known{webhook::Secret::parse(secret).value()};
    std::map<std::string, std::vector<int>> numbers;
    for (const Received& one : requests) {
        EXPECT_TRUE(webhook::verify(
            {.id = one.field("webhook-id"), .timestamp = one.field("webhook-timestamp"), .body = one.body},
            one.field("webhook-signature"), known, system_clock().wall()));
        numbers[one.field("ce-subject")].push_back(std::stoi(one.body));
    }
    std::vector<int> in_order(20);
    std::iota(in_order.begin(), in_order.end(), 0);
    ASSERT_EQ(numbers.size(), 3U);
    for (const auto& [subject, came] : numbers) EXPECT_EQ(came, in_order) << subject;
    EXPECT_EQ(pending(), 0);
}

TEST_P(RelayCommand, SaysWhatIsLeftAndWhyWhenNobodyListens) {
    append({1, 2});
    std::string url;
    {
        const Receiver gone(take);
        url = gone.url();
    }
    const auto done = run_to_end(relay(url, {"--allow-private", "--once"}));
    EXPECT_EQ(done.exit.code, 1);
    EXPECT_THAT(done.output, HasSubstr("still pending 2"));
    EXPECT_THAT(done.error_output, HasSubstr("cannot be reached"));
    EXPECT_EQ(pending(), 2);
}

TEST_P(RelayCommand, GoesOnUntilItIsToldToEndAndLeavesNoLeaseBehind) {
    Receiver receiver(take);
    append({1, 2, 3});
    auto process = testing::Process::spawn({.argv = relay(receiver.url(), {"--allow-private", "--name", "shop"})});
    ASSERT_TRUE(process) << process.error().describe();
    EXPECT_TRUE(eventually([&] { return receiver.requests().size() == 3; })) << process->error_output();
    const auto status = outbox_status(*database, soon());
    ASSERT_TRUE(status) << status.error().describe();
    ASSERT_EQ(status->relays.size(), 1U);
    EXPECT_EQ(status->relays[0].name, "shop");
    EXPECT_TRUE(status->relays[0].alive);
    EXPECT_EQ(status->relays[0].partitions, 64);
    append({4});
    EXPECT_TRUE(eventually([&] { return receiver.requests().size() == 4; })) << "other processes are seen by the poll";
    process->signal(SIGTERM);
    const auto exit = process->wait(20s);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->code, 0) << exit->text();
    EXPECT_EQ(exit->signal, 0) << exit->text();
    EXPECT_THAT(process->output(), HasSubstr("acknowledged 4"));
    EXPECT_EQ(held_partitions(), 0);
    EXPECT_EQ(pending(), 0);
}

TEST_P(RelayCommand, ParksWhatIsRefusedWhereItIsToldTo) {
    Receiver receiver([](const Received& request, const std::stop_token&) {
        return request.field("ce-subject") == "order/1" ? plain("422 Unprocessable") : plain("200 OK");
    });
    append({1, 1, 2});
    auto process =
        testing::Process::spawn({.argv = relay(receiver.url(), {"--allow-private", "--poison-of", "order=park"})});
    ASSERT_TRUE(process) << process.error().describe();
    EXPECT_TRUE(eventually([&] { return parked() == 2 && pending() == 0; })) << process->error_output();
    process->signal(SIGTERM);
    ASSERT_TRUE(process->wait(20s));
    EXPECT_THAT(process->output(), HasSubstr("acknowledged 1"));
    const auto told = run_to_end({SEMEL_BINARY, "outbox", "parked", "--db", address_});
    EXPECT_THAT(told.output,
                AllOf(HasSubstr("order/1"), HasSubstr("answered 422"), HasSubstr("follows a parked event")));
}

TEST_P(RelayCommand, EndsAtOnceAtTheSecondSignalAndLosesNothing) {
    Receiver silent([](const Received&, const std::stop_token& stop) -> std::optional<std::string> {
        while (!stop.stop_requested()) std::this_thread::sleep_for(5ms);
        return std::nullopt;
    });
    append({1});
    auto process = testing::Process::spawn({.argv = relay(silent.url(), {"--allow-private"})});
    ASSERT_TRUE(process) << process.error().describe();
    ASSERT_TRUE(eventually([&] { return silent.requests().size() == 1; }));
    process->signal(SIGTERM);
    EXPECT_FALSE(process->wait(300ms)) << "it lets the publish under way end";
    process->signal(SIGTERM);
    const auto exit = process->wait(2s);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->signal, SIGTERM) << exit->text();
    EXPECT_EQ(pending(), 1);
}

INSTANTIATE_TEST_SUITE_P(Every, RelayCommand,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres),
                         relaying::target_name);

class RelayUsage : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = testing::TempDir::make("relay");
        ASSERT_TRUE(made);
        directory.emplace(*std::move(made));
        address = "sqlite:" + (directory->path() / "store.db").string();
    }
    [[nodiscard]] testing::Finished relay(const std::vector<std::string>& more) const {
        std::vector<std::string> argv{SEMEL_BINARY, "relay", "--db", address, "--once"};
        argv.insert(argv.end(), more.begin(), more.end());
        return testing::run({.argv = argv}, 60s).value();
    }
    void migrate() const {
        ASSERT_EQ(testing::run({.argv = {SEMEL_BINARY, "migrate", "--db", address}}, 60s).value().exit.code, 0);
    }
    std::optional<testing::TempDir> directory;
    std::string address;
};

TEST_F(RelayUsage, MigratesNothingAndSaysWhatToDo) {
    for (int times = 0; times < 2; ++times) {
        const auto refused = relay({"--to", "https://hooks.example.com/"});
        EXPECT_EQ(refused.exit.code, 3) << refused.error_output;
        EXPECT_THAT(refused.error_output, HasSubstr("semel migrate"));
    }
}

TEST_F(RelayUsage, NamesWhatItCanRelayTo) {
    migrate();
    for (const char* to : {"ftp://127.0.0.1/t", "redis://127.0.0.1", "hooks.example.com"}) {
        const auto refused = relay({"--to", to});
        EXPECT_EQ(refused.exit.code, 3) << to;
        EXPECT_THAT(refused.error_output, AllOf(HasSubstr("https://"), HasSubstr("kafka://"))) << to;
    }
}

TEST_F(RelayUsage, SaysWhatIsWrongWithTheAddressOfABroker) {
    migrate();
    for (const char* to : {"kafka://127.0.0.1:notaport/t", "nats://127.0.0.1:4222", "smtp://127.0.0.1"}) {
        const auto refused = relay({"--to", to});
        EXPECT_EQ(refused.exit.code, 3) << to << ": " << refused.error_output;
        EXPECT_THAT(refused.error_output, HasSubstr("semel relay: ")) << to;
    }
    const auto away = relay({"--to", "amqp://guest:geheim@127.0.0.1:1/"});
    EXPECT_EQ(away.exit.code, 4) << away.error_output;
    EXPECT_EQ(away.error_output.find("geheim"), std::string::npos) << away.error_output;
}

TEST_F(RelayUsage, RefusesPrivateReceiversAndUnusableSecrets) {
    migrate();
    for (const char* to : {"http://hooks.example.com/", "https://127.0.0.1/", "https://169.254.169.254/"}) {
        const auto refused = relay({"--to", to});
        EXPECT_EQ(refused.exit.code, 3) << to;
        EXPECT_THAT(refused.error_output, HasSubstr("--allow-private")) << to;
    }
    const auto file = directory->path() / "secrets";
    for (const char* text : {"", "# none\n", "hunter2\n"}) {
        std::ofstream(file) << text;
        const auto refused = relay({"--to", "https://hooks.example.com/", "--secret-file", file.string()});
        EXPECT_EQ(refused.exit.code, 3) << text;
        EXPECT_THAT(refused.error_output, ::testing::Not(HasSubstr("hunter2")));
    }
    EXPECT_EQ(relay({"--to", "https://hooks.example.com/", "--batch", "0"}).exit.code, 2);
    EXPECT_EQ(relay({"--to", "https://hooks.example.com/", "--poison", "bury"}).exit.code, 2);
    EXPECT_EQ(relay({"--to", "https://hooks.example.com/", "--poison-of", "order"}).exit.code, 2);
    EXPECT_EQ(relay({}).exit.code, 2);
}

}  // namespace
}  // namespace semel::integration
