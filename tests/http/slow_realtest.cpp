#include "raw_client_realtest.hpp"

#include "semel/http/health.hpp"
#include "semel/http/server.hpp"
#include "semel/testing/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

using namespace std::chrono_literals;

/// Makes room for the test's sockets; false if the system does not allow it.
bool raise_descriptor_limit(rlim_t wanted) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    if (limit.rlim_cur >= wanted) return true;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted;
}

/// What good clients met while the attack went on.
struct Good {
    std::size_t answered = 0;
    std::size_t failed = 0;
    Duration slowest{};
};

/// A server that is under attack by slowhttptest with a thousand connections.
class SlowTest : public ::testing::Test {
protected:
    void attack(std::vector<std::string> mode, std::size_t connections_max) {
        ASSERT_TRUE(raise_descriptor_limit(4096)) << "4096 open files are needed; raise the limit: ulimit -n";
        ASSERT_FALSE(testing::find_program("slowhttptest").empty())
            << "slowhttptest is missing; make setup installs it";
        Router router;
        const Health health({}, system_clock());
        health.add_to(router);
        router.add("POST", "/echo",
                   {.handle = [](Request& request) { return Response{.body = std::move(request.body)}; }});
        const auto large = std::make_shared<const std::string>(1 << 20, 'x');
        router.add("GET", "/large", {.at_once = [large](Request&) -> std::optional<Response> {
                       return Response{.shared_body = large};
                   }});
        auto started = Server::start({.listen = "127.0.0.1:0", .connections_max = connections_max}, std::move(router),
                                     system_clock());
        ASSERT_TRUE(started.has_value()) << started.error().describe();
        server = *std::move(started);
        std::vector<std::string> argv = {"slowhttptest", "-c", "1000", "-r", "1000", "-l", "5", "-i", "1", "-p", "3"};
        argv.insert(argv.end(), mode.begin(), mode.end());
        argv.back() = "http://127.0.0.1:" + std::to_string(server->port()) + argv.back();
        auto attacker = testing::Process::spawn({.argv = argv});
        ASSERT_TRUE(attacker.has_value()) << attacker.error().describe();
        const Instant until = system_clock().now() + 5s;
        while (system_clock().now() < until) {
            serve_good();
            most = std::max(most, server->stats().connections);
            std::this_thread::sleep_for(5ms);
        }
        attacker->kill();
        const ServerStats stats = server->stats();
        std::printf(
            "good: %zu answered, %zu failed, slowest %lld ms; server: %llu accepted, at most %llu open, %llu evicted\n",
            good.answered, good.failed,
            static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(good.slowest).count()),
            static_cast<unsigned long long>(stats.accepted), static_cast<unsigned long long>(most),
            static_cast<unsigned long long>(stats.evicted));
    }

    /// One good request on a new connection, and one that needs a worker on a kept one.
    void serve_good() {
        RawClient fresh(server->port());
        measure(fresh, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
        measure(fresh, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    }
    void measure(RawClient& client, const std::string& request) {
        const Instant began = system_clock().now();
        const bool sent = client.send(request);
        const bool served = sent && client.read_answer(2s).starts_with("HTTP/1.1 200");
        ++(served ? good.answered : good.failed);
        good.slowest = std::max(good.slowest, system_clock().now() - began);
    }
    void expect_undisturbed(std::uint64_t open_at_least) const {
        EXPECT_EQ(good.failed, 0U);
        EXPECT_GE(good.answered, 200U);
        EXPECT_LT(good.slowest, 1s);
        EXPECT_GE(most, open_at_least) << "the attack did not take place";
    }

    std::unique_ptr<Server> server;
    Good good;
    std::uint64_t most = 0;
};

TEST_F(SlowTest, ServesGoodTrafficDuringAThousandSlowHeads) {
    attack({"-H", "-x", "24", "-u", "/livez"}, 4096);
    if (!IsSkipped() && !HasFatalFailure()) expect_undisturbed(900);
}

TEST_F(SlowTest, ServesGoodTrafficWhenSlowHeadsFillEveryPlace) {
    attack({"-H", "-x", "24", "-u", "/livez"}, 200);
    if (IsSkipped() || HasFatalFailure()) return;
    expect_undisturbed(200);
    EXPECT_GT(server->stats().evicted, 500U) << "the slow gave way to the good";
    EXPECT_LE(most, 200U);
}

TEST_F(SlowTest, ServesGoodTrafficWhenSlowBodiesFillEveryPlace) {
    attack({"-B", "-s", "8192", "-x", "10", "-u", "/echo"}, 200);
    if (IsSkipped() || HasFatalFailure()) return;
    expect_undisturbed(200);
    EXPECT_LE(most, 200U);
}

TEST_F(SlowTest, ServesGoodTrafficWhenSlowReadersFillEveryPlace) {
    attack({"-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3", "-u", "/large"}, 200);
    if (IsSkipped() || HasFatalFailure()) return;
    expect_undisturbed(200);
    EXPECT_LE(most, 200U);
}

}  // namespace
}  // namespace semel::http
