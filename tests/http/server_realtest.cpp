#include "raw_client_realtest.hpp"

#include "semel/base/log.hpp"
#include "semel/http/health.hpp"
#include "semel/http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace semel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Opens when told to; handlers wait at it.
class Gate {
public:
    void open() {
        open_ = true;
        open_.notify_all();
    }
    void pass() { open_.wait(false); }

private:
    std::atomic<bool> open_{false};
};

class ServerTest : public ::testing::Test {
protected:
    void TearDown() override {
        gate.open();
        server.reset();
        set_log_sink({});
    }

    void start() {
        Router router;
        router.add(
            "GET", "/now",
            {.at_once = [](Request&) -> std::optional<Response> { return Response{.body = "now"}; }, .open = true});
        router.add("POST", "/echo",
                   {.handle = [](Request& request) { return Response{.body = std::move(request.body)}; }});
        router.add("GET", "/who", {.handle = [](Request& request) {
                       return Response{.body = request.who.tenant + "/" + request.who.caller + "/" + request.peer};
                   }});
        router.add("GET", "/wait", {.handle = [this](Request&) {
                       ++begun;
                       gate.pass();
                       return Response{.body = "waited"};
                   }});
        router.add("GET", "/throws", {.handle = [](Request&) -> Response { throw std::runtime_error("cause"); }});
        router.add("GET", "/large", {.handle = [](Request&) { return Response{.body = std::string(8 << 20, 'x')}; }});
        auto started = Server::start(options, std::move(router), system_clock());
        ASSERT_TRUE(started.has_value()) << started.error().describe();
        server = *std::move(started);
    }
    static std::string get(std::string_view path, std::string_view fields = "") {
        return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
    }
    /// Waits until a count has been reached; false after five seconds.
    template <class Count>
    static bool reaches(Count count, std::uint64_t value) {
        const Instant until = system_clock().now() + 5s;
        while (count() < value) {
            if (system_clock().now() > until) return false;
            std::this_thread::sleep_for(2ms);
        }
        return true;
    }

    ServerOptions options{.listen = "127.0.0.1:0", .tick = 10ms};
    Gate gate;
    std::atomic<std::uint64_t> begun{0};
    std::unique_ptr<Server> server;
};

TEST_F(ServerTest, KeepsAConnectionAndAnswersPipelinedRequestsInOrder) {
    start();
    RawClient client(server->port());
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1" + get("/now") + get("/who"));
    EXPECT_THAT(client.read_answer(), ::testing::EndsWith("\r\n\r\n1"));
    EXPECT_THAT(client.read_answer(), ::testing::EndsWith("\r\n\r\nnow"));
    EXPECT_THAT(client.read_answer(), ::testing::EndsWith("public/anonymous/127.0.0.1"));
    client.send(get("/now", "Connection: close\r\n"));
    EXPECT_THAT(client.read_to_end(2s), AllOf(HasSubstr("Connection: close"), ::testing::EndsWith("now")));
    EXPECT_EQ(server->stats().accepted, 1U);
    EXPECT_EQ(server->stats().requests, 4U);
}

TEST_F(ServerTest, TakesALargeBodyInPiecesAndSendsALargeOne) {
    options.body_max = 4 << 20;
    start();
    RawClient client(server->port());
    const std::string body(3 << 20, 'b');
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
    client.send(body);
    const std::string answer = client.read_answer(10s);
    EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, body.size());
    client.send(get("/large"));
    EXPECT_GT(client.read_answer(10s).size(), 8U << 20);
}

TEST_F(ServerTest, DeliversARefusalToAClientThatIsStillSending) {
    start();
    RawClient client(server->port());
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n");
    client.send(std::string(500'000, 'x'));
    EXPECT_THAT(client.read_to_end(3s), AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("PAYLOAD_TOO_LARGE")));
}

TEST_F(ServerTest, EnforcesEachTimeLimitUnderItsOwnName) {
    options.first_byte_limit = options.head_limit = options.body_limit = options.idle_limit = options.write_limit =
        150ms;
    start();
    RawClient silent(server->port());
    RawClient slow_head(server->port());
    RawClient slow_body(server->port());
    RawClient idle(server->port());
    slow_head.send("GET /now HTT");
    slow_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab");
    idle.send(get("/now"));
    EXPECT_THAT(idle.read_answer(), HasSubstr("now"));
    EXPECT_EQ(silent.read_to_end(2s), "");
    EXPECT_THAT(slow_head.read_to_end(2s), AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("REQUEST_TIMEOUT")));
    EXPECT_THAT(slow_body.read_to_end(2s), AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("body")));
    EXPECT_TRUE(idle.is_closed(2s));
    RawClient slow_reader(server->port(), 4096);
    slow_reader.send(get("/large"));
    ASSERT_TRUE(reaches([&] { return server->stats().timeouts.write; }, 1));
    const auto timeouts = server->stats().timeouts;
    EXPECT_EQ(timeouts.first_byte, 1U);
    EXPECT_EQ(timeouts.head, 1U);
    EXPECT_EQ(timeouts.body, 1U);
    EXPECT_EQ(timeouts.idle, 1U);
    EXPECT_EQ(timeouts.write, 1U);
}

