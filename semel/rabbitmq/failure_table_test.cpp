#include "semel/rabbitmq/failure_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace semel::rabbitmq {
namespace {

/// Written down from the list of AMQP 0-9-1, not from the table.
const std::map<std::string, Fault>& expectations() {
    static const std::map<std::string, Fault> list{
        {"311", Fault::rejected},    {"312", Fault::rejected},    {"313", Fault::rejected},
        {"506", Fault::throttled},   {"320", Fault::unavailable}, {"402", Fault::unavailable},
        {"403", Fault::unavailable}, {"404", Fault::unavailable}, {"405", Fault::unavailable},
        {"406", Fault::unavailable}, {"501", Fault::unavailable}, {"502", Fault::unavailable},
        {"503", Fault::unavailable}, {"504", Fault::unavailable}, {"530", Fault::unavailable},
        {"540", Fault::unavailable}, {"541", Fault::unavailable},
    };
    return list;
}

TEST(AmqpFailures, MeanWhatTheyShould) {
    EXPECT_EQ(amqp_rules().size(), expectations().size());
    for (const auto& [code, fault] : expectations()) {
        const Error error = error_from(std::stoi(code), "as the server said");
        EXPECT_EQ(error.fault, fault) << code;
        EXPECT_EQ(error.cause.code, code);
        EXPECT_EQ(error.native, "as the server said");
        EXPECT_NE(find(amqp_rules(), code), nullptr) << code;
    }
}

TEST(AmqpFailures, OfAnUnknownCodeDoNotGiveAnEventUp) {
    EXPECT_EQ(error_from(999, "").fault, Fault::unavailable);
    EXPECT_EQ(error_from(0, "").fault, Fault::unavailable);
}

TEST(AmqpFailures, OfTheClientNeverSayThatSomethingIsRejected) {
    for (int status = -1; status > -0x0210; --status) EXPECT_EQ(client_error("x", status).fault, Fault::unavailable);
}

}  // namespace
}  // namespace semel::rabbitmq
