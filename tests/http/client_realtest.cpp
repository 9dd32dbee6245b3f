#include "semel/http/client.hpp"

#include "scripted_server_realtest.hpp"

#include "semel/http/client_coroutine.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string reply(std::string_view status, std::string_view fields, std::string_view body) {
    return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

class ClientTest : public ::testing::Test {
protected:
    /// Each request is answered by the next of the steps.
    void script(std::vector<Step> steps) { server = std::make_unique<ScriptedServer>(std::move(steps)); }
    Client& client() {
        if (!client_) {
            auto made = Client::create(options, system_clock(), system_random());
            EXPECT_TRUE(made.has_value());
            client_ = *std::move(made);
        }
        return *client_;
    }
    [[nodiscard]] std::string url(std::string_view path = "/a?secret=1") const {
        return "http://127.0.0.1:" + std::to_string(server->port()) + std::string(path);
    }
    [[nodiscard]] ClientRequest post(bool with_key) const {
        ClientRequest request{.method = "POST", .url = url(), .body = "{}"};
        if (with_key) request.headers.add("Idempotency-Key", "k-1");
        return request;
    }

    ClientOptions options{
        .name = "tester",
        .policy = Policy::create({.attempts = 4, .base = 5ms, .cap = 1s, .throttled_base = 5ms}).value()};
    std::unique_ptr<ScriptedServer> server;
    std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, GetsAnAnswerAndKeepsTheConnection) {
    script({{reply("200 OK", "ETag: \"1\"\r\n", "one")},
            {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"},
            {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + reply("404 Not Found", "", "three")}});
    const auto one = client().send({.url = url()});
    ASSERT_TRUE(one.has_value()) << one.error().describe();
    EXPECT_EQ(one->body, "one");
    EXPECT_EQ(one->headers.find("etag"), "\"1\"");
    EXPECT_EQ(client().send({.url = url()})->body, "two");
    const auto three = client().send({.url = url()});
    ASSERT_TRUE(three.has_value()) << "a definite no is an answer";
    EXPECT_EQ(three->status, 404U);
    EXPECT_EQ(client().stats().connections, 1U);
    EXPECT_EQ(client().stats().idle, 1U);
    EXPECT_THAT(server->requests().at(0),
                AllOf(HasSubstr("GET /a?secret=1 HTTP/1.1\r\nHost: 127.0.0.1:"), HasSubstr("X-Correlation-Id: ")));
}

TEST_F(ClientTest, RetriesWithTheSameKeyACountedAttemptAndLessTime) {
    options.idle_max = 0;
    script({{reply("500 Oops", "", "")}, {.answer = "", .close = true}, {reply("201 Created", "", "done")}});
    const auto answer = client().send(post(true), Deadline::after(system_clock().now(), 10s));
    ASSERT_TRUE(answer.has_value()) << answer.error().describe();
    EXPECT_EQ(answer->status, 201U);
    const auto requests = server->requests();
    ASSERT_EQ(requests.size(), 3U);
    std::vector<int> remaining;
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_THAT(requests[i], AllOf(HasSubstr("Idempotency-Key: k-1\r\n"), HasSubstr("X-Retry-Owner: tester\r\n"),
                                       HasSubstr("\r\n\r\n{}")));
        remaining.push_back(std::stoi(field(requests[i], "X-Deadline-Remaining-Ms")));
        EXPECT_EQ(field(requests[i], "X-Correlation-Id"), field(requests[0], "X-Correlation-Id"));
    }
    EXPECT_EQ(field(requests[0], "X-Attempt"), "1");
    EXPECT_EQ(field(requests[2], "X-Attempt"), "3");
    EXPECT_LE(remaining[0], 10'000);
    EXPECT_GE(remaining[0], remaining[1]);
    EXPECT_GE(remaining[1], remaining[2]);
}

TEST_F(ClientTest, DoesNotRepeatWhatMightHaveBeenDoneWithoutAKey) {
    script({{reply("500 Oops", "", "")}, {reply("200 OK", "", "")}});
    const auto answer = client().send(post(false));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().fault, Fault::unknown);
    EXPECT_EQ(answer.error().cause.stop, Stop::not_repeatable);
    EXPECT_EQ(answer.error().cause.code, "500");
    EXPECT_EQ(server->requests().size(), 1U);
}

TEST_F(ClientTest, ShowsTheAddressToOperatorsAloneAndTheQueryToNobody) {
    script({{reply("500 Oops", "", "their text")}});
    const Error error = client().send(post(false)).error();
    EXPECT_EQ(error.message, "POST: answered 500");
    EXPECT_THAT(error.native, AllOf(HasSubstr("POST http://127.0.0.1"), HasSubstr("/a: their text")));
    EXPECT_THAT(error.describe(), Not(HasSubstr("secret")));
}

