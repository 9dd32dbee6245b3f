#include "semel/nats/failure_table.hpp"

#include <gtest/gtest.h>
#include <nats/nats.h>

#include <map>
#include <string>

namespace semel::nats {
namespace {

/// Written down from the server's list of codes, not from the table.
const std::map<std::string, Fault>& expectations() {
    static const std::map<std::string, Fault> list{
        {"10054", Fault::rejected},    {"10060", Fault::rejected},    {"10002", Fault::throttled},
        {"10023", Fault::throttled},   {"10028", Fault::throttled},   {"10047", Fault::throttled},
        {"10053", Fault::throttled},   {"10077", Fault::throttled},   {"10122", Fault::throttled},
        {"10004", Fault::unavailable}, {"10005", Fault::unavailable}, {"10006", Fault::unavailable},
        {"10007", Fault::unavailable}, {"10008", Fault::unavailable}, {"10009", Fault::unavailable},
        {"10039", Fault::unavailable}, {"10041", Fault::unavailable}, {"10059", Fault::unavailable},
        {"10076", Fault::unavailable}, {"10109", Fault::unavailable}, {"10118", Fault::unavailable},
    };
    return list;
}

TEST(JetstreamFailures, MeanWhatTheyShould) {
    EXPECT_EQ(jetstream_rules().size(), expectations().size());
    for (const auto& [code, fault] : expectations()) {
        const Error error = error_from(std::stoi(code), "as the server said");
        EXPECT_EQ(error.fault, fault) << code;
        EXPECT_EQ(error.cause.code, code);
        EXPECT_EQ(error.native, "as the server said");
        EXPECT_NE(find(jetstream_rules(), code), nullptr) << code;
    }
}

TEST(JetstreamFailures, OfAnUnknownCodeDoNotGiveAnEventUp) {
    EXPECT_EQ(error_from(10999, "").fault, Fault::unavailable);
    EXPECT_EQ(error_from(0, "").fault, Fault::unavailable);
}

TEST(JetstreamFailures, OfTheClientNeverSayThatSomethingIsRejected) {
    for (int status = NATS_ERR; status <= NATS_MISSED_HEARTBEAT; ++status)
        EXPECT_EQ(client_error("x", status).fault, Fault::unavailable);
}

}  // namespace
}  // namespace semel::nats