TEST_F(ServerTest, DoesNotLetATrickleOfBytesProlongTheHead) {
    options.head_limit = 300ms;
    start();
    RawClient client(server->port());
    const Instant began = system_clock().now();
    client.send("GET /now HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 40 && !client.is_closed(1ms); ++i) {
        client.send("X: y\r\n");
        std::this_thread::sleep_for(25ms);
    }
    EXPECT_TRUE(client.is_closed(1s));
    EXPECT_LT(system_clock().now() - began, 2s);
    EXPECT_EQ(server->stats().timeouts.head, 1U);
}

TEST_F(ServerTest, ShedsAtOnceWhatItsQueueCannotHold) {
    options.workers = 2;
    options.queue_max = 3;
    start();
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 5; ++i) {
        clients.push_back(std::make_unique<RawClient>(server->port()));
        clients.back()->send(get("/wait"));
        // The first two occupy the workers, the others wait.
        ASSERT_TRUE(reaches([&] { return begun.load() + server->stats().queued; }, clients.size()));
        ASSERT_TRUE(reaches([&] { return begun.load(); }, std::min<std::size_t>(clients.size(), 2)));
    }
    EXPECT_EQ(server->stats().queued, 3U);
    RawClient late(server->port());
    late.send(get("/wait"));
    EXPECT_THAT(late.read_answer(1s),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("OVERLOADED"), HasSubstr("Retry-After: ")));
    late.send(get("/now"));
    EXPECT_THAT(late.read_answer(1s), HasSubstr("now")) << "the event loop is free, and the connection stays";
    EXPECT_EQ(server->stats().shed, 1U);
    gate.open();
    for (auto& client : clients) EXPECT_THAT(client->read_answer(), HasSubstr("waited"));
}

TEST_F(ServerTest, DoesNotStartWhatWaitedPastItsDeadline) {
    options.workers = 1;
    start();
    RawClient first(server->port());
    first.send(get("/wait"));
    ASSERT_TRUE(reaches([&] { return begun.load(); }, 1));
    RawClient second(server->port());
    second.send(get("/wait", "X-Deadline-Remaining-Ms: 50\r\n"));
    ASSERT_TRUE(reaches([&] { return server->stats().queued; }, 1));
    EXPECT_THAT(second.read_answer(2s),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("Retry-After")));
    EXPECT_EQ(server->stats().timeouts.queue, 1U);
    gate.open();
    EXPECT_THAT(first.read_answer(), HasSubstr("waited"));
    ASSERT_TRUE(reaches([&] { return server->stats().queued == 0 ? 1U : 0U; }, 1));
    second.send(get("/who"));
    EXPECT_THAT(second.read_answer(), HasSubstr("public")) << "the same connection, with the next request";
    EXPECT_EQ(begun.load(), 1U);
}

TEST_F(ServerTest, AnswersForAHandlerThatOverrunsAndLetsItFinish) {
    options.overrun = 50ms;
    start();
    RawClient client(server->port());
    client.send(get("/wait", "X-Deadline-Remaining-Ms: 50\r\n"));
    EXPECT_THAT(client.read_to_end(3s),
                AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("Connection: close"), HasSubstr("may still be done")));
    EXPECT_EQ(server->stats().timeouts.executor, 1U);
    gate.open();
    RawClient next(server->port());
    next.send(get("/who"));
    EXPECT_THAT(next.read_answer(), HasSubstr("public"));
}

TEST_F(ServerTest, LivesOnWhenAHandlerThrows) {
    std::atomic<int> lines{0};
    set_log_sink([&](LogLevel, std::string_view) { ++lines; });
    start();
    RawClient client(server->port());
    for (int i = 0; i < 3; ++i) {
        client.send(get("/throws"));
        EXPECT_THAT(client.read_answer(),
                    AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("INTERNAL_ERROR"), HasSubstr("correlationId")));
    }
    EXPECT_EQ(lines.load(), 3);
    EXPECT_EQ(server->stats().handler_failures, 3U);
}

