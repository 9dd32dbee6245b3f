#include "semel/http/client.hpp"
#include "semel/http/server.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace semel::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A server with a certificate of its own making, for localhost and 127.0.0.1.
class TlsTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto made = testing::TempDir::make("tls");
        ASSERT_TRUE(made.has_value());
        dir.emplace(*std::move(made));
        certificate = dir->path() / "certificate.pem";
        key = dir->path() / "key.pem";
        const auto done = testing::run(
            {.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                      "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                      "-keyout", key, "-out", certificate}},
            20s);
        ASSERT_TRUE(done.has_value()) << done.error().describe();
        ASSERT_TRUE(done->exit.success()) << done->error_output;
        Router router;
        router.add("POST", "/echo",
                   {.handle = [](Request& request) { return Response{.body = std::move(request.body)}; }});
        auto started = Server::start(
            {.tls_certificate_file = certificate, .tls_key_file = key, .first_byte_limit = 300ms, .tick = 20ms},
            std::move(router), system_clock());
        ASSERT_TRUE(started.has_value()) << started.error().describe();
        server = *std::move(started);
    }
    [[nodiscard]] std::unique_ptr<Client> client(std::string ca_file) const {
        auto made =
            Client::create({.policy = Policy::once(), .ca_file = std::move(ca_file)}, system_clock(), system_random());
        EXPECT_TRUE(made.has_value());
        return *std::move(made);
    }
    [[nodiscard]] ClientRequest post(const std::string& scheme, const std::string& host, std::string body) const {
        return {.method = "POST",
                .url = scheme + "://" + host + ":" + std::to_string(server->port()) + "/echo",
                .headers = {{"Idempotency-Key", "k"}},
                .body = std::move(body)};
    }

    std::optional<testing::TempDir> dir;
    std::string certificate;
    std::string key;
    std::unique_ptr<Server> server;
};

TEST_F(TlsTest, CarriesSmallAndLargeBodiesOverOneConnection) {
    const auto trusting = client(certificate);
    for (std::size_t size : {0U, 5U, 100'000U, 1'000'000U}) {
        const auto answer = trusting->send(post("https", "localhost", std::string(size, 'x')));
        ASSERT_TRUE(answer.has_value()) << answer.error().describe();
        EXPECT_EQ(answer->body.size(), size);
    }
    EXPECT_EQ(trusting->stats().connections, 1U);
    EXPECT_TRUE(trusting->send(post("https", "127.0.0.1", "x")).has_value()) << "an address that the certificate names";
}

TEST_F(TlsTest, SendsNothingToAServerWhoseCertificateIsNotTrusted) {
    const auto wary = client({});
    const auto answer = wary->send(post("https", "localhost", "x"));
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().cause.code, "TLS certificate");
    EXPECT_EQ(answer.error().fault, Fault::rejected);
    EXPECT_EQ(server->stats().requests, 0U);
}

TEST_F(TlsTest, SendsNothingToAServerOfAnotherName) {
    // The same address under a name that the certificate does not have.
    const auto answer = client(certificate)->send(post("https", "127.0.0.2", "x"));
    ASSERT_FALSE(answer.has_value());
    EXPECT_NE(answer.error().fault, Fault::unknown) << "nothing was sent";
    EXPECT_EQ(server->stats().requests, 0U);
}

TEST_F(TlsTest, NeitherAnswersPlainRequestsNorWaitsForeverForAHandshake) {
    EXPECT_FALSE(client({})->send(post("http", "localhost", "x")).has_value());
    // A peer that connects and says nothing.
    const auto silent = testing::run(
        {.argv = {"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(server->port()) + "; cat <&3"}}, 5s);
    ASSERT_TRUE(silent.has_value()) << silent.error().describe();
    EXPECT_TRUE(silent->exit.success());
    EXPECT_EQ(server->stats().timeouts.first_byte, 1U);
}

TEST_F(TlsTest, DrainsCleanly) {
    const auto trusting = client(certificate);
    EXPECT_TRUE(trusting->send(post("https", "localhost", "x")).has_value());
    EXPECT_TRUE(server->drain(Deadline::after(system_clock().now(), 3s)));
}

}  // namespace
}  // namespace semel::http
