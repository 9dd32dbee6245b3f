#include "semel/http/server.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"
#include "semel/webhook/sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::webhook {
namespace {

using namespace std::chrono_literals;

TEST(WebhookTlsReal, SendsOnlyToAReceiverWhoseCertificateItTrusts) {
    auto directory = testing::TempDir::make("webhook");
    ASSERT_TRUE(directory);
    const std::string certificate = directory->path() / "certificate.pem";
    const std::string key = directory->path() / "key.pem";
    const auto done =
        testing::run({.argv = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                               "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                               "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate}},
                     20s);
    ASSERT_TRUE(done && done->exit.success());
    http::Router router;
    router.add("POST", "/in", {.handle = [](http::Request&) { return http::Response{.body = "thanks"}; }});
    auto server = http::Server::start({.tls_certificate_file = certificate, .tls_key_file = key}, std::move(router),
                                      system_clock());
    ASSERT_TRUE(server) << server.error().describe();
    const std::string port = std::to_string((*server)->port());

    const auto publish = [&](const std::string& host, const std::string& ca_file) {
        auto sink = WebhookSink::create(
            {.url = "https://" + host + ":" + port + "/in", .allow_private = true, .ca_file = ca_file});
        EXPECT_TRUE(sink) << sink.error().describe();
        Message message;
        message.id = new_uuid();
        message.aggregate = {.type = "order", .id = "o-1"};
        message.type = "order.created";
        message.payload = "{}";
        message.headers = "{}";
        message.created_at = system_clock().wall();
        return (*sink)->publish(std::vector<Message>{message}, Deadline::after(system_clock().now(), 10s)).at(0);
    };
    const Status trusted = publish("localhost", certificate);
    EXPECT_TRUE(trusted) << trusted.error().describe();
    EXPECT_EQ((*server)->stats().requests, 1U);
    for (const auto& [host, ca_file] :
         {std::pair<std::string, std::string>("localhost", ""), {"127.0.0.1", certificate}}) {
        const Status wary = publish(host, ca_file);
        ASSERT_FALSE(wary) << host;
        EXPECT_EQ(wary.error().fault, Fault::unavailable);
        EXPECT_THAT(wary.error().message, ::testing::HasSubstr("certificate"));
    }
    EXPECT_EQ((*server)->stats().requests, 1U) << "nothing was sent to the others";
}

}  // namespace
}  // namespace semel::webhook