TEST_F(ServerTest, FinishesWhatIsInFlightWhenItDrains) {
    start();
    RawClient idle(server->port());
    idle.send(get("/now"));
    EXPECT_THAT(idle.read_answer(), HasSubstr("now"));
    RawClient busy(server->port());
    busy.send(get("/wait"));
    ASSERT_TRUE(reaches([&] { return begun.load(); }, 1));
    std::atomic<bool> clean{false};
    std::jthread drainer([&] { clean = server->drain(Deadline::after(system_clock().now(), 5s)); });
    EXPECT_TRUE(idle.is_closed(2s)) << "an idle connection goes at once";
    EXPECT_FALSE(RawClient(server->port()).connected()) << "nobody else is let in";
    EXPECT_TRUE(server->draining());
    gate.open();
    EXPECT_THAT(busy.read_to_end(2s),
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Connection: close"), ::testing::EndsWith("waited")));
    drainer.join();
    EXPECT_TRUE(clean.load());
    EXPECT_EQ(server->stats().connections, 0U);
}

TEST_F(ServerTest, ClosesAtTheDrainsDeadlineWhatDoesNotEnd) {
    start();
    RawClient busy(server->port());
    busy.send(get("/wait"));
    ASSERT_TRUE(reaches([&] { return begun.load(); }, 1));
    EXPECT_FALSE(server->drain(Deadline::after(system_clock().now(), 100ms)));
    EXPECT_TRUE(busy.is_closed(2s));
}

TEST_F(ServerTest, LetsTheLongestWaitingGiveWayAtTheLimit) {
    options.connections_max = 4;
    start();
    std::vector<std::unique_ptr<RawClient>> slow;
    for (int i = 0; i < 4; ++i) {
        slow.push_back(std::make_unique<RawClient>(server->port()));
        slow.back()->send("GET /now HTTP/1.1\r\nX:");
        ASSERT_TRUE(reaches([&] { return server->stats().accepted; }, slow.size()));
        std::this_thread::sleep_for(10ms);
    }
    RawClient good(server->port());
    good.send(get("/now"));
    EXPECT_THAT(good.read_answer(), HasSubstr("now"));
    EXPECT_TRUE(slow[0]->is_closed(1s));
    EXPECT_FALSE(slow[1]->is_closed(20ms));
    EXPECT_EQ(server->stats().evicted, 1U);
    EXPECT_EQ(server->stats().connections, 4U);
}

TEST_F(ServerTest, RefusesANewcomerOnlyIfAllOthersAreBeingHandled) {
    options.connections_max = 2;
    start();
    RawClient first(server->port());
    RawClient second(server->port());
    first.send(get("/wait"));
    second.send(get("/wait"));
    ASSERT_TRUE(reaches([&] { return begun.load(); }, 2));
    RawClient third(server->port());
    EXPECT_THAT(third.read_to_end(2s),
                AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("OVERLOADED"), HasSubstr("Retry-After")));
    EXPECT_EQ(server->stats().refused, 1U);
    gate.open();
    EXPECT_THAT(first.read_answer(), HasSubstr("waited"));
    EXPECT_THAT(second.read_answer(), HasSubstr("waited"));
}

TEST_F(ServerTest, ServesOnSeveralLoops) {
    options.io_threads = 3;
    start();
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 12; ++i) clients.push_back(std::make_unique<RawClient>(server->port()));
    for (auto& client : clients) client->send(get("/now") + get("/who"));
    for (auto& client : clients) {
        EXPECT_THAT(client->read_answer(), HasSubstr("now"));
        EXPECT_THAT(client->read_answer(), HasSubstr("public"));
    }
    EXPECT_TRUE(server->drain(Deadline::after(system_clock().now(), 5s)));
}

TEST_F(ServerTest, KnowsCallersByTheirTokens) {
    ASSERT_TRUE(options.tokens.add(hex(sha256(bytes_of("t0ken"))), {"acme", "shop"}).has_value());
    start();
    RawClient client(server->port());
    client.send(get("/who"));
    EXPECT_THAT(client.read_answer(),
                AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("WWW-Authenticate: Bearer"), HasSubstr("UNAUTHENTICATED")));
    client.send(get("/who", "Authorization: Bearer t0ken\r\n"));
    EXPECT_THAT(client.read_answer(), HasSubstr("acme/shop"));
    client.send(get("/who", "Authorization: Bearer t0ken\r\nX-Tenant-Id: other\r\n"));
    EXPECT_THAT(client.read_answer(), AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("FORBIDDEN")));
    client.send(get("/now"));
    EXPECT_THAT(client.read_answer(), HasSubstr("now")) << "an open route";
}

TEST(ServerStart, RefusesOptionsThatWouldNotBeSafeAndSaysWhich) {
    const auto error_of = [](ServerOptions options) {
        auto started = Server::start(std::move(options), Router(), system_clock());
        return started ? std::string("started") : started.error().message;
    };
    EXPECT_THAT(error_of({.listen = "0.0.0.0:0"}), HasSubstr("loopback"));
    EXPECT_THAT(error_of({.listen = "8080"}), HasSubstr("ADDRESS:PORT"));
    EXPECT_THAT(error_of({.listen = "127.0.0.1:99999"}), HasSubstr("ADDRESS:PORT"));
    EXPECT_THAT(error_of({.workers = 0}), HasSubstr("workers"));
    EXPECT_THAT(error_of({.tls_certificate_file = "a"}), HasSubstr("both"));
    EXPECT_THAT(error_of({.tls_certificate_file = "no.pem", .tls_key_file = "no.pem"}), HasSubstr("certificate file"));
    auto first = Server::start({}, Router(), system_clock());
    ASSERT_TRUE(first.has_value());
    EXPECT_THAT(error_of({.listen = "127.0.0.1:" + std::to_string((*first)->port())}), HasSubstr("cannot listen"));
    EXPECT_EQ(error_of({.listen = "[::1]:0"}), "started");
}

}  // namespace
}  // namespace semel::http
