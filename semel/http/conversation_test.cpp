#include "semel/http/conversation.hpp"

#include "semel/base/log.hpp"
#include "semel/base/random.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Want = Conversation::Want;

/// A server without sockets: bytes in, bytes out. Work is done when the test says so.
class ConversationTest : public ::testing::Test {
protected:
    ConversationTest() {
        set_log_sink([this](LogLevel, std::string_view line) { logged = line; });
    }
    ~ConversationTest() override { set_log_sink({}); }

    static Router routes() {
        Router router;
        const auto echo = [](Request& request) { return Response{.body = request.method + ":" + request.body}; };
        router.add("GET", "/now",
                   {.at_once = [](Request&) -> std::optional<Response> { return Response{.body = "now"}; }});
        router.add("POST", "/echo", {.handle = echo});
        router.add("GET", "/echo", {.handle = echo});
        router.add("POST", "/small", {.handle = echo, .body_max = 4});
        router.add("POST", "/quick", {.handle = echo, .deadline = 100ms});
        router.add("GET", "/throws",
                   {.handle = [](Request&) -> Response { throw std::runtime_error("secret cause"); }});
        router.add("GET", "/splits",
                   {.handle = [](Request&) { return Response{.headers = {{"Location", "a\r\nSet-Cookie: b"}}}; }});
        router.add("GET", "/items/{id}",
                   {.handle = [](Request& request) { return Response{.body = request.variable("id")}; }});
        return router;
    }

    /// Gives the bytes and returns all that is answered until it wants more; handlers run at once.
    std::string talk(std::string_view bytes, std::size_t step = 1'000'000) {
        std::string answered;
        for (std::size_t given = 0;;) {
            switch (last = conversation->next()) {
                case Want::read: {
                    if (given == bytes.size()) return answered;
                    const auto room = conversation->room();
                    const std::size_t count = std::min({step, bytes.size() - given, room.size()});
                    bytes.copy(room.data(), count, given);
                    given += count;
                    conversation->received(count);
                    break;
                }
                case Want::write:
                    for (const std::string_view part : conversation->output()) answered += part;
                    conversation->written();
                    break;
                case Want::work: {
                    Exchange& exchange = *conversation->exchange();
                    exchange.response = run_handler(*core, *exchange.route, exchange.request);
                    exchange.end = Exchange::End::handled;
                    conversation->served();
                    break;
                }
                case Want::close: return answered;
            }
        }
    }

    testing::ManualClock clock;
    std::string logged;
    ServerOptions options{.request_line_max = 200, .head_max = 1000, .fields_max = 20, .body_max = 1000};
    std::unique_ptr<Core> core;
    std::unique_ptr<DateCache> date;
    std::unique_ptr<Conversation> conversation;
    Want last = Want::read;

    void start() {
        core = std::make_unique<Core>(options, routes(), clock);
        date = std::make_unique<DateCache>(clock);
        conversation = std::make_unique<Conversation>(*core, *date, "127.0.0.1", [] {});
    }
    void SetUp() override { start(); }
};

TEST_F(ConversationTest, AnswersPipelinedRequestsInTheirOrderHoweverTheyArrive) {
    const std::string three =
        "GET /now HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n";
    for (std::size_t step : {1U, 7U, 64U, 10000U}) {
        start();
        const std::string answered = talk(three, step);
        const auto first = answered.find("now");
        const auto second = answered.find("POST:abc");
        const auto third = answered.find("POST:de");
        EXPECT_LT(first, second) << step;
        EXPECT_LT(second, third) << step;
        EXPECT_NE(third, std::string::npos) << step;
        EXPECT_EQ(last, Want::read) << "the connection stays";
    }
}

TEST_F(ConversationTest, TakesABodyForABodyAndNotForTheNextRequest) {
    const std::string hidden = "GET /throws HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string answered = talk(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(hidden.size()) + "\r\n\r\n" + hidden);
    EXPECT_THAT(answered, HasSubstr("POST:GET /throws"));
    EXPECT_EQ(core->counters.requests.load(), 1U);
}

