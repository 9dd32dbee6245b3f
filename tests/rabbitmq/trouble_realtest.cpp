// What goes wrong with a real RabbitMQ: no room, no queue, no right to be there.

#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/rabbitmq/server_realtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::rabbitmq {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Message event(const std::string& aggregate, std::size_t size = 2) {
    Message one;
    one.id = new_uuid();
    one.aggregate = {.type = "order", .id = aggregate};
    one.type = "changed";
    one.payload = std::string(size, '1');
    one.headers = "{}";
    one.created_at = system_clock().wall();
    return one;
}

Deadline within(Duration limit) { return Deadline::after(system_clock().now(), limit); }

Status publish(Sink& sink, const Message& message) { return sink.publish(std::vector{message}, within(5s)).at(0); }

/// One server for all of these, which also talks TLS.
struct TroubledServer {
    testing::TempDir directory;
    testing::RabbitmqServer server;
    int tls_port;
    [[nodiscard]] std::string certificate() const { return directory.path() / "certificate.pem"; }
};

Result<TroubledServer> start_troubled() {
    testing::TempDir directory = SEMEL_TRY(testing::TempDir::make("rabbitmq-tls"));
    const std::string certificate = directory.path() / "certificate.pem";
    const std::string key = directory.path() / "key.pem";
    const auto done = SEMEL_TRY(
        testing::run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                               "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                               "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate}},
                     20s));
    if (!done.exit.success()) return fail(Fault::unavailable, "openssl: " + done.error_output);
    const int tls_port = SEMEL_TRY(testing::free_port());
    auto server = SEMEL_TRY(testing::RabbitmqServer::start(
        {.settings = "listeners.ssl.1 = 127.0.0.1:" + std::to_string(tls_port) + "\nssl_options.certfile = " +
                     certificate + "\nssl_options.keyfile = " + key + "\nssl_options.verify = verify_none"}));
    return TroubledServer{.directory = std::move(directory), .server = std::move(server), .tls_port = tls_port};
}

class RabbitmqTrouble : public ::testing::Test {
protected:
    void SetUp() override {
        static Result<TroubledServer> shared = start_troubled();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        troubled = &*shared;
        port = troubled->server.port();
    }
    void control(std::vector<std::string> arguments) {
        const Status done = troubled->server.control(std::move(arguments));
        ASSERT_TRUE(done) << done.error().describe();
    }
    [[nodiscard]] std::unique_ptr<RabbitmqSink> open_with_queue() {
        RabbitmqSinkOptions options = sink_to(port, exchange);
        options.queue = exchange + "-all";
        auto made = RabbitmqSink::open(std::move(options));
        EXPECT_TRUE(made) << made.error().describe();
        return *std::move(made);
    }
    static void expect_taken_at_last(Sink& sink) {
        const Instant limit = system_clock().now() + 20s;
        Status answer = fail(Fault::unavailable, "not asked");
        while (!answer && system_clock().now() < limit) answer = publish(sink, event("b"));
        EXPECT_TRUE(answer) << answer.error().describe();
    }
    TroubledServer* troubled = nullptr;
    int port = 0;
    std::string exchange = fresh_exchange();
};

TEST_F(RabbitmqTrouble, WhatIsNotThereIsRefusedOrMade) {
    RabbitmqSinkOptions options = sink_to(port, exchange);
    options.declare = false;
    const auto refused = RabbitmqSink::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected) << refused.error().describe();
    EXPECT_THAT(refused.error().describe(), HasSubstr("declare=true"));
    RabbitmqSourceOptions from = source_from(port, exchange, "billing");
    from.declare = false;
    const auto no_source = RabbitmqSource::open(from);
    ASSERT_FALSE(no_source);
    EXPECT_EQ(no_source.error().fault, Fault::rejected) << no_source.error().describe();
    EXPECT_TRUE(publish(*open_with_queue(), event("a")));
}

TEST_F(RabbitmqTrouble, AnEventThatNoQueueWantsIsRejectedAndNotLost) {
    const auto sink = RabbitmqSink::open(sink_to(port, exchange)).value();
    const Status unwanted = publish(*sink, event("a"));
    ASSERT_FALSE(unwanted);
    EXPECT_EQ(unwanted.error().fault, Fault::rejected);
    EXPECT_EQ(unwanted.error().cause.code, "312");
}

