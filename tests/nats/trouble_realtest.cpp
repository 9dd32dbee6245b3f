// What goes wrong with a real NATS server: no room, no stream, no right to be there.

#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"
#include "tests/nats/server_realtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace semel::nats {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Message event(const std::string& aggregate) {
    Message one;
    one.id = new_uuid();
    one.aggregate = {.type = "order", .id = aggregate};
    one.type = "changed";
    one.payload = "{}";
    one.headers = "{}";
    one.created_at = system_clock().wall();
    return one;
}

Status publish(Sink& sink, const Message& message) {
    return sink.publish(std::vector{message}, Deadline::after(system_clock().now(), 5s)).at(0);
}

/// The server's own way to change streams and consumers.
class Administrator {
public:
    explicit Administrator(int port) {
        const std::string url = "nats://127.0.0.1:" + std::to_string(port);
        EXPECT_EQ(natsConnection_ConnectTo(&connection_, url.c_str()), NATS_OK);
        EXPECT_EQ(natsConnection_JetStream(&jetstream_, connection_, nullptr), NATS_OK);
    }
    ~Administrator() {
        jsCtx_Destroy(jetstream_);
        natsConnection_Destroy(connection_);
    }
    Administrator(const Administrator&) = delete;
    Administrator& operator=(const Administrator&) = delete;

    void make_stream(const std::string& name, std::int64_t messages_max) {
        const std::string subject = name + ".>";
        const char* subjects = subject.c_str();
        jsStreamConfig config{};
        jsStreamConfig_Init(&config);
        config.Name = name.c_str();
        config.Subjects = &subjects;
        config.SubjectsLen = 1;
        config.MaxMsgs = messages_max;
        config.Discard = js_DiscardNew;
        EXPECT_EQ(js_AddStream(nullptr, jetstream_, &config, nullptr, nullptr), NATS_OK);
    }
    void purge(const std::string& stream) {
        EXPECT_EQ(js_PurgeStream(jetstream_, stream.c_str(), nullptr, nullptr), NATS_OK);
    }
    void delete_stream(const std::string& stream) {
        EXPECT_EQ(js_DeleteStream(jetstream_, stream.c_str(), nullptr, nullptr), NATS_OK);
    }
    void delete_consumer(const std::string& stream, const std::string& consumer) {
        EXPECT_EQ(js_DeleteConsumer(jetstream_, stream.c_str(), consumer.c_str(), nullptr, nullptr), NATS_OK);
    }
    void publish_plain(const std::string& subject, const std::string& text) {
        EXPECT_EQ(js_Publish(nullptr, jetstream_, subject.c_str(), text.data(), static_cast<int>(text.size()), nullptr,
                             nullptr),
                  NATS_OK);
    }

private:
    natsConnection* connection_ = nullptr;
    jsCtx* jetstream_ = nullptr;
};

class NatsTrouble : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = testing::shared_nats();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        server = *shared;
        administrator.emplace(server->port());
    }
    testing::NatsServer* server = nullptr;
    std::optional<Administrator> administrator;
    std::string stream = fresh_stream();
};

TEST_F(NatsTrouble, AStreamThatIsNotThereIsRefusedOrMade) {
    NatsSinkOptions options = sink_to(server->port(), stream);
    options.stream_options.create = false;
    const auto refused = NatsSink::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::rejected) << refused.error().describe();
    EXPECT_THAT(refused.error().describe(), HasSubstr("create=true"));
    const auto no_source = NatsSource::open(source_from(server->port(), stream, "billing"));
    ASSERT_FALSE(no_source);
    EXPECT_EQ(no_source.error().fault, Fault::rejected) << no_source.error().describe();
    options.stream_options.create = true;
    const auto made = NatsSink::open(options);
    ASSERT_TRUE(made) << made.error().describe();
    EXPECT_TRUE(publish(**made, event("a")));
}

TEST_F(NatsTrouble, TheSinkSaysWhatAnOldServerMayLose) {
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    EXPECT_THAT(sink->warnings(), Contains(HasSubstr("one replica")));
    // Debian 12 brings 2.9; a server of 2.12 or later has nothing to be warned of there.
    for (const std::string& one : sink->warnings()) EXPECT_THAT(one, Not(HasSubstr("unknown version")));
}

