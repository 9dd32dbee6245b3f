#include "semel/retry/grpc_table.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace semel {
namespace {

using enum Fault;

struct Expectation {
    int status;
    GrpcPushback pushback;
    std::string_view name;
    Fault not_sent;
    Fault sent;

    friend void PrintTo(const Expectation& e, std::ostream* out) { *out << e.name; }
};

constexpr auto none = GrpcPushback::none;

constexpr Expectation expectations[] = {
    {1, none, "CANCELLED", rejected, unknown},
    {2, none, "UNKNOWN", rejected, unknown},
    {3, none, "INVALID_ARGUMENT", rejected, rejected},
    {4, none, "DEADLINE_EXCEEDED", unavailable, unknown},
    {5, none, "NOT_FOUND", rejected, rejected},
    {6, none, "ALREADY_EXISTS", rejected, rejected},
    {7, none, "PERMISSION_DENIED", rejected, rejected},
    {8, none, "RESOURCE_EXHAUSTED", rejected, rejected},
    {8, GrpcPushback::wait, "RESOURCE_EXHAUSTED, with pushback", throttled, throttled},
    {9, none, "FAILED_PRECONDITION", rejected, rejected},
    {10, none, "ABORTED", conflict, conflict},
    {11, none, "OUT_OF_RANGE", rejected, rejected},
    {12, none, "UNIMPLEMENTED", rejected, rejected},
    {13, none, "INTERNAL", rejected, unknown},
    {14, none, "UNAVAILABLE", unavailable, unknown},
    {15, none, "DATA_LOSS", broken, broken},
    {16, none, "UNAUTHENTICATED", rejected, rejected},
};

class GrpcTable : public ::testing::TestWithParam<Expectation> {};

TEST_P(GrpcTable, ClassifiesByWhetherTheCallWasSent) {
    const auto& [status, pushback, name, not_sent, sent] = GetParam();
    EXPECT_EQ(classify_grpc(status, pushback, Phase::connect), not_sent);
    EXPECT_EQ(classify_grpc(status, pushback, Phase::transaction), sent);
    EXPECT_EQ(classify_grpc(status, pushback, Phase::commit), sent);
    EXPECT_EQ(find(grpc_rules(), grpc_code(status, pushback))->name, name);
}

INSTANTIATE_TEST_SUITE_P(Each, GrpcTable, ::testing::ValuesIn(expectations));

TEST(GrpcTableRows, AreAllExpectedAbove) { EXPECT_EQ(grpc_rules().size(), std::size(expectations)); }

TEST(GrpcTableRows, AStatusOutsideTheProtocolIsNotRetryable) {
    EXPECT_EQ(classify_grpc(17, none, Phase::commit), rejected);
}

}  // namespace
}  // namespace semel