TEST_F(ClientTest, KeepsTheDoubtOfAnAttemptThatWasReadAndNeverAnswered) {
    options.timeouts.read = 100ms;
    options.policy = Policy::create({.attempts = 3, .base = 5ms, .cap = 10ms, .throttled_base = 5ms}).value();
    const std::string busy = reply("429 Slow", "Retry-After: 0\r\n", "");
    script({{""}, {busy}, {busy}, {""}, {busy}, {busy}});
    const auto expect_doubt = [](const Result<Response>& answer) {
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error().fault, Fault::unknown) << answer.error().describe();
        EXPECT_EQ(answer.error().message, "POST: an earlier attempt may have been executed: answered 429");
        EXPECT_EQ(answer.error().cause.code, "429");
        EXPECT_EQ(answer.error().cause.stop, Stop::attempts);
        EXPECT_EQ(answer.error().cause.attempts, 3U);
    };
    expect_doubt(client().send(post(true)));
    boost::asio::io_context loop;
    auto done = boost::asio::co_spawn(loop, send_coroutine(client(), post(true)), boost::asio::use_future);
    loop.run();
    expect_doubt(done.get());
    EXPECT_EQ(server->requests().size(), 6U);
}

TEST_F(ClientTest, KeepsTheDoubtOfARequestThatAKeptConnectionClosedUnder) {
    options.policy = Policy::once();
    script({{reply("200 OK", "", "")}, {.answer = "", .close = true}, {reply("429 Slow", "", "")}});
    EXPECT_TRUE(client().send(post(true)).has_value());
    const auto answer = client().send(post(true));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(server->requests().size(), 3U) << "sent again over a fresh connection";
    EXPECT_EQ(client().stats().attempts, 2U) << "as the same attempt";
    EXPECT_EQ(answer.error().fault, Fault::unknown) << answer.error().describe();
    EXPECT_EQ(answer.error().cause.code, "429");
}

TEST_F(ClientTest, ReturnsALaterAnswerToTheSameKeyAsTheAnswerItIs) {
    options.timeouts.read = 100ms;
    script({{""}, {reply("409 Conflict", "", "spent")}, {""}, {reply("201 Created", "", "done")}});
    EXPECT_EQ(client().send(post(true))->status, 409U);
    EXPECT_EQ(client().send(post(true))->status, 201U);
}

TEST_F(ClientTest, RepeatsWithoutAKeyWhatWasCertainlyNotDone) {
    script({{reply("503 Busy", "Retry-After: 0\r\n", "")}, {reply("200 OK", "", "")}});
    EXPECT_TRUE(client().send(post(false)).has_value());
    EXPECT_EQ(server->requests().size(), 2U);
}

TEST_F(ClientTest, SendsWhatMayNotBeRepeatedOverAFreshConnection) {
    script({{reply("200 OK", "", "")}, {reply("200 OK", "", "")}, {reply("200 OK", "", "")}});
    EXPECT_TRUE(client().send({.url = url()}).has_value());
    EXPECT_TRUE(client().send(post(false)).has_value());
    EXPECT_EQ(client().stats().connections, 2U);
    EXPECT_TRUE(client().send(post(true)).has_value());
    EXPECT_EQ(client().stats().connections, 2U);
}

TEST_F(ClientTest, WaitsAsLongAsItIsAskedTo) {
    script({{reply("429 Slow", "Retry-After: 1\r\n", "")}, {reply("200 OK", "", "")}});
    const Instant began = system_clock().now();
    EXPECT_TRUE(client().send({.url = url()}).has_value());
    EXPECT_GE(system_clock().now() - began, 1s);
}

TEST_F(ClientTest, StopsAtOnceIfItIsAskedToWaitBeyondTheDeadline) {
    script({{reply("503 Busy", "Retry-After: 60\r\n", "")}, {reply("200 OK", "", "")}});
    const Instant began = system_clock().now();
    const auto answer = client().send({.url = url()}, Deadline::after(began, 20s));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().cause.stop, Stop::deadline);
    EXPECT_EQ(answer.error().cause.retry_after, 60s);
    EXPECT_LT(system_clock().now() - began, 10s);
}

TEST_F(ClientTest, MakesOneAttemptIfAnotherLayerOwnsTheRetries) {
    script({{reply("500 Oops", "", "")}, {reply("200 OK", "", "")}});
    ClientRequest request = post(true);
    request.context = {.attempt = 2, .owner = "gateway", .deadline = Deadline::after(system_clock().now(), 10s)};
    const auto answer = client().send(request);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().cause.stop, Stop::not_owner);
    const auto requests = server->requests();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(field(requests[0], "X-Attempt"), "2");
    EXPECT_EQ(field(requests[0], "X-Retry-Owner"), "gateway");
    EXPECT_LE(std::stoi(field(requests[0], "X-Deadline-Remaining-Ms")), 10'000);
}

TEST_F(ClientTest, PollsAKeyThatIsBeingExecuted) {
    const std::string problem = Problem(problems::request_already_in_progress).to_response("c").body;
    script({{reply("409 Conflict", "Content-Type: application/problem+json\r\n", problem)},
            {reply("201 Created", "", "")}});
    EXPECT_EQ(client().send(post(true))->status, 201U);
}