TEST_F(NatsTrouble, AFullStreamThrottlesAndLosesNothing) {
    administrator->make_stream(stream, 3);
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    for (int n = 0; n < 3; ++n) EXPECT_TRUE(publish(*sink, event("a")));
    const std::vector<Message> batch{event("a"), event("a"), event("b")};
    const auto answers = sink->publish(batch, Deadline::after(system_clock().now(), 5s));
    ASSERT_FALSE(answers[0]);
    EXPECT_EQ(answers[0].error().fault, Fault::throttled) << answers[0].error().describe();
    ASSERT_FALSE(answers[1]);
    EXPECT_EQ(answers[1].error().message, behind_unacknowledged().message);
    administrator->purge(stream);
    for (const Message& one : batch) EXPECT_TRUE(publish(*sink, one));
}

TEST_F(NatsTrouble, AStreamThatWentAwayIsWaitedFor) {
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    administrator->delete_stream(stream);
    const Status away = publish(*sink, event("a"));
    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().fault, Fault::unavailable) << away.error().describe();
    administrator->make_stream(stream, -1);
    EXPECT_TRUE(publish(*sink, event("a")));
}

TEST_F(NatsTrouble, AConsumerThatSomeoneDeletedIsMadeAgain) {
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    const auto source = NatsSource::open(source_from(server->port(), stream, "billing")).value();
    ASSERT_TRUE(publish(*sink, event("a")));
    ASSERT_EQ(source->receive(10, Deadline::after(system_clock().now(), 5s))->size(), 1U);
    administrator->delete_consumer(stream, "billing");
    std::size_t got = 0;
    const Instant limit = system_clock().now() + 20s;
    while (got == 0 && system_clock().now() < limit)
        if (const auto some = source->receive(10, Deadline::after(system_clock().now(), 1s))) got = some->size();
    EXPECT_EQ(got, 1U) << "a new consumer begins with the oldest";
}

TEST_F(NatsTrouble, WhatIsNoCloudEventHasAnIdAllTheSame) {
    administrator->make_stream(stream, -1);
    administrator->publish_plain(stream + ".x", "hello");
    const auto source = NatsSource::open(source_from(server->port(), stream, "billing")).value();
    const auto got = source->receive(10, Deadline::after(system_clock().now(), 5s)).value();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].message.id, stream + ":1");
    EXPECT_EQ(got[0].message.payload, "hello");
    EXPECT_EQ(got[0].message.topic, stream + ".x");
    EXPECT_EQ(got[0].message.offset, 1);
}

/// Somebody who listens to the subjects of a stream and answers in its place.
class Stranger {
public:
    Stranger(int port, const std::string& subjects, std::string answer) : answer_(std::move(answer)) {
        const std::string url = "nats://127.0.0.1:" + std::to_string(port);
        EXPECT_EQ(natsConnection_ConnectTo(&connection_, url.c_str()), NATS_OK);
        EXPECT_EQ(natsConnection_Subscribe(&subscription_, connection_, subjects.c_str(), on_message, this), NATS_OK);
        EXPECT_EQ(natsConnection_Flush(connection_), NATS_OK);
    }
    ~Stranger() {
        natsSubscription_Destroy(subscription_);
        natsConnection_Close(connection_);
        natsConnection_Destroy(connection_);
    }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;
    [[nodiscard]] int answers() const { return answers_; }

private:
    static void on_message(natsConnection* connection, natsSubscription*, natsMsg* message, void* self) {
        auto* stranger = static_cast<Stranger*>(self);
        ++stranger->answers_;
        natsConnection_PublishString(connection, natsMsg_GetReply(message), stranger->answer_.c_str());
        natsConnection_Flush(connection);
        natsMsg_Destroy(message);
    }
    std::string answer_;
    std::atomic<int> answers_ = 0;
    natsConnection* connection_ = nullptr;
    natsSubscription* subscription_ = nullptr;
};

TEST_F(NatsTrouble, TheAnswerOfAStrangerDoesNotCount) {
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    ASSERT_TRUE(publish(*sink, event("a")));
    // Now nobody stores anything, and only the stranger answers.
    administrator->delete_stream(stream);
    const std::vector<std::string> answers{"+OK",
                                           "",
                                           "{}",
                                           "[1]",
                                           R"({"stream":"ELSEWHERE","seq":7})",
                                           R"({"stream":")" + stream + R"("})",
                                           R"({"stream":")" + stream + R"(","seq":"7"})",
                                           R"({"seq":7})"};
    for (const std::string& answer : answers) {
        const Stranger stranger(server->port(), stream + ".>", answer);
        const Status published = publish(*sink, event("a"));
        EXPECT_EQ(stranger.answers(), 1) << answer;
        ASSERT_FALSE(published) << "it was taken for the stream: " << answer;
        EXPECT_EQ(published.error().fault, Fault::unknown) << answer << ": " << published.error().describe();
    }
    administrator->make_stream(stream, -1);
    EXPECT_TRUE(publish(*sink, event("a"))) << "and the stream's own does";
}

