#include "semel/webhook/address.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <array>
#include <string>

namespace semel::webhook {
namespace {

std::string_view judge(const std::string& text) {
    std::array<std::byte, 16> bytes{};
    const bool v6 = text.find(':') != std::string::npos;
    EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), bytes.data()), 1) << text;
    return why_not_public(BytesView(bytes).first(v6 ? 16 : 4));
}

TEST(WebhookAddress, RefusesEverythingThatIsNotAPublicReceiver) {
    for (const char* address :
         {"0.0.0.0",         "0.1.2.3",        "10.0.0.1",        "10.255.255.255", "100.64.0.1",  "100.127.255.255",
          "100.100.100.200", "127.0.0.1",      "127.255.255.254", "168.63.129.16",  "169.254.0.1", "169.254.169.254",
          "172.16.0.1",      "172.31.255.255", "192.0.0.192",     "192.0.2.1",      "192.88.99.1", "192.168.0.1",
          "192.168.255.255", "198.18.0.1",     "198.19.255.255",  "198.51.100.7",   "203.0.113.9", "224.0.0.1",
          "239.255.255.255", "240.0.0.1",      "255.255.255.255"})
        EXPECT_NE(judge(address), "") << address;
    for (const char* address :
         {"::",      "::1",           "::2",     "::127.0.0.1", "fe80::1",     "febf::1",     "fec0::1",
          "fc00::1", "fd00:ec2::254", "fdff::1", "ff02::1",     "2001:db8::1", "2001::1",     "2001:1ff::1",
          "3fff::1", "3fff:fff::1",   "100::1",  "5f00::1",     "4000::1",     "64:ff9b:1::1"})
        EXPECT_NE(judge(address), "") << address;
}

TEST(WebhookAddress, LooksIntoAddressesThatCarryAnother) {
    for (const char* address : {"::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1",
                                "64:ff9b::7f00:1", "2002:7f00:1::1", "2002:a00:1::", "2002:c0a8:1::1"})
        EXPECT_NE(judge(address), "") << address;
    for (const char* address : {"::ffff:93.184.216.34", "64:ff9b::93.184.216.34", "2002:5db8:d822::1"})
        EXPECT_EQ(judge(address), "") << address;
}

TEST(WebhookAddress, LetsPublicOnesPassUpToTheEdgesOfTheOthers) {
    for (const char* address :
         {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
          "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
          "192.0.1.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"})
        EXPECT_EQ(judge(address), "") << address;
    for (const char* address : {"2606:4700:4700::1111", "2001:200::1", "2001:db9::1", "2a00::1", "3ffe::1", "2003::1"})
        EXPECT_EQ(judge(address), "") << address;
}

TEST(WebhookAddress, RefusesWhatIsNoAddress) {
    EXPECT_NE(why_not_public(BytesView()), "");
    EXPECT_NE(why_not_public(bytes_of("12345")), "");
}

}  // namespace
}  // namespace semel::webhook
