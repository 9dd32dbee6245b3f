#include "semel/retry/socket_table.hpp"

#include <gtest/gtest.h>
#include <netdb.h>

#include <cerrno>
#include <ostream>
#include <string>

namespace semel {
namespace {

using enum Fault;

struct Expectation {
    std::string_view code;
    Fault not_sent;
    Fault in_transaction;
    Fault sent;

    friend void PrintTo(const Expectation& e, std::ostream* out) { *out << e.code; }
};

const Expectation expectations[] = {
    // Safe before anything was sent.
    {socket_code(ECONNREFUSED), unavailable, unavailable, unknown},
    {socket_code(ENETUNREACH), unavailable, unavailable, unknown},
    {socket_code(EHOSTUNREACH), unavailable, unavailable, unknown},
    {socket_code(ENETDOWN), unavailable, unavailable, unknown},
    {socket_code(EHOSTDOWN), unavailable, unavailable, unknown},
    {socket_code(ETIMEDOUT), unavailable, unavailable, unknown},
    {socket_code(EMFILE), unavailable, unavailable, unknown},
    {socket_code(ENFILE), unavailable, unavailable, unknown},
    {socket_code(ENOBUFS), unavailable, unavailable, unknown},
    {socket_code(EADDRNOTAVAIL), unavailable, unavailable, unknown},
    {resolver_code(EAI_AGAIN), unavailable, unavailable, unknown},
    {socket_dns_timeout, unavailable, unavailable, unknown},
    {socket_connect_timeout, unavailable, unavailable, unknown},
    {socket_tls_timeout, unavailable, unavailable, unknown},
    // By what was sent.
    {socket_code(ECONNRESET), unavailable, unavailable, unknown},
    {socket_code(ECONNABORTED), unavailable, unavailable, unknown},
    {socket_code(ENETRESET), unavailable, unavailable, unknown},
    {socket_code(EPIPE), unavailable, unavailable, unknown},
    {socket_code(ENOTCONN), unavailable, unavailable, unknown},
    {socket_end_of_file, unavailable, unavailable, unknown},
    {socket_write_timeout, unavailable, unavailable, unknown},
    {socket_read_timeout, unavailable, unavailable, unknown},
    // Never; but what was sent stays sent.
    {resolver_code(EAI_NONAME), rejected, rejected, unknown},
    {resolver_code(EAI_FAIL), rejected, rejected, unknown},
    {socket_code(EACCES), rejected, rejected, unknown},
    {socket_code(EPERM), rejected, rejected, unknown},
    {socket_code(EAFNOSUPPORT), rejected, rejected, unknown},
    // The handshake comes before the request.
    {socket_tls_certificate, rejected, rejected, rejected},
};

class SocketTable : public ::testing::TestWithParam<Expectation> {};

TEST_P(SocketTable, ClassifiesByWhatWasSent) {
    const auto& [code, not_sent, in_transaction, sent] = GetParam();
    ASSERT_NE(find(socket_rules(), code), nullptr);
    EXPECT_EQ(classify_socket(code, Phase::connect), not_sent);
    EXPECT_EQ(classify_socket(code, Phase::transaction), in_transaction);
    EXPECT_EQ(classify_socket(code, Phase::commit), sent);
}

INSTANTIATE_TEST_SUITE_P(Each, SocketTable, ::testing::ValuesIn(expectations));

TEST(SocketTableRows, AreAllExpectedAbove) { EXPECT_EQ(socket_rules().size(), std::size(expectations)); }

TEST(SocketTableRows, AnUnclassifiedErrorIsNotRetriedAndUnknownOnceSent) {
    EXPECT_EQ(classify_socket(socket_code(ELOOP), Phase::connect), rejected);
    EXPECT_EQ(classify_socket(resolver_code(EAI_MEMORY), Phase::connect), rejected);
    EXPECT_EQ(classify_socket(socket_code(ELOOP), Phase::transaction), rejected);
    EXPECT_EQ(classify_socket(socket_code(ELOOP), Phase::commit), unknown);
}

TEST(SocketTableRows, EveryOneEndsTheConnection) {
    for (const Rule& rule : socket_rules()) EXPECT_TRUE(rule.closes_session) << rule.code;
}

}  // namespace
}  // namespace semel