TEST_F(ConversationTest, RefusesSmuggledRequestsAndReadsNothingBehindThem) {
    const std::string behind = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::vector<std::pair<std::string, std::string>> battery = {
        {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "501"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\t: chunked\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nX: a\rContent-Length: 5\r\n\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nAA\r\n", "400"},
        {"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\n\r\n", "400"},
        {"GET http://b/now HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET ftp://a/now HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET /now HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
        {"GET /now HTTP/1.1\r\n\r\n", "400"},
        {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET /items/a%2fb HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET /items/%ff HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
        {"GET /now HTTP/3.0\r\nHost: a\r\n\r\n", "505"},
        {"\x16\x03\x01\x02\x01 hello", "400"},
    };
    for (const auto& [bytes, status] : battery) {
        start();
        const std::string answered = talk(bytes + behind);
        EXPECT_THAT(answered, StartsWith("HTTP/1.1 " + status)) << bytes;
        EXPECT_THAT(answered, AllOf(HasSubstr("Connection: close"), HasSubstr("application/problem+json"),
                                    HasSubstr("\"correlationId\":\""), Not(HasSubstr("now\""))))
            << bytes;
        EXPECT_EQ(last, Want::close) << bytes;
        EXPECT_EQ(core->counters.requests.load(), 1U) << "what follows is not read: " << bytes;
        EXPECT_TRUE(conversation->rude()) << "the other side must be able to read the answer";
    }
}

TEST_F(ConversationTest, NamesEachLimitOfSize) {
    EXPECT_THAT(talk("GET /" + std::string(300, 'a') + " HTTP/1.1\r\n"),
                AllOf(StartsWith("HTTP/1.1 414"), HasSubstr("URI_TOO_LONG")));
    start();
    EXPECT_THAT(talk("GET /now HTTP/1.1\r\nHost: a\r\nX: " + std::string(1000, 'a')),
                AllOf(StartsWith("HTTP/1.1 431"), HasSubstr("HEADERS_TOO_LARGE")));
    start();
    EXPECT_THAT(talk("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("PAYLOAD_TOO_LARGE"), HasSubstr("Connection: close")));
    start();
    EXPECT_THAT(talk("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n"),
                AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("PAYLOAD_TOO_LARGE")));
}

TEST_F(ConversationTest, ReadsTheShortBodyOfADismissedRequestAndKeepsTheConnection) {
    const std::string answered = talk(
        "POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcPATCH /echo HTTP/1.1\r\nHost: a\r\n\r\n"
        "GET /now HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(answered, AllOf(HasSubstr("HTTP/1.1 404"), HasSubstr("HTTP/1.1 405"),
                                HasSubstr("Allow: OPTIONS, HEAD, GET, POST"), HasSubstr("now"),
                                Not(HasSubstr("Connection: close"))));
}

TEST_F(ConversationTest, AnswersHeadAndOptionsWithoutBodies) {
    const std::string head = talk("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(head,
                AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 5\r\n"), ::testing::EndsWith("\r\n\r\n")));
    const std::string missing = talk("HEAD /nothing HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(missing, AllOf(StartsWith("HTTP/1.1 404"), ::testing::EndsWith("\r\n\r\n")));
    EXPECT_THAT(talk("OPTIONS /echo HTTP/1.1\r\nHost: a\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 204"), HasSubstr("Allow: ")));
    EXPECT_THAT(talk("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 204"));
}

TEST_F(ConversationTest, SaysContinueOnlyToWhomItWillHear) {
    const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    EXPECT_EQ(talk(head), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_THAT(talk("abc"), HasSubstr("POST:abc"));
    EXPECT_THAT(talk("POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"),
                StartsWith("HTTP/1.1 413"));
    EXPECT_EQ(last, Want::close) << "the body may come or not";
}

TEST_F(ConversationTest, KeepsOldClientsConnectionsOnlyIfTheyAsk) {
    EXPECT_THAT(talk("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), HasSubstr("Connection: keep-alive"));
    EXPECT_EQ(last, Want::read);
    EXPECT_THAT(talk("GET /now HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close"));
    EXPECT_EQ(last, Want::close);
}

TEST_F(ConversationTest, ClosesAfterItsShareOfRequestsAndWhileDraining) {
    options.requests_per_connection_max = 2;
    start();
    const std::string now = "GET /now HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_THAT(talk(now), Not(HasSubstr("Connection: close")));
    EXPECT_THAT(talk(now), HasSubstr("Connection: close"));
    EXPECT_EQ(last, Want::close);
    start();
    core->draining = true;
    EXPECT_THAT(talk(now), HasSubstr("Connection: close"));
    EXPECT_EQ(last, Want::close);
}

TEST_F(ConversationTest, HidesWhyAHandlerFailedAndLogsItUnderTheSameId) {
    const std::string answered = talk("GET /throws HTTP/1.1\r\nHost: a\r\nX-Correlation-Id: c-17\r\n\r\n");
    EXPECT_THAT(answered, AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("INTERNAL_ERROR"), HasSubstr("c-17"),
                                Not(HasSubstr("secret"))));
    EXPECT_THAT(logged, AllOf(HasSubstr("secret cause"), HasSubstr("c-17")));
    EXPECT_EQ(last, Want::read) << "the connection did nothing wrong";
}

TEST_F(ConversationTest, SendsNoAnswerThatWouldBeTakenForTwo) {
    const std::string answered = talk("GET /splits HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(answered, AllOf(StartsWith("HTTP/1.1 500"), Not(HasSubstr("Set-Cookie"))));
    EXPECT_EQ(core->counters.handler_failures.load(), 1U);
}

TEST_F(ConversationTest, ShedsWhatWouldWaitTooLong) {
    core->busy = options.workers;
    core->queued = options.queue_max;
    const std::string answered = talk("POST /echo HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_THAT(answered, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("OVERLOADED"), HasSubstr("Retry-After: 1")));
    EXPECT_EQ(core->counters.shed.load(), 1U);
    EXPECT_THAT(talk("GET /now HTTP/1.1\r\nHost: a\r\n\r\n"), HasSubstr("now"))
        << "what needs no worker is still answered";
}

TEST_F(ConversationTest, DoesNotStartWhatIsTooLateAlready) {
    const std::string answered = talk("POST /echo HTTP/1.1\r\nHost: a\r\nX-Deadline-Remaining-Ms: 0\r\n\r\n");
    EXPECT_THAT(answered, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("Retry-After")));
    EXPECT_THAT(talk("POST /echo HTTP/1.1\r\nHost: a\r\nX-Attempt: no\r\n\r\n"), StartsWith("HTTP/1.1 400"));
}

TEST_F(ConversationTest, GivesUpOnAHandlerThatOverrunsItsDeadline) {
    const std::string request = "POST /quick HTTP/1.1\r\nHost: a\r\nX-Correlation-Id: c-1\r\n\r\n";
    const auto room = conversation->room();
    request.copy(room.data(), request.size());
    conversation->received(request.size());
    ASSERT_EQ(conversation->next(), Want::work);
    EXPECT_EQ(conversation->drop_at(), clock.now() + 100ms);
    EXPECT_EQ(conversation->overdue_at(), clock.now() + 100ms + options.overrun);
    const auto abandoned = conversation->exchange();
    ASSERT_TRUE(abandoned->settle(Exchange::Progress::begun));
    EXPECT_FALSE(conversation->drop()) << "nobody can say any more that it was not done";
    conversation->overdue();
    EXPECT_NE(conversation->exchange(), abandoned) << "the worker still writes to it";
    ASSERT_EQ(conversation->next(), Want::write);
    EXPECT_THAT(std::string(conversation->output()[0]), AllOf(StartsWith("HTTP/1.1 504"), HasSubstr("c-1")));
    conversation->written();
    EXPECT_EQ(conversation->next(), Want::close);
    EXPECT_EQ(core->counters.executor.load(), 1U);
}

TEST_F(ConversationTest, DropsAtItsDeadlineWhatNoWorkerHasBegun) {
    const std::string request = "POST /quick HTTP/1.1\r\nHost: a\r\n\r\n";
    const auto room = conversation->room();
    request.copy(room.data(), request.size());
    conversation->received(request.size());
    ASSERT_EQ(conversation->next(), Want::work);
    const auto queued = conversation->exchange();
    ASSERT_TRUE(conversation->drop());
    EXPECT_FALSE(queued->settle(Exchange::Progress::begun)) << "a worker that comes to it now must not begin";
    EXPECT_THAT(talk(""), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("Retry-After")));
    EXPECT_EQ(last, Want::read) << "the connection stays";
}

TEST_F(ConversationTest, TellsWhoIsTooSlowAndClosesWhoIsSilent) {
    static_cast<void>(talk("GET /now HT"));
    EXPECT_EQ(conversation->waiting(), Waiting::head);
    conversation->expired(Waiting::head);
    EXPECT_THAT(talk(""), AllOf(StartsWith("HTTP/1.1 408"), HasSubstr("REQUEST_TIMEOUT")));
    start();
    static_cast<void>(talk("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab"));
    EXPECT_EQ(conversation->waiting(), Waiting::body);
    conversation->expired(Waiting::body);
    EXPECT_THAT(talk(""), StartsWith("HTTP/1.1 408"));
    start();
    EXPECT_EQ(conversation->waiting(), Waiting::first_byte);
    conversation->expired(Waiting::first_byte);
    EXPECT_EQ(talk(""), "");
    EXPECT_EQ(last, Want::close);
    start();
    static_cast<void>(talk("GET /now HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_EQ(conversation->waiting(), Waiting::idle);
}

TEST_F(ConversationTest, EndsQuietlyWhenTheOtherSideLeaves) {
    static_cast<void>(talk("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab"));
    conversation->ended();
    EXPECT_EQ(talk(""), "");
    EXPECT_EQ(last, Want::close);
    EXPECT_EQ(core->counters.requests.load(), 0U);
}

TEST_F(ConversationTest, SurvivesRandomBytesAndRandomCuts) {
    SeededRandom random(7);
    const std::string_view pieces[] = {"GET ",
                                       "POST ",
                                       "/echo",
                                       "/now",
                                       " HTTP/1.1",
                                       " HTTP/1.0",
                                       "\r\n",
                                       "\n",
                                       "\r",
                                       "Host: a",
                                       "Content-Length: 3",
                                       "Transfer-Encoding: chunked",
                                       "abc",
                                       "0",
                                       "5;x",
                                       ":",
                                       "\x01",
                                       " ",
                                       "Expect: 100-continue",
                                       "Connection: close",
                                       "\r\n\r\n"};
    std::uint64_t answers = 0;
    for (int round = 0; round < 20000; ++round) {
        start();
        std::string bytes;
        for (std::uint64_t i = random.below(24); i > 0; --i) bytes += pieces[random.below(std::size(pieces))];
        const std::string answered = talk(bytes, 1 + random.below(9));
        ASSERT_TRUE(answered.empty() || answered.starts_with("HTTP/1.1 ")) << bytes;
        ASSERT_THAT(answered, Not(StartsWith("HTTP/1.1 500"))) << bytes;
        answers += answered.empty() ? 0U : 1U;
    }
    EXPECT_GT(answers, 1000U);
}

}  // namespace
}  // namespace semel::http