TEST_F(ClientTest, NamesTheLimitThatRanOut) {
    options.timeouts.read = 100ms;
    options.policy = Policy::once();
    script({{""}, {"HTTP/1.1 200 OK\r\nContent-Le"}, {""}});
    for (int i = 0; i < 2; ++i) {
        const auto answer = client().send(post(true));
        ASSERT_FALSE(answer.has_value());
        EXPECT_EQ(answer.error().cause.timeout, Timeout::read);
        EXPECT_EQ(answer.error().fault, Fault::unknown) << "it was sent";
    }
    const auto late = client().send(post(true), Deadline::after(system_clock().now(), 50ms));
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().cause.timeout, Timeout::total);
}

TEST_F(ClientTest, KnowsThatNothingWasSentWhereNobodyListens) {
    script({});
    const std::string nobody = url();
    server.reset();
    const auto answer = client().send({.method = "POST", .url = nobody, .body = "x"});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().fault, Fault::unavailable);
    EXPECT_EQ(answer.error().cause.code, "ECONNREFUSED");
    EXPECT_EQ(answer.error().cause.stop, Stop::attempts) << "repeated without a key, since nothing was done";
    EXPECT_EQ(answer.error().cause.attempts, 4U);
}

TEST_F(ClientTest, ReplacesAKeptConnectionThatTheOtherSideClosed) {
    script({{.answer = reply("200 OK", "", "1"), .close = true}, {reply("200 OK", "", "2")}});
    EXPECT_TRUE(client().send({.url = url()}).has_value());
    EXPECT_EQ(client().send({.url = url()})->body, "2");
    EXPECT_EQ(client().stats().attempts, 2U) << "no attempt was lost to it";
}

TEST_F(ClientTest, RefusesAnAnswerThatIsTooLargeOrMalformed) {
    options.body_max = 100;
    options.policy = Policy::once();
    script({{reply("200 OK", "", std::string(101, 'x'))},
            {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
            {"SSH-2.0-OpenSSH\r\n"},
            {.answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .close = true}});
    for (int i = 0; i < 4; ++i) {
        const auto answer = client().send(post(true));
        ASSERT_FALSE(answer.has_value()) << i;
        EXPECT_EQ(answer.error().fault, Fault::unknown) << "it was sent, and who knows";
    }
}

TEST_F(ClientTest, RefusesToSendWhatCouldBeTakenForSomethingElse) {
    script({});
    EXPECT_EQ(client().send({.url = "ftp://a/"}).error().fault, Fault::rejected);
    EXPECT_EQ(client().send({.url = url(), .headers = {{"A", "b\r\nC: d"}}}).error().fault, Fault::rejected);
    EXPECT_EQ(client().send({.method = "GE T", .url = url()}).error().fault, Fault::rejected);
    EXPECT_EQ(client().send({.url = url(), .headers = {{"Idempotency-Key", "a b"}}}).error().fault, Fault::rejected);
    EXPECT_EQ(client().stats().attempts, 0U);
}

TEST_F(ClientTest, FailsFastOnceTheBreakerIsOpen) {
    options.breaker = {.attempts_min = 4, .open_for = 10s};
    script({});
    const std::string nobody = url();
    server.reset();
    EXPECT_FALSE(client().send({.url = nobody}).has_value());
    const auto answer = client().send({.url = nobody});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().cause.stop, Stop::breaker);
    EXPECT_EQ(client().stats().attempts, 4U);
}

TEST_F(ClientTest, DecidesTheSameInACoroutineWithoutBlockingItsLoop) {
    script({{reply("500 Oops", "", "")},
            {reply("429 Slow", "Retry-After: 1\r\n", "")},
            {reply("201 Created", "", "done")}});
    boost::asio::io_context loop;
    auto done = boost::asio::co_spawn(loop, send_coroutine(client(), post(true)), boost::asio::use_future);
    std::size_t turns = 0;
    while (done.wait_for(0s) != std::future_status::ready) {
        loop.poll();
        std::this_thread::sleep_for(1ms);
        ++turns;
    }
    const auto answer = done.get();
    ASSERT_TRUE(answer.has_value()) << answer.error().describe();
    EXPECT_EQ(answer->body, "done");
    EXPECT_EQ(server->requests().size(), 3U);
    EXPECT_GT(turns, 100U) << "the loop turned while it waited";
}

TEST_F(ClientTest, TellsOurOwnServerWhatItNeedsToKnow) {
    Router router;
    std::atomic<int> served{0};
    router.add(
        "POST", "/a", {.handle = [&](Request& request) {
            if (++served == 1)
                return Problem(problems::outcome_unknown).with_retry_after(0s).to_response(request.correlation_id);
            return Response{.status = 201,
                            .body = request.retry.owner + " " + std::to_string(request.retry.attempt) + " " +
                                    request.correlation_id};
        }});
    auto real = Server::start({}, std::move(router), system_clock());
    ASSERT_TRUE(real.has_value());
    ClientRequest request{
        .method = "POST", .url = "http://localhost:" + std::to_string((*real)->port()) + "/a", .correlation_id = "c-9"};
    request.headers.add("Idempotency-Key", "k");
    const auto answer = client().send(request);
    ASSERT_TRUE(answer.has_value()) << answer.error().describe();
    EXPECT_EQ(answer->body, "tester 2 c-9");
}

}  // namespace
}  // namespace semel::http
