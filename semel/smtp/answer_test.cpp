#include "semel/smtp/answer.hpp"

#include <curl/curl.h>
#include <gtest/gtest.h>

namespace semel::smtp {
namespace {

TEST(SmtpAnswer, IsJudgedByWhatTheServerSaidAndHowFarTheMailWas) {
    struct Case {
        Answer answer;
        Fault fault;
    };
    const Case cases[] = {
        {{.curl = CURLE_COULDNT_CONNECT}, Fault::unavailable},
        {{.curl = CURLE_COULDNT_RESOLVE_HOST}, Fault::unavailable},
        {{.curl = CURLE_PEER_FAILED_VERIFICATION}, Fault::unavailable},
        {{.curl = CURLE_LOGIN_DENIED, .reply = 535}, Fault::unavailable},
        {{.curl = CURLE_SEND_ERROR, .reply = 530}, Fault::unavailable},
        {{.curl = CURLE_SEND_ERROR, .reply = 550}, Fault::rejected},
        {{.curl = CURLE_WEIRD_SERVER_REPLY, .reply = 554, .sent_whole = true}, Fault::rejected},
        {{.curl = CURLE_WEIRD_SERVER_REPLY, .reply = 452, .sent_whole = true}, Fault::throttled},
        {{.curl = CURLE_WEIRD_SERVER_REPLY, .reply = 421}, Fault::unavailable},
        {{.curl = CURLE_OPERATION_TIMEDOUT}, Fault::unavailable},
        {{.curl = CURLE_OPERATION_TIMEDOUT, .reply = 354, .sent_whole = true}, Fault::unknown},
        {{.curl = CURLE_RECV_ERROR, .reply = 354, .sent_whole = true}, Fault::unknown},
        {{.curl = CURLE_GOT_NOTHING, .sent_whole = true}, Fault::unknown},
    };
    for (const Case& one : cases) {
        const Status judged = judge(one.answer);
        ASSERT_FALSE(judged);
        EXPECT_EQ(judged.error().fault, one.fault) << one.answer.curl << " " << one.answer.reply;
    }
    EXPECT_TRUE(judge({.curl = CURLE_OK, .reply = 250}));
}

}  // namespace
}  // namespace semel::smtp
