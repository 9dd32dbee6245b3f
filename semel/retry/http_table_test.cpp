#include "semel/retry/http_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace semel {
namespace {

using enum Fault;

struct Expectation {
    int status;
    HttpSign sign;
    Fault not_sent;
    Fault sent;

    friend void PrintTo(const Expectation& e, std::ostream* out) { *out << http_code(e.status, e.sign); }
};

class HttpTable : public ::testing::TestWithParam<Expectation> {};

TEST_P(HttpTable, ClassifiesByWhetherTheRequestWasSent) {
    const auto& [status, sign, not_sent, sent] = GetParam();
    EXPECT_EQ(classify_http(status, sign, Phase::connect), not_sent);
    EXPECT_EQ(classify_http(status, sign, Phase::transaction), sent);
    EXPECT_EQ(classify_http(status, sign, Phase::commit), sent);
}

constexpr auto none = HttpSign::none;

INSTANTIATE_TEST_SUITE_P(
    Each, HttpTable,
    ::testing::Values(
        // Not processed: retried by anyone.
        Expectation{425, none, unavailable, unavailable},
        // Throttled.
        Expectation{429, none, throttled, throttled}, Expectation{429, HttpSign::retry_after, throttled, throttled},
        Expectation{503, HttpSign::retry_after, throttled, throttled},
        Expectation{409, HttpSign::in_flight, throttled, throttled},
        // Needs a key once the request was sent.
        Expectation{408, none, unavailable, unknown}, Expectation{500, none, unavailable, unknown},
        Expectation{502, none, unavailable, unknown}, Expectation{503, none, unavailable, unknown},
        Expectation{504, none, unavailable, unknown}, Expectation{500, HttpSign::retry_after, unavailable, unknown},
        Expectation{507, none, unavailable, unknown}, Expectation{599, none, unavailable, unknown},
        // Never.
        Expectation{301, none, rejected, rejected}, Expectation{400, none, rejected, rejected},
        Expectation{401, none, rejected, rejected}, Expectation{403, none, rejected, rejected},
        Expectation{404, none, rejected, rejected}, Expectation{405, none, rejected, rejected},
        Expectation{409, none, rejected, rejected}, Expectation{409, HttpSign::retry_after, rejected, rejected},
        Expectation{410, none, rejected, rejected}, Expectation{412, none, rejected, rejected},
        Expectation{413, none, rejected, rejected}, Expectation{422, none, rejected, rejected},
        Expectation{451, none, rejected, rejected}, Expectation{501, none, rejected, rejected},
        Expectation{505, none, rejected, rejected}, Expectation{511, none, rejected, rejected},
        // Unclassified.
        Expectation{600, none, rejected, rejected}, Expectation{100, none, rejected, rejected}));

TEST(HttpTableRows, ARefusedStreamWasNotProcessed) {
    for (const Phase phase : {Phase::connect, Phase::transaction, Phase::commit}) {
        EXPECT_EQ(classify(http_rules(), http_refused_stream, phase), unavailable);
    }
}

TEST(HttpTableRows, AreAllExpectedAbove) {
    static constexpr std::array<std::string_view, 17> expected = {
        "REFUSED_STREAM",  "3*",  "4*",  "408", "409", "409 in flight", "425", "429", "5*", "500", "501", "502", "503",
        "503 Retry-After", "504", "505", "511"};
    EXPECT_EQ(http_rules().size(), expected.size());
    for (const Rule& rule : http_rules()) {
        EXPECT_NE(std::ranges::find(expected, rule.code), expected.end()) << rule.code;
    }
}

}  // namespace
}  // namespace semel