TEST_F(NatsTrouble, WhatWasOnItsWayWhenTheConnectionBrokeComesBeforeWhatIsNewer) {
    const auto sink = NatsSink::open(sink_to(server->port(), stream)).value();
    std::vector<std::string> sent;
    const auto send = [&](int count) {
        for (int n = 0; n < count; ++n) {
            const Message one = event("a");
            sent.push_back(one.id.text());
            ASSERT_TRUE(publish(*sink, one));
        }
    };
    send(10);
    conformance::SinkProxy proxy(static_cast<std::uint16_t>(server->port()));
    NatsSourceOptions options = source_from(proxy.port(), stream, "billing");
    options.ack_wait = 1s;
    const auto source = NatsSource::open(options).value();
    std::vector<std::string> got;
    std::vector<DeliveryTag> tags;
    const auto receive = [&](std::size_t limit, Duration wait) {
        const auto some = source->receive(limit, Deadline::after(system_clock().now(), wait));
        if (!some) return;
        for (const Delivery& one : *some) {
            got.push_back(one.message.id);
            tags.push_back(one.tag);
        }
    };
    const Instant limit = system_clock().now() + 20s;
    while (got.size() < 3 && system_clock().now() < limit) receive(3 - got.size(), 500ms);
    ASSERT_EQ(got.size(), 3U);
    // The server sends the next seven, and they are lost.
    proxy.be_mute(true);
    receive(7, 300ms);
    ASSERT_EQ(got.size(), 3U);
    proxy.be_mute(false);
    send(5);
    while (got.size() < sent.size() && system_clock().now() < limit) receive(10, 500ms);
    EXPECT_EQ(got, sent) << "lost, repeated or out of order";
    EXPECT_TRUE(source->acknowledge(tags));
}

TEST(NatsGuarded, LetsInWhoKnowsThePasswordAndNeverRepeatsIt) {
    auto started = testing::NatsServer::start({.settings = "authorization { user: shop, password: hunter2 }"});
    if (!started) GTEST_SKIP() << started.error().describe();
    NatsSinkOptions options = sink_to(started->port(), "S");
    options.connection.user = "shop";
    options.connection.password = "hunter2";
    const auto known = NatsSink::open(options);
    ASSERT_TRUE(known) << known.error().describe();
    EXPECT_TRUE(publish(**known, event("a")));
    options.connection.password = "wrong-secret";
    const auto stranger = NatsSink::open(options);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().fault, Fault::unavailable);
    EXPECT_THAT(stranger.error().describe(), Not(HasSubstr("wrong-secret")));
    EXPECT_THAT(stranger.error().describe(), HasSubstr("not right"));
}

TEST(NatsTls, TalksOnlyToAServerWhoseCertificateItTrusts) {
    const auto directory = testing::TempDir::make("nats-tls").value();
    const std::string certificate = directory.path() / "certificate.pem";
    const std::string key = directory.path() / "key.pem";
    const auto done =
        testing::run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                               "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                               "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate}},
                     20s);
    ASSERT_TRUE(done && done->exit.success());
    auto started = testing::NatsServer::start(
        {.settings = "tls { cert_file: \"" + certificate + "\", key_file: \"" + key + "\" }"});
    if (!started) GTEST_SKIP() << started.error().describe();
    const auto open = [&](const std::string& host, const std::string& ca_file) {
        NatsSinkOptions options = sink_to(started->port(), "S");
        options.connection.servers[0].host = host;
        options.connection.tls = true;
        options.connection.ca_file = ca_file;
        return NatsSink::open(options);
    };
    const auto trusted = open("localhost", certificate);
    ASSERT_TRUE(trusted) << trusted.error().describe();
    EXPECT_TRUE(publish(**trusted, event("a")));
    EXPECT_FALSE(open("localhost", "")) << "nobody known has signed it";
    EXPECT_FALSE(open("127.0.0.1", certificate)) << "it names another host";
}

}  // namespace
}  // namespace semel::nats