TEST_F(RabbitmqTrouble, AFullQueueThrottlesAndLosesNothing) {
    control({"set_policy", "full", "^" + exchange + "-", R"({"max-length":3,"overflow":"reject-publish"})"});
    const auto sink = open_with_queue();
    Status answer;
    int taken = 0;
    for (; taken < 20 && answer; ++taken) answer = publish(*sink, event("a"));
    ASSERT_FALSE(answer) << "a queue of three took " << taken;
    EXPECT_EQ(answer.error().fault, Fault::throttled) << answer.error().describe();
    const auto source = RabbitmqSource::open(source_from(port, exchange, "all")).value();
    while (true) {
        const auto some = source->receive(10, within(500ms)).value();
        if (some.empty()) break;
        for (const Delivery& one : some) EXPECT_TRUE(source->acknowledge(std::vector{one.tag}));
    }
    expect_taken_at_last(*sink);
    control({"clear_policy", "full"});
}

TEST_F(RabbitmqTrouble, ABrokerThatIsShortOfMemoryThrottlesAndTheDeadlineIsKept) {
    const auto sink = open_with_queue();
    ASSERT_TRUE(publish(*sink, event("a")));
    control({"set_vm_memory_high_watermark", "0.000001"});
    // Far more than sockets hold, so that writing itself would wait for ever.
    std::vector<Message> large;
    for (int n = 0; n < 64; ++n) large.push_back(event("a-" + std::to_string(n), 1024 * 1024));
    bool throttled = false;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const Instant begun = system_clock().now();
        const auto answers = sink->publish(large, within(2s));
        EXPECT_LT(system_clock().now() - begun, 6s) << "the deadline was not kept";
        for (const Status& answer : answers) {
            if (answer) continue;
            EXPECT_NE(answer.error().fault, Fault::rejected) << answer.error().describe();
            throttled = throttled || answer.error().fault == Fault::throttled;
        }
    }
    EXPECT_TRUE(throttled);
    control({"set_vm_memory_high_watermark", "0.4"});
    expect_taken_at_last(*sink);
}

TEST_F(RabbitmqTrouble, ASourceWhoseQueueIsDeletedSaysSoAndComesBack) {
    const auto sink = RabbitmqSink::open(sink_to(port, exchange)).value();
    const auto source = RabbitmqSource::open(source_from(port, exchange, "billing")).value();
    control({"delete_queue", exchange + "-billing"});
    const auto gone = source->receive(10, within(5s));
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().fault, Fault::unavailable);
    ASSERT_TRUE(source->receive(0, within(100ms))) << "it is declared again";
    ASSERT_TRUE(publish(*sink, event("a")));
    EXPECT_EQ(source->receive(10, within(5s))->size(), 1U);
}

TEST_F(RabbitmqTrouble, LetsInWhoKnowsThePasswordAndNeverRepeatsIt) {
    RabbitmqSinkOptions options = sink_to(port, exchange);
    options.connection.password = "wrong-secret";
    const auto stranger = RabbitmqSink::open(options);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().fault, Fault::unavailable) << stranger.error().describe();
    EXPECT_THAT(stranger.error().describe(), Not(HasSubstr("wrong-secret")));
}

TEST_F(RabbitmqTrouble, TalksTlsOnlyToAServerWhoseCertificateItTrusts) {
    const auto open = [&](const std::string& host, const std::string& ca_file) {
        RabbitmqSinkOptions options = sink_to(troubled->tls_port, exchange);
        options.queue = exchange + "-all";
        options.connection.servers[0].host = host;
        options.connection.tls = true;
        options.connection.ca_file = ca_file;
        return RabbitmqSink::open(options);
    };
    const auto trusted = open("localhost", troubled->certificate());
    ASSERT_TRUE(trusted) << trusted.error().describe();
    EXPECT_TRUE(publish(**trusted, event("a")));
    EXPECT_FALSE(open("localhost", "")) << "nobody known has signed it";
    EXPECT_FALSE(open("127.0.0.1", troubled->certificate())) << "it names another host";
    RabbitmqSourceOptions from = source_from(troubled->tls_port, exchange, "all");
    from.connection.servers[0].host = "localhost";
    from.connection.tls = true;
    from.connection.ca_file = troubled->certificate();
    const auto source = RabbitmqSource::open(from);
    ASSERT_TRUE(source) << source.error().describe();
    const auto got = (*source)->receive(10, within(5s));
    ASSERT_TRUE(got) << got.error().describe();
    EXPECT_EQ(got->size(), 1U);
}

}  // namespace
}  // namespace semel::rabbitmq
